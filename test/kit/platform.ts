import { createHash, randomBytes } from 'node:crypto'
import { authenticateToken } from '@wheelhouse/server/domains/access/operations'
import type { Viewer } from '@wheelhouse/server/domains/access/rules'
import { ensureFirstOwner } from '@wheelhouse/server/domains/access/sign-in/operations'
import type { Clock } from '@wheelhouse/server/platform/clock'
import { type Db, openDatabase } from '@wheelhouse/server/platform/database'
import type { Call } from '@wheelhouse/server/platform/idempotency'
import { systemIds } from '@wheelhouse/server/platform/ids'
import { createLogger } from '@wheelhouse/server/platform/logger'
import type { Platform } from '@wheelhouse/server/platform/transaction'
import { openWake } from '@wheelhouse/server/platform/wake'
import { freshDatabase } from './database.ts'

/** A clock that stands still until it is told to move. */
export class TestClock implements Clock {
  #now = new Date('2026-03-01T12:00:00.000Z')
  now = (): Date => new Date(this.#now)
  advance(ms: number): void {
    this.#now = new Date(this.#now.getTime() + ms)
  }
}

export interface TestPlatform {
  platform: Platform
  db: Db
  clock: TestClock
  url: string
  close(): Promise<void>
}

/** What operations work with, on a database of its own. */
export async function startPlatform(): Promise<TestPlatform> {
  const database = await freshDatabase()
  const db = openDatabase(database.url, { poolSize: 8 })
  const clock = new TestClock()
  const wake = await openWake(database.url, createLogger('silent'))
  const { secret } = await db.installation.findUniqueOrThrow({ where: { id: 1 } })
  return {
    platform: { db, clock, ids: systemIds, wake, secret },
    db,
    clock,
    url: database.url,
    async close() {
      await wake.close()
      await db.$disconnect()
      await database.drop()
    },
  }
}

/** The owner of everything, by the bootstrap token. */
export async function givenOwner({ platform }: TestPlatform): Promise<{ viewer: Viewer; secret: string }> {
  const secret = randomBytes(32).toString('base64url')
  await ensureFirstOwner(platform, secret)
  return { viewer: await signIn(platform, secret), secret }
}

/** The caller behind a token, as a request would find it now. */
export async function signIn(platform: Platform, secret: string): Promise<Viewer> {
  const viewer = await authenticateToken(platform, secret)
  if (!viewer) throw new Error('the token is not valid')
  return viewer
}

/** A call as the GraphQL layer would make it. */
export function callOf(
  viewer: Viewer,
  operation = 'test',
  key: string | null = null,
  input: unknown = {},
): Call {
  const digest =
    key === null ? null : new Uint8Array(createHash('sha256').update(JSON.stringify(input)).digest())
  return { viewer, operation, key, digest }
}
