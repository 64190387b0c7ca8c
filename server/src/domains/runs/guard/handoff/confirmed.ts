import { append } from '../../../../platform/journal.ts'
import type { Unit } from '../../../../platform/transaction.ts'
import { headOf } from '../../../intents/operations.ts'
import { protocolsOf } from '../../../protocols/operations.ts'
import type { LockedSession } from '../../../sessions/operations.ts'
import type { ApprovalRow, LockedRun } from '../../store.ts'
import { definitionOf, standOf } from '../standing.ts'
import { rejectedEvent, transition } from './transition.ts'

/**
 * What the owners' answer does to a correction that waits for it. Allowed, it is made as it was proposed, if task and
 * segment are still what they were; else, and denied, it is rejected, which the journal tells. The session must be locked.
 */
export async function decideConfirmation(
  unit: Unit,
  session: LockedSession,
  run: LockedRun,
  approval: ApprovalRow,
  d: { decision: string; by: string | null },
): Promise<void> {
  const asked = approval.payload as { segmentRevision: number; to: string; reason: string }
  const protocols = await protocolsOf(unit.tx, run.projectId)
  const at = await standOf(unit, run, protocols)
  const flaw = () => {
    if (d.decision !== 'allow') return 'APPROVAL_DENIED'
    if (at.segmentNumber !== 1 || at.revision !== asked.segmentRevision) return 'SEGMENT_REVISION_CONFLICT'
    return at.activeId === session.headId ? null : 'SESSION_INTENT_REVISION_CONFLICT'
  }
  const code = flaw()
  if (code) {
    await append(unit, session, run.id, [rejectedEvent(run, at, asked.to, { code, openGoals: [] })])
    return
  }
  await transition(unit, session, run, at, await headOf(unit.tx, session), {
    target: definitionOf(protocols, asked.to),
    by: 'CORRECTION',
    proposed: null,
    byId: d.by ?? run.runtimePrincipalId,
    reason: asked.reason,
  })
}
