import type { Call } from '../../../../platform/idempotency.ts'
import type { Ref } from '../../../../platform/ids.ts'
import { invalid, Refusal } from '../../../../platform/refusal.ts'
import { type Platform, transact, type Unit } from '../../../../platform/transaction.ts'
import { audit } from '../../../access/operations.ts'
import { commitRevision, headOf, type NumberedHead } from '../../../intents/operations.ts'
import { headConflict, switchProtocol } from '../../../intents/rules.ts'
import { type ProtocolsOfProject, protocolsOf } from '../../../protocols/operations.ts'
import { nameOf, type Protocol, resolve } from '../../../protocols/rules.ts'
import { type LockedSession, lockSession } from '../../../sessions/operations.ts'
import { lockRun } from '../../locks.ts'
import { liveRunsOf, signal } from '../../operations.ts'
import { definitionOf, leaving, standOf } from '../standing.ts'
import * as rules from './rules.ts'
import { transition } from './transition.ts'

export interface HandoffByOwner {
  sessionId: Ref
  expectedSegmentRevision?: number | undefined
  expectedHeadId?: Ref | undefined
  to: string
  reason: string
  overrideStrict?: boolean | undefined
}
export interface HandedOff {
  projectId: string
  sessionId: string
  runId: string | null
  segmentId: string | null
  revisionId: string
}

const words: Record<rules.RejectionCode, string> = {
  PROTOCOL_UNKNOWN: 'There is no such protocol.',
  PROTOCOL_NOT_AUTHORIZED: 'The project does not allow this protocol.',
  HANDOFF_TARGET_NOT_ALLOWED: 'The session is under this protocol already.',
  STRICT_GOALS_OPEN: 'The protocol is strict, and goals are open. Override it, or let the agent meet them.',
  ROUTE_CORRECTION_NOT_ALLOWED: 'The route can’t be corrected any more.',
}
const refuse = ({ code, openGoals }: rules.Rejection): never => {
  throw new Refusal(code, words[code], openGoals.length > 0 ? { open: openGoals } : {})
}

function moved(head: NumberedHead | null, session: Ref): Refusal {
  const { code, message } = headConflict()
  const { projectId } = session
  const current = head
    ? ({ type: 'IntentRevision', projectId, id: head.id } as const)
    : ({ type: 'Session', projectId, id: session.id } as const)
  return new Refusal(code, message, { current })
}

/**
 * An owner puts a session under another protocol. While a run lives: its newest one, whose segment must be at the
 * revision that the owner saw, gets its next segment, and is bound to a HANDOFF revision after the session's head. Between
 * runs: a ROUTE_SWITCH revision after the head that the owner saw. Open goals of a strict protocol are STRICT_GOALS_OPEN,
 * unless overridden. What has moved is a conflict, and nothing is written. Audited.
 */
export async function handoffProtocol(
  platform: Platform,
  call: Call,
  input: HandoffByOwner,
): Promise<HandedOff> {
  if (input.expectedSegmentRevision === undefined && input.expectedHeadId === undefined)
    throw invalid('expectedSegmentRevision', 'say what you saw: this, or between runs `expectedHeadId`')
  const protocols = await protocolsOf(platform.db, input.sessionId.projectId)
  return transact(platform, async (unit) => {
    const session = await lockSession(unit, input.sessionId)
    const head = await headOf(unit.tx, session)
    if (input.expectedHeadId && input.expectedHeadId.id !== head?.id) throw moved(head, session)
    const live = (await liveRunsOf(unit.tx, session)).at(-1)
    const done = live
      ? await ofRun(unit, call, input, session, head, live, protocols)
      : await betweenRuns(unit, call, input, session, head, protocols)
    await audit(unit, call, {
      action: 'protocol.handoff',
      subject: { type: 'Session', projectId: session.projectId, id: session.id },
      reason: input.reason,
      detail: {
        from: done.from,
        to: done.to,
        overrideStrict: input.overrideStrict ?? false,
        openGoals: done.overridden,
      },
    })
    const { runId, segmentId, revisionId } = done
    return { projectId: session.projectId, sessionId: session.id, runId, segmentId, revisionId }
  })
}

/** The protocol that was named, and how many goals of a strict one are overridden. */
function decide(input: HandoffByOwner, protocols: ProtocolsOfProject, left: rules.Leaving) {
  const target = rules.decideTarget(left.from, resolve(protocols.all, input.to, protocols.allowed))
  if (rules.isRejection(target)) return refuse(target)
  const kept = rules.decideLeaving(left)
  if (kept && !input.overrideStrict) return refuse(kept)
  return { target, overridden: kept?.openGoals.length ?? 0 } satisfies {
    target: Protocol
    overridden: number
  }
}

async function ofRun(
  unit: Unit,
  call: Call,
  input: HandoffByOwner,
  session: LockedSession,
  head: NumberedHead | null,
  runId: string,
  protocols: ProtocolsOfProject,
) {
  const locked = await lockRun(unit.tx, { projectId: session.projectId, id: runId })
  if (!locked) throw new Error('a live run of a locked session is not there')
  const { run } = locked
  const at = await standOf(unit, run, protocols)
  if (input.expectedSegmentRevision !== at.revision)
    throw rules.segmentConflict({ projectId: run.projectId, id: at.segmentId })
  const { target, overridden } = decide(input, protocols, await leaving(unit, session, at))
  const { to, reason } = input
  const byId = call.viewer.principalId
  const proposed = { to, reason, correction: false, claimedGoals: [], byId }
  const step = { target, by: 'OWNER' as const, proposed, byId, reason }
  const next = await transition(unit, session, run, at, head, step)
  await signal(unit, run, 'INTENT_CORRECTED', { revisionId: next.revisionId, note: reason })
  return { ...next, runId: run.id as string | null, from: at.protocol, to: nameOf(target), overridden }
}

async function betweenRuns(
  unit: Unit,
  call: Call,
  input: HandoffByOwner,
  session: LockedSession,
  head: NumberedHead | null,
  protocols: ProtocolsOfProject,
) {
  if (!head)
    throw new Refusal('CONFLICT', 'The session has no task yet, and no run: there is nothing to hand off.')
  if (input.expectedSegmentRevision !== undefined) {
    const current = { type: 'Session', projectId: session.projectId, id: session.id } as const
    throw new Refusal('SEGMENT_REVISION_CONFLICT', 'No run lives any more, and no segment is active.', {
      current,
    })
  }
  const from = definitionOf(protocols, head.protocol)
  const { target, overridden } = decide(input, protocols, {
    from,
    facts: {},
    requirements: head.requirements,
  })
  const change = switchProtocol(head, nameOf(target), 'ROUTE_SWITCH')
  const revisionId = await commitRevision(unit, session, head, change, {
    authorId: call.viewer.principalId,
    note: input.reason,
  })
  return { runId: null, segmentId: null, revisionId, from: head.protocol, to: nameOf(target), overridden }
}
