import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@wheelhouse/server/platform/logger'
import { type Postgres, startPostgres } from '@wheelhouse/server/platform/postgres/supervisor'
import { Client } from './client.ts'
import { bundleFixture, type Running, startNode } from './processes.ts'

/** A server process that can be killed and started again under the same address. */
export interface ServerProcess {
  owner: Client
  kill(): Promise<void>
  start(): Promise<void>
}

/** Server processes on one durable PostgreSQL, all of which can be killed. */
export interface Servers {
  databaseUrl: string
  servers: ServerProcess[]
  /** `kill -9` of PostgreSQL; resolves when it runs again. */
  killDatabase(): Promise<void>
  close(): Promise<void>
}

export async function startServers(count: number, env: Record<string, string> = {}): Promise<Servers> {
  const bundle = bundleFixture('../server/src/main.ts')
  const parent = mkdtempSync(join(tmpdir(), 'wheelhouse-servers-'))
  chmodSync(parent, 0o755)
  const postgres: Postgres = await startPostgres({
    dataDirectory: mkdtempSync(join(parent, 'database-')),
    log: createLogger('silent'),
    settings: { max_connections: '200' },
  })
  const token = randomBytes(32).toString('base64url')
  const inherited = Object.entries(process.env).filter(([name]) => !/^(WHEELHOUSE_|DATABASE_URL)/.test(name))
  const start = (n: number, port: string): Running =>
    startNode([bundle], {
      ...Object.fromEntries(inherited),
      DATABASE_URL: postgres.url,
      WHEELHOUSE_DATA_DIR: join(parent, `server-${n}`),
      WHEELHOUSE_PORT: port,
      WHEELHOUSE_BOOTSTRAP_TOKEN: token,
      WHEELHOUSE_SAMPLE: '0',
      WHEELHOUSE_LOG: 'fatal',
      WHEELHOUSE_RATE_LIMIT: '100000000',
      ...env,
    })
  const running: Running[] = []
  const servers: ServerProcess[] = []
  for (let n = 0; n < count; n += 1) {
    running[n] = start(n, '0')
    const [, url = ''] = (await running[n]?.printed(/ready at (\S+)/)) ?? []
    servers.push({
      owner: new Client(url, token),
      async kill() {
        running[n]?.child.kill('SIGKILL')
        await running[n]?.ended
      },
      async start() {
        running[n] = start(n, new URL(url).port)
        await running[n]?.printed(/ready at (\S+)/)
      },
    })
  }
  return {
    databaseUrl: postgres.url,
    servers,
    async killDatabase() {
      const before = postgres.pid
      if (before) process.kill(before, 'SIGKILL')
      while (postgres.pid === before || postgres.pid === null)
        await new Promise((resolve) => setImmediate(resolve))
    },
    async close() {
      for (const each of running) {
        each.child.kill('SIGKILL')
        await each.ended
      }
      await postgres.stop()
      rmSync(postgres.location, { recursive: true, force: true })
      rmSync(parent, { recursive: true, force: true })
    },
  }
}
