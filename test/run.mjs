// `pnpm test`: the static checks, then every test, then the browser tests; ends with one line of counts.
//   node test/run.mjs [--only check|unit|e2e|faults]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { check } from './check.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const results = join(root, 'test/results')
const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : null
const wants = (part) => only === null || only === part
let passed = 0
let failed = 0

function run(name, command, args, options = {}) {
  console.log(`\n— ${name}`)
  const { env, ...rest } = options
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
    ...rest,
  })
  return status ?? 1
}

/** Adds a runner's own counts; a runner that left none counts as one failure. */
function count(file, status, read) {
  try {
    const counts = read(JSON.parse(readFileSync(file, 'utf8')))
    passed += counts.passed
    failed += counts.failed
    if (status !== 0 && counts.failed === 0) failed += 1
  } catch {
    failed += 1
  }
}

mkdirSync(results, { recursive: true })

if (wants('check')) {
  console.log('— Static checks')
  const checked = check()
  passed += checked.passed
  failed += checked.failed.length
}

if (wants('unit') || only === 'faults') {
  run('Generated code', 'node', ['server/generate.mjs'])
  run('Console types', './node_modules/.bin/gql.tada', ['generate-output'], { cwd: join(root, 'console') })
  run('Server bundle', 'node', ['server/build.mjs'])
  const file = join(results, 'tests.json')
  rmSync(file, { force: true })
  const status = run(
    'Tests',
    'npx',
    ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`],
    {
      cwd: join(root, 'test'),
      env: only === 'faults' ? { TEST_LONG: '1' } : {},
    },
  )
  count(file, status, (json) => ({
    passed: json.numPassedTests,
    // A file that failed outside its tests counts as one.
    failed:
      json.numFailedTests +
      json.testResults.filter(
        ({ status, assertionResults }) =>
          status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
      ).length,
  }))
}

if (wants('e2e') && existsSync(join(root, 'e2e/run.mjs'))) {
  const file = join(root, 'e2e/results/results.json')
  rmSync(file, { force: true })
  const status = run('Browser tests', 'node', ['e2e/run.mjs'])
  count(file, status, ({ stats }) => ({ passed: stats.expected, failed: stats.unexpected + stats.flaky }))
}

console.log(`\n${passed} passed, ${failed} failed`)
process.exit(failed > 0 || passed === 0 ? 1 : 0)
