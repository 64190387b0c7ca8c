import type { Ref } from '../../../platform/ids.ts'
import { batchesAPass, batchRows, daysBefore } from '../../../platform/retention.ts'
import type { Platform } from '../../../platform/transaction.ts'
import { removeHeardAfter } from './store.ts'

const beginning: Ref = {
  projectId: '00000000-0000-0000-0000-000000000000',
  id: '00000000-0000-0000-0000-000000000000',
}

/**
 * Walks round all runtime signals and removes those that were acknowledged more than a day ago. What nobody has heard
 * stays. A pass looks at 20 000 of them; the next goes on where it stopped.
 */
export function signalRetention(platform: Platform): () => Promise<number> {
  let at = beginning
  return async () => {
    let removed = 0
    const before = daysBefore(platform.clock.now(), 1)
    for (let batch = 0; batch < batchesAPass; batch += 1) {
      const passed = await removeHeardAfter(platform.db, at, before, batchRows)
      removed += passed?.removed ?? 0
      if (!passed || passed.passed < batchRows) {
        at = beginning
        break
      }
      at = { projectId: passed.projectId, id: passed.id }
    }
    return removed
  }
}
