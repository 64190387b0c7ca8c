import type { Unit } from '../../../platform/transaction.ts'
import { protocolsOf } from '../../protocols/operations.ts'
import { governedBy } from '../../protocols/rules.ts'
import type { LockedSession } from '../../sessions/operations.ts'
import { publicId } from '../operations.ts'
import type * as runs from '../store.ts'
import * as rules from './rules.ts'
import { standOf } from './standing.ts'
import * as store from './store.ts'

/** What an answer came to for an action: as the event of the answer tells it. */
export interface Judged {
  actionId: string
  actionDecision: 'ALLOWED' | 'DENIED'
  actionCode: string | null
}

/**
 * What the decision of an ask means to the action that waited for it: ALLOWED or DENIED from now on. It is judged again by
 * the segment and the task of the moment, for both may have moved while nobody answered. Null for an ask about something
 * else. The session must be locked.
 */
export async function judgeAsked(
  unit: Unit,
  session: LockedSession,
  run: runs.LockedRun,
  approval: runs.ApprovalRow,
  decision: string,
): Promise<Judged | null> {
  const waiting = approval.kind === 'TOOL' ? await store.waitingFor(unit.tx, approval) : null
  if (!waiting) return null
  const allowed = decision === 'allow'
  const protocols = await protocolsOf(unit.tx, run.projectId)
  const at = allowed ? await standOf(unit, run, protocols) : null
  const standing = at && { ...at, protocol: at.definition, headId: session.headId }
  const judged = rules.decideAnswered(allowed, standing, waiting.action, governedBy(protocols.all))
  await store.decideWaiting(unit.tx, waiting, judged.decision, judged.code)
  const actionId = publicId('Action', run.projectId, waiting.id)
  return { actionId, actionDecision: judged.decision, actionCode: judged.code }
}
