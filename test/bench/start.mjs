// Start with existing data, PostgreSQL alone beside it, and what both hold in memory when nothing happens.
import { spawn } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { median } from './kit/figures.mjs'
import { memoryOf, postgresPids } from './kit/proc.mjs'
import { databaseOf, startProduct } from './kit/product.mjs'

const idleMs = 10_000
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** PostgreSQL as the server starts it, without the server: until it answers its first statement. */
async function postgresAlone(directory) {
  const cluster = join(directory, 'postgres/data')
  const socket = join(directory, 'postgres/socket')
  const { uid, gid } = statSync(cluster)
  mkdirSync(socket, { recursive: true, mode: 0o700 })
  chownSync(socket, uid, gid)
  const line = readFileSync(join(cluster, 'postmaster.opts'), 'utf8').trim()
  const program = line.slice(0, line.indexOf(' "'))
  const args = [...line.matchAll(/"([^"]*)"/g)].map((match) => match[1])
  const startedAt = performance.now()
  const child = spawn(program, args, {
    cwd: '/',
    stdio: 'ignore',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    ...(process.getuid() === 0 && { uid, gid }),
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  for (;;) {
    const client = new pg.Client({ connectionString: databaseOf(directory) })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.query('SELECT 1')
      await client.end()
      break
    } catch {
      await pause(5)
    }
  }
  const took = performance.now() - startedAt
  child.kill('SIGINT')
  await ended
  return took
}

/** Needs the directory's server to be stopped. */
export async function measureStart({ directory, quick, log }) {
  const figures = { postgres: [], server: [], command: [] }
  for (let round = 0; round < (quick ? 3 : 7); round += 1) {
    figures.postgres.push(await postgresAlone(directory))
    for (const [name, script] of [
      ['server', 'server/dist/main.js'],
      ['command', 'server/start.mjs'],
    ]) {
      const product = await startProduct(directory, { args: [script] })
      figures[name].push(product.readyMs)
      await product.stop()
    }
  }
  const product = await startProduct(directory)
  await pause(quick ? 3_000 : idleMs)
  const memory = { server: memoryOf([product.pid]), postgres: memoryOf(postgresPids(directory)) }
  await product.stop()
  for (const [name, times] of Object.entries(figures))
    log(`start, ${name}: ${times.map((ms) => ms.toFixed(0))} ms`)
  log(`idle: ${JSON.stringify(memory)}`)
  return {
    postgresMs: median(figures.postgres),
    serverMs: median(figures.server),
    commandMs: median(figures.command),
    memory,
  }
}
