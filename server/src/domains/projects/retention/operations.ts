import { batchesAPass, batchRows } from '../../../platform/retention.ts'
import { type Platform, transact } from '../../../platform/transaction.ts'
import * as store from './store.ts'

/** Projects that one pass looks at: one index look-up each. */
const projectsAPass = 200
const beginning = '00000000-0000-0000-0000-000000000000'

/**
 * Walks round all projects and removes from each feed's front what is older than the project keeps
 * (`eventRetentionDays`), moving the feed's floor in the same transaction: a cursor below it is REPLAY_GAP. At most
 * 20 000 events a pass; the next goes on where it stopped.
 */
export function feedRetention(platform: Platform): () => Promise<number> {
  let at = beginning
  return async () => {
    const projects = await store.projectsAfter(platform.db, at, platform.clock.now(), projectsAPass)
    let removed = 0
    let batches = 0
    for (const { id, old } of projects) {
      while (old) {
        if (batches === batchesAPass) return removed
        batches += 1
        const gone = await transact(platform, ({ tx, now }) => store.removeFeedPrefix(tx, id, now, batchRows))
        removed += gone
        if (gone < batchRows) break
      }
      at = id
    }
    if (projects.length < projectsAPass) at = beginning
    return removed
  }
}
