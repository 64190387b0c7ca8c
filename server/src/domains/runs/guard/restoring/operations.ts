import type { Entry } from '../../../../platform/journal.ts'
import type { Unit } from '../../../../platform/transaction.ts'
import type { LockedSession } from '../../../sessions/operations.ts'
import { publicId } from '../../operations.ts'
import type { LockedRun } from '../../store.ts'
import * as decisions from '../decisions/store.ts'
import { boundStanding } from '../standing.ts'

const reason = 'PROTOCOL_SEGMENT_RESTORED'

/**
 * A run that is started again is not routed anew: it goes on with its task in the segment that it was in, phase and facts
 * as they were. That is a decision like any other, kept beside the one that the run was routed by; the event is to be
 * told with the start. A run that is bound to nothing is RUN_INTENT_BINDING_REQUIRED: what it is about is never guessed
 * from what the session is at by now. The session must be locked.
 */
export async function restoreSegment(unit: Unit, session: LockedSession, run: LockedRun): Promise<Entry> {
  const { projectId } = run
  const at = await boundStanding(unit, run)
  const id = unit.ids.next()
  const route = { target: 'AGENT', relation: 'CONTINUE', protocol: at.protocol, source: 'RESTORED' } as const
  const { relation, protocol } = route
  await decisions.insertDecision(unit.tx, {
    projectId,
    id,
    sessionId: session.id,
    runId: run.id,
    ...route,
    reasons: [reason],
    candidates: [{ relation, protocol, priority: 0, reason, chosen: true }],
    evidence: { segment: at.segmentNumber, revision: at.revision, phase: at.phase },
    correctsId: null,
    byId: null,
    now: unit.now,
  })
  return {
    type: 'ROUTE_DECIDED',
    subjectId: id,
    payload: {
      routeId: publicId('RouteDecision', projectId, id),
      runId: publicId('Run', projectId, run.id),
      ...route,
      reasons: [reason],
      warnings: [],
      segmentId: publicId('ProtocolSegment', projectId, at.segmentId),
      phase: at.phase,
    },
  }
}
