import { randomBytes } from 'node:crypto'
import { type App, createApp } from '@wheelhouse/server/app'
import type { Clock } from '@wheelhouse/server/platform/clock'
import { readConfig } from '@wheelhouse/server/platform/config'
import { type Db, openDatabase } from '@wheelhouse/server/platform/database'
import { systemIds } from '@wheelhouse/server/platform/ids'
import { createLogger } from '@wheelhouse/server/platform/logger'
import { Client } from './client.ts'
import { freshDatabase } from './database.ts'
import { TestClock } from './platform.ts'

export interface TestApp {
  app: App
  db: Db
  databaseUrl: string
  clock: TestClock
  url: string
  /** The owner of everything. */
  owner: Client
  /** Another server process's worth of the product on the same database, in this process. */
  another(): Promise<{ app: App; url: string; owner: Client; close(): Promise<void> }>
  /** Moves the clock and does what has become due. */
  pass(ms: number): Promise<void>
  close(): Promise<void>
}

/**
 * The product on a database of its own, listening, with a clock that stands until it is moved. Sweeps happen when a
 * test lets time pass.
 */
export async function startApp(
  options: { clock?: Clock; env?: Record<string, string> } = {},
): Promise<TestApp> {
  const database = await freshDatabase()
  const token = randomBytes(32).toString('base64url')
  const clock = new TestClock()
  const config = readConfig({
    WHEELHOUSE_PORT: '0',
    WHEELHOUSE_BOOTSTRAP_TOKEN: token,
    WHEELHOUSE_LOG: 'error',
    WHEELHOUSE_SAMPLE: '0',
    WHEELHOUSE_RATE_LIMIT: '100000000',
    ...options.env,
  })
  const boot = async () => {
    const db = openDatabase(database.url, { poolSize: 10 })
    const app = await createApp({
      db,
      databaseUrl: database.url,
      config,
      clock: options.clock ?? clock,
      ids: systemIds,
      log: createLogger(config.logLevel),
      automaticSweeps: options.clock !== undefined,
    })
    const { url } = await app.listen(0, '127.0.0.1')
    return {
      app,
      db,
      url,
      owner: new Client(url, token),
      async close() {
        await app.close()
        await db.$disconnect()
      },
    }
  }
  const first = await boot()
  const others: { close(): Promise<void> }[] = []
  return {
    ...first,
    databaseUrl: database.url,
    clock,
    async another() {
      const other = await boot()
      others.push(other)
      return other
    },
    async pass(ms) {
      clock.advance(ms)
      await first.app.sweeper.sweep()
    },
    async close() {
      for (const other of others) await other.close().catch(() => undefined)
      await first.close()
      await database.drop()
    },
  }
}
