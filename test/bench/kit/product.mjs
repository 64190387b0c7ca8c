// The product as a user runs it: the built bundle in a process of its own, with its embedded PostgreSQL, durable.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

/** With `BENCH_VERBOSE=1` one sees what the servers log. */
const verbose = process.env.BENCH_VERBOSE === '1'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

/** With `BENCH_PROFILE=<directory>` the servers leave CPU profiles there, at a price. */
const profiling = process.env.BENCH_PROFILE ? ['--cpu-prof', '--cpu-prof-dir', process.env.BENCH_PROFILE] : []

/** A data directory of this run. */
export function makeDirectory() {
  const path = mkdtempSync(join(tmpdir(), 'wheelhouse-bench-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/**
 * Starts one server process on a data directory; resolves when it has said that it is ready. `readyMs` is the time
 * from the spawn to the first answered `/readyz`.
 */
export async function startProduct(
  directory,
  { databaseUrl, args = [...profiling, 'server/dist/main.js'] } = {},
) {
  const token = randomBytes(32).toString('base64url')
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_ENV: 'production',
      WHEELHOUSE_PORT: '0',
      WHEELHOUSE_DATA_DIR: directory,
      WHEELHOUSE_BOOTSTRAP_TOKEN: token,
      WHEELHOUSE_LOG: 'error',
      WHEELHOUSE_SAMPLE: '0',
      WHEELHOUSE_RATE_LIMIT: '999999999',
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    },
  })
  let output = ''
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const url = await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
        if (verbose) process.stderr.write(text)
        const ready = /ready at (http\S+)/.exec(output)
        if (ready) resolve(ready[1])
      })
    void ended.then(() => reject(new Error(`the server did not start: ${output}`)))
  })
  while (!(await answers(url, token))) await new Promise((resolve) => setTimeout(resolve, 2))
  return {
    url,
    token,
    pid: child.pid,
    readyMs: performance.now() - startedAt,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Ready as `/readyz` says it; before that endpoint exists, as soon as the API answers its caller. */
async function answers(url, token) {
  const ready = await fetch(`${url}/readyz`)
  if (ready.ok) return true
  if (ready.status !== 404) return false
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"query":"{viewer{principal{id}}}"}',
  })
  return answer.ok
}

/** The address of a data directory's PostgreSQL, for raw statements. */
export const databaseOf = (directory, name = 'wheelhouse') =>
  `postgresql://wheelhouse@localhost/${name}?host=${encodeURIComponent(join(directory, 'postgres/socket'))}`

/** Runs `work` on a connection of its own. */
export async function withClient(url, work) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
