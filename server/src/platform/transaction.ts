import type { Clock } from './clock.ts'
import type { Db, Tx } from './database.ts'
import type { Ids } from './ids.ts'
import type { Hint, Wake } from './wake.ts'

/** What every operation works with: the database, time, identities, and the way to wake watchers. */
export interface Platform {
  db: Db
  clock: Clock
  ids: Ids
  wake: Wake
  /** 256 bits of this installation, from which run tokens are derived. */
  secret: Uint8Array
}

/** One open transaction, its one moment in time, and the hints that go out when (and only when) it has committed. */
export interface Unit {
  tx: Tx
  now: Date
  ids: Ids
  hint(hint: Hint): void
}

const conflicts = new Set(['40001', '40P01', 'P2034'])
const attempts = 5

/** The codes that an error of the database carries: PostgreSQL's, wherever Prisma or pg put it, and Prisma's own. */
function codesOf(error: unknown): string[] {
  const e = error as { code?: string; meta?: Meta; cause?: { originalCode?: string } } | null
  const codes = [
    e?.code,
    e?.meta?.code,
    e?.meta?.driverAdapterError?.cause?.originalCode,
    e?.cause?.originalCode,
  ]
  return codes.filter((code) => code !== undefined)
}
interface Meta {
  code?: string
  driverAdapterError?: { cause?: { originalCode?: string } }
}

/** PostgreSQL's five-character code of an error. */
export const databaseCode = (error: unknown) =>
  codesOf(error).find((code) => /^[0-9A-Z]{5}$/.test(code) && !/^P20/.test(code))

/** Whether the database gave up on a transaction only because of its neighbours. */
const isConflict = (error: unknown) => codesOf(error).some((code) => conflicts.has(code))

/**
 * The only way to write. Runs `work` in one READ COMMITTED transaction, again (at most 5 times) when the database
 * reports a serialization conflict or a deadlock, and sends the collected hints after the commit. What `work` throws
 * rolls everything back.
 */
export const transact = <T>(platform: Platform, work: (unit: Unit) => Promise<T>): Promise<T> =>
  attempt(platform, (unitOn) =>
    platform.db.$transaction((tx) => work(unitOn(tx)), { maxWait: 10_000, timeout: 30_000 }),
  )

/** The same for work that writes with a single statement, which is its own transaction and saves the round trips of one. */
export const transactSingle = <T>(platform: Platform, work: (unit: Unit) => Promise<T>): Promise<T> =>
  attempt(platform, (unitOn) => work(unitOn(platform.db)))

async function attempt<T>(platform: Platform, run: (unitOn: (tx: Tx) => Unit) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const hints: Hint[] = []
    try {
      const result = await run((tx) => ({
        tx,
        now: platform.clock.now(),
        ids: platform.ids,
        hint: (hint) => hints.push(hint),
      }))
      platform.wake.send(hints)
      return result
    } catch (error) {
      if (tries >= attempts || !isConflict(error)) throw error
    }
  }
}
