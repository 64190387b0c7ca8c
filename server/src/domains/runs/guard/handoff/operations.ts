import type { Call } from '../../../../platform/idempotency.ts'
import type { Ref } from '../../../../platform/ids.ts'
import { append } from '../../../../platform/journal.ts'
import { accept, Refusal } from '../../../../platform/refusal.ts'
import type { Platform, Unit } from '../../../../platform/transaction.ts'
import { headOf } from '../../../intents/operations.ts'
import { headConflict } from '../../../intents/rules.ts'
import { type ProtocolsOfProject, protocolsOf } from '../../../protocols/operations.ts'
import { decideAction, governedBy, nameOf, type Protocol, resolve } from '../../../protocols/rules.ts'
import type { LockedSession } from '../../../sessions/operations.ts'
import { openAsk } from '../../approvals/asking.ts'
import { fencedWrite } from '../../fenced.ts'
import { checkSize, publicId } from '../../operations.ts'
import { completeAsk, decideRun } from '../../rules.ts'
import type { LockedRun } from '../../store.ts'
import { leaving, type Stand, standOf } from '../standing.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'
import { proposedEvent, rejectedEvent, transition } from './transition.ts'

export interface ProposeHandoff {
  runId: Ref
  runToken: string
  to: string
  reason: string
  expectedSegmentRevision?: number | undefined
  unresolvedGoals?: string[] | undefined
  correction?: boolean | undefined
}
/** What is stored for a replay: the first answer, with the segment that was active after it. */
export interface HandoffAnswer {
  projectId: string
  accepted: boolean
  code: string | null
  openGoals: string[]
  segmentId: string
  activeProtocol: string
  activePhase: string
  availableTools: string[]
  protocolDisabledTools: string[]
  approvalId: string | null
}

/** The revision that the run acts under must be the one that the session is at. */
function requireHead(session: LockedSession, at: Stand): void {
  if (session.headId === at.activeId) return
  const { code, message } = headConflict()
  const { projectId, headId: id } = session
  const current = id
    ? ({ type: 'IntentRevision', projectId, id } as const)
    : ({ type: 'Session', projectId, id: session.id } as const)
  throw new Refusal(code, message, { current })
}

/**
 * An agent proposes to go on under another protocol. The task that its run acts under must be the session's, and the
 * segment at the revision that it saw: else a conflict, and nothing is written. What the rules reject is an answer
 * (`accepted: false`) that the journal keeps. What is accepted is one transaction.
 */
export async function proposeHandoff(
  platform: Platform,
  call: Call,
  input: ProposeHandoff,
): Promise<HandoffAnswer> {
  const protocols = await protocolsOf(platform.db, input.runId.projectId)
  return fencedWrite(platform, call, input, 'write', async (unit, { session, run }) => {
    const { viewer } = call
    const at = await standOf(unit, run, protocols)
    const { to, reason, correction = false, expectedSegmentRevision: seen } = input
    if (seen !== undefined && seen !== at.revision)
      throw rules.segmentConflict({ projectId: run.projectId, id: at.segmentId })
    requireHead(session, at)
    const byId = viewer.principalId
    const proposed = { to, reason, correction, claimedGoals: input.unresolvedGoals ?? [], byId }
    const told = proposedEvent(run, at, proposed)
    checkSize(told.payload, session.maxEventBytes, ['unresolvedGoals'])
    const { decided, confirms } = await decide(unit, session, run, at, protocols, input)
    if (rules.isRejection(decided)) {
      await append(unit, session, run.id, [told, rejectedEvent(run, at, to, decided)])
      return answerOf(run, at, protocols, { ...decided, accepted: false })
    }
    if (confirms) {
      await append(unit, session, run.id, [told])
      const approvalId = await askOwners(unit, session, run, at, decided, reason)
      return answerOf(run, at, protocols, { accepted: false, approvalId })
    }
    const next = await transition(unit, session, run, at, await headOf(unit.tx, session), {
      target: decided,
      by: correction ? 'CORRECTION' : 'HANDOFF',
      proposed,
      byId,
      reason,
    })
    return answerOf(run, entered(at, next.segmentId, decided), protocols, { accepted: true })
  })
}

const entered = (at: Stand, segmentId: string, target: Protocol): Stand => ({
  ...at,
  segmentId,
  definition: target,
  protocol: nameOf(target),
  phase: target.initialPhase,
})

async function decide(
  unit: Unit,
  session: LockedSession,
  run: LockedRun,
  at: Stand,
  protocols: ProtocolsOfProject,
  input: ProposeHandoff,
): Promise<{ decided: Protocol | rules.Rejection; confirms: boolean }> {
  const to = resolve(protocols.all, input.to, protocols.allowed)
  const proposal = { ...(await leaving(unit, session, at)), to }
  if (!input.correction) return { decided: rules.decideHandoff(proposal), confirms: false }
  const route = await store.routeOf(unit.tx, run)
  const decided = rules.decideCorrection(proposal, {
    ...route,
    segmentNumber: at.segmentNumber,
    phase: at.phase,
    ledger: await store.ledgerOf(unit.tx, run),
  })
  return { decided, confirms: route.setting === 'OWNER_CONFIRMS' }
}

/** Asks the owners to confirm a correction; the run waits. What they allow is what was proposed, at this revision. */
async function askOwners(
  unit: Unit,
  session: LockedSession,
  run: LockedRun,
  at: Stand,
  target: Protocol,
  reason: string,
): Promise<string> {
  accept(decideRun(run.state, 'ask'))
  const id = unit.ids.next()
  const to = nameOf(target)
  await openAsk(unit, session, run, {
    ...accept(completeAsk({ kind: 'PLAN' }, unit.now, session.approvalTtlMs)),
    id,
    kind: 'HANDOFF',
    title: `Go on under ${to} instead of ${at.protocol}?`,
    payload: {
      segmentId: publicId('ProtocolSegment', run.projectId, at.segmentId),
      segmentRevision: at.revision,
      from: at.protocol,
      to,
      reason,
    },
  })
  return id
}

/** The answer, with the tools as they stand for the segment that is active now. */
function answerOf(
  run: LockedRun,
  at: Stand,
  protocols: ProtocolsOfProject,
  said: { accepted: boolean; code?: string; openGoals?: string[]; approvalId?: string },
): HandoffAnswer {
  const isGoverned = governedBy(protocols.all)
  const isAvailable = ({ action }: { action: string }) =>
    decideAction(at.definition, at.phase, action, isGoverned) !== 'DENIED'
  return {
    projectId: run.projectId,
    accepted: said.accepted,
    code: said.code ?? null,
    openGoals: said.openGoals ?? [],
    segmentId: at.segmentId,
    activeProtocol: at.protocol,
    activePhase: at.phase,
    availableTools: at.tools.filter(isAvailable).map(({ name }) => name),
    protocolDisabledTools: at.tools.filter((tool) => !isAvailable(tool)).map(({ name }) => name),
    approvalId: said.approvalId ?? null,
  }
}
