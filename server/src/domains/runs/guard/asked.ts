import type { Unit } from '../../../platform/transaction.ts'
import type { LockedSession } from '../../sessions/operations.ts'
import type * as runs from '../store.ts'
import { decideConfirmation } from './handoff/confirmed.ts'
import * as store from './store.ts'

/**
 * What the decision of an ask means to the guard: the action that waited for it is ALLOWED or DENIED from now on, the
 * correction of a route is made or rejected. The runtime hears of it by the signal of the ask. The session must be locked.
 */
export async function decideAsked(
  unit: Unit,
  session: LockedSession,
  run: runs.LockedRun,
  approval: runs.ApprovalRow,
  d: { decision: string; by: string | null },
): Promise<void> {
  if (approval.kind === 'HANDOFF') await decideConfirmation(unit, session, run, approval, d)
  if (approval.kind !== 'TOOL') return
  const allowed = d.decision === 'allow'
  await store.decideWaiting(
    unit.tx,
    approval,
    allowed ? 'ALLOWED' : 'DENIED',
    allowed ? null : 'APPROVAL_DENIED',
  )
}
