import type { Ref } from '../../platform/ids.ts'
import { append } from '../../platform/journal.ts'
import { pendingMigrations } from '../../platform/migrations.ts'
import type { Platform, Unit } from '../../platform/transaction.ts'
import type { Vitals } from './rules.ts'
import * as store from './store.ts'

/** The database's own account, and how long it took to give it. */
export async function readVitals(platform: Platform): Promise<{ vitals: Vitals; latencyMs: number }> {
  await platform.db.$queryRaw`SELECT 1`
  const began = performance.now()
  await platform.db.$queryRaw`SELECT 1`
  const latencyMs = performance.now() - began
  return { vitals: await store.readVitals(platform.db, platform.clock.now()), latencyMs }
}

export const readLag = (platform: Platform, positions: (Ref & { cursor: number })[]): Promise<number> =>
  positions.length === 0 ? Promise.resolve(0) : store.eventsBeyond(platform.db, positions)

class Undone extends Error {}

/**
 * Goes the way of every change: a project and a session are made, an event is appended to the journal and the feed, and
 * read back; then all of it is undone, in the one transaction in which it happened, so that nobody ever sees it.
 * Gives how long that took, in milliseconds.
 */
export async function probe(platform: Platform): Promise<number> {
  const began = performance.now()
  const now = platform.clock.now()
  const session: Ref = { projectId: platform.ids.next(), id: platform.ids.next() }
  await platform.db
    .$transaction(
      async (tx) => {
        const unit: Unit = { tx, now, ids: platform.ids, hint: () => {} }
        await store.insertProbe(tx, session, now)
        const appended = await append(unit, session, null, [
          { type: 'SESSION_CREATED', payload: { title: 'Probe' } },
        ])
        const [sequence, ...more] = await store.sequencesOf(tx, session)
        if (appended?.cursor !== 1 || sequence !== 1 || more.length > 0)
          throw new Error('the probe did not read what it wrote')
        throw new Undone()
      },
      { maxWait: 2_000, timeout: 5_000 },
    )
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
  return performance.now() - began
}

/** How many migrations of this server the database lacks. Rejects when it does not answer. */
export const countPending = async (platform: Platform): Promise<number> =>
  (await pendingMigrations((sql) => store.appliedMigrations(platform.db, sql))).length
