import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ClientConfig } from 'pg'
import { Client } from '../../test/kit/client.ts'

const main = fileURLToPath(new URL('../../server/dist/main.js', import.meta.url))
const startLimitMs = 60_000

/** The product as people start it: one process and its database, on a data directory of its own. */
export interface RunningServer {
  url: string
  /** The one-time link that a first start prints; null once somebody is the owner. */
  welcomeUrl: string | null
  /** The API in the name of the owner of everything. */
  owner: Client
  output(): string
  /** Its database, for what would take too long over the API. */
  database: ClientConfig
  /** Ends it as a power cut ends a process. */
  kill(): Promise<void>
  /** Starts it again on the same data and the same port. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** Known before the start, so that a server that comes back is where its pages look for it. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

export async function startServer(env: Record<string, string> = {}): Promise<RunningServer> {
  const home = mkdtempSync(join(tmpdir(), 'wheelhouse-e2e-'))
  // As root, PostgreSQL runs as somebody who has to pass through here.
  chmodSync(home, 0o755)
  const token = randomBytes(32).toString('base64url')
  const inherited = Object.entries(process.env).filter(([name]) => !/^(WHEELHOUSE_|DATABASE_URL)/.test(name))
  const port = await freePort()
  let output = ''
  let child: ChildProcess | undefined
  let ended: Promise<void> = Promise.resolve()

  const boot = async () => {
    output = ''
    const started = spawn(process.execPath, ['--enable-source-maps', main], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...Object.fromEntries(inherited),
        WHEELHOUSE_DATA_DIR: join(home, 'data'),
        WHEELHOUSE_LOG: 'warn',
        WHEELHOUSE_SAMPLE: '0',
        WHEELHOUSE_BOOTSTRAP_TOKEN: token,
        ...env,
        WHEELHOUSE_PORT: String(port),
      },
    })
    child = started
    ended = new Promise((resolve) => started.once('close', () => resolve()))
    await new Promise<void>((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`not ready in time:\n${output}`)), startLimitMs)
      for (const stream of [started.stdout, started.stderr])
        stream.setEncoding('utf8').on('data', (chunk: string) => {
          output += chunk
          // The link, where there is one, is printed together with this line.
          if (!/ready at .*\n/.test(output)) return
          clearTimeout(limit)
          resolve()
        })
      started.once('close', () => reject(new Error(`ended before it was ready:\n${output}`)))
    })
  }
  const end = async (signal: NodeJS.Signals) => {
    child?.kill(signal)
    await ended
  }
  await boot()
  const url = /ready at (\S+)/.exec(output)?.[1] ?? ''
  return {
    url,
    welcomeUrl: /http\S+#code=\S+/.exec(output)?.[0] ?? null,
    owner: new Client(url, token),
    output: () => output,
    database: { host: join(home, 'data/postgres/socket'), user: 'wheelhouse', database: 'wheelhouse' },
    kill: () => end('SIGKILL'),
    restart: boot,
    async close() {
      await end('SIGTERM')
      rmSync(home, { recursive: true, force: true })
    },
  }
}
