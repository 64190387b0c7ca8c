import type { Platform } from '../../../platform/transaction.ts'
import type { Wait } from './rules.ts'
import * as store from './store.ts'

/** A view of at most this many waits; whoever has more has another problem. */
const most = 500

/** Who waits for whom in a project, the longest wait first, at most 500; of the sessions in `visible`. */
export const listWaits = (
  platform: Platform,
  projectId: string,
  visible: 'all' | string[],
  readySince: Date,
): Promise<Wait[]> => store.waitsOf(platform.db, projectId, visible, readySince, most)
