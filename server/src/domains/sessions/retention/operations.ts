import type { Ref } from '../../../platform/ids.ts'
import { batchesAPass, batchRows } from '../../../platform/retention.ts'
import { type Platform, transact } from '../../../platform/transaction.ts'
import { lockSession } from '../store.ts'
import * as store from './store.ts'

/** Sessions that one pass looks at: one index look-up each. */
const sessionsAPass = 500
const beginning: Ref = {
  projectId: '00000000-0000-0000-0000-000000000000',
  id: '00000000-0000-0000-0000-000000000000',
}

/**
 * Walks round all sessions and removes from each journal's front what is older than its project keeps
 * (`eventRetentionDays`), raising `first_sequence` in the same transaction. A pass looks at 500 sessions and removes at
 * most 20 000 events; the next goes on where it stopped. What rules depend on is kept in tables of its own.
 */
export function journalRetention(platform: Platform): () => Promise<number> {
  let at = beginning
  return async () => {
    const sessions = await store.sessionsAfter(platform.db, at, platform.clock.now(), sessionsAPass)
    let removed = 0
    let batches = 0
    for (const session of sessions) {
      while (session.old) {
        if (batches === batchesAPass) return removed
        batches += 1
        const gone = await shorten(platform, session)
        removed += gone
        if (gone < batchRows) break
      }
      at = { projectId: session.projectId, id: session.id }
    }
    if (sessions.length < sessionsAPass) at = beginning
    return removed
  }
}

/** One batch, under the session's lock, so that no writer and no other server is in between. */
const shorten = (platform: Platform, session: Ref): Promise<number> =>
  transact(platform, async ({ tx, now }) =>
    (await lockSession(tx, session)) ? store.removePrefix(tx, session, now, batchRows) : 0,
  )
