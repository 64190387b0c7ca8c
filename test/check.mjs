// `pnpm check`: everything static. Stops at the first complaint of each kind, runs all kinds, exits 1 if any complained.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const steps = [
  ['generated code is there', 'node', ['server/generate.mjs']],
  ['console types from the schema', './node_modules/.bin/gql.tada', ['generate-output'], 'console'],
  ['format and lint', 'npx', ['biome', 'ci', '--error-on-warnings', '.']],
  ['boundaries', 'npx', ['depcruise', 'server/src', 'console/src', '--config', '.dependency-cruiser.cjs']],
  ['types: server', 'npx', ['tsc', '-p', 'server']],
  ['types: console', 'npx', ['tsc', '-p', 'console']],
  ['types: test', 'npx', ['tsc', '-p', 'test']],
  ['types: e2e', 'npx', ['tsc', '-p', 'e2e']],
  ['the committed schema is the served one', 'node', ['server/schema.mjs', '--check']],
  ['unused code', 'npx', ['knip']],
  ['length of files', 'node', ['test/file-lengths.mjs']],
]

/** Runs every static check; gives how many passed and which failed. */
export function check() {
  const failed = []
  for (const [name, command, args, folder = ''] of steps) {
    const started = performance.now()
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: join(root, folder), encoding: 'utf8' })
    const seconds = ((performance.now() - started) / 1_000).toFixed(1)
    console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`)
    if (status !== 0) {
      failed.push(name)
      console.log(`${stdout}${stderr}`)
    }
  }
  return { passed: steps.length - failed.length, failed }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { passed, failed } = check()
  console.log(`${passed} passed, ${failed.length} failed`)
  process.exit(failed.length > 0 ? 1 : 0)
}
