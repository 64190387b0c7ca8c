import type { Unit } from '../../../platform/transaction.ts'
import type { LockedSession } from '../../sessions/operations.ts'
import type * as runs from '../store.ts'
import * as store from './store.ts'

/**
 * What the decision of an ask means to the guard: the action that waited for it is ALLOWED or DENIED from now on. The
 * runtime hears of it by the signal of the ask. The session must be locked.
 */
export async function decideAsked(
  unit: Unit,
  _session: LockedSession,
  _run: runs.LockedRun,
  approval: runs.ApprovalRow,
  { decision }: { decision: string; by: string | null },
): Promise<void> {
  if (approval.kind !== 'TOOL') return
  const allowed = decision === 'allow'
  await store.decideWaiting(
    unit.tx,
    approval,
    allowed ? 'ALLOWED' : 'DENIED',
    allowed ? null : 'APPROVAL_DENIED',
  )
}
