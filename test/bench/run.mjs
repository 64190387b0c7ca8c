// pnpm bench: measures the built product beside its references and writes RESULTS.md.
//   node test/bench/run.mjs [--quick] [--only turns,fanout,nested,catch-up,pages,start,console] [--out <file>]
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { generate } from '../../server/generate.mjs'
import { measureCatchUp } from './catch-up.mjs'
import { measureConsole } from './console-bundle.mjs'
import { measureFanOut } from './fanout.mjs'
import { databaseOf, makeDirectory, root, startProduct, withClient } from './kit/product.mjs'
import { measureNested } from './nested.mjs'
import { measurePages } from './pages.mjs'
import { report } from './report.mjs'
import { measureStart } from './start.mjs'
import { measureTurns } from './turns.mjs'

const argument = (name) => {
  const at = process.argv.indexOf(name)
  return at === -1 ? undefined : process.argv[at + 1]
}
const quick = process.argv.includes('--quick')
const only = argument('--only')?.split(',')
const out = argument('--out') ?? join(root, 'test/bench/RESULTS.md')
const log = (line) => process.stderr.write(`${line}\n`)

function build() {
  for (const [script, directory, ...args] of [
    ['server/build.mjs', root],
    ['console/node_modules/vite/bin/vite.js', join(root, 'console'), 'build', '--logLevel', 'warn'],
  ]) {
    const { status } = spawnSync(process.execPath, [join(root, script), ...args], {
      cwd: directory,
      stdio: 'inherit',
    })
    if (status !== 0) throw new Error(`${script} failed`)
  }
}

const versionOf = async (name) =>
  (await import(`${name}/package.json`, { with: { type: 'json' } }).catch(() => null))?.default.version

async function circumstances(databaseUrl) {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const { rows } = await withClient(databaseUrl, (db) =>
    db.query(`SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
                     current_setting('synchronous_commit') AS commit`),
  )
  return {
    at: new Date(),
    form: quick ? 'quick' : 'full',
    machine: `${cpus()[0].model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    loadBefore: loadavg()[0],
    commit:
      git('rev-parse', '--short', 'HEAD') +
      (git('status', '--porcelain', 'server', 'console', 'prisma') ? ' with changes' : ''),
    postgres: rows[0],
    node: process.versions.node,
    versions: Object.fromEntries(
      await Promise.all(
        ['graphql', 'graphql-yoga', 'graphql-ws', 'ws', 'mercurius', 'fastify', 'pg'].map(async (name) => [
          name,
          await versionOf(name),
        ]),
      ),
    ),
  }
}

async function main() {
  const startedAt = performance.now()
  await generate()
  build()
  const data = makeDirectory()
  const directory = data.path
  let product
  const wanted = (name) => !only || only.includes(name)
  try {
    product = await startProduct(directory)
    const databaseUrl = databaseOf(directory)
    const given = { product, directory, databaseUrl, quick, log }
    const results = { circumstances: await circumstances(databaseUrl) }
    if (wanted('turns')) results.turns = await measureTurns(given)
    if (wanted('fanout')) results.fanOut = await measureFanOut(given)
    if (wanted('nested')) results.nested = await measureNested(given)
    if (wanted('catch-up')) results.catchUp = await measureCatchUp(given)
    if (wanted('pages')) results.pages = await measurePages(given)
    await product.stop()
    product = undefined
    if (wanted('start')) results.start = await measureStart(given)
    if (wanted('console')) results.console = measureConsole(given)
    results.circumstances.seconds = (performance.now() - startedAt) / 1000
    writeFileSync(out, report(results))
    log(`${out}, after ${results.circumstances.seconds.toFixed(0)} s`)
  } finally {
    await product?.stop()
    data.remove()
  }
}
await main()
