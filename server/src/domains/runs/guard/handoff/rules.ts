import { Refusal } from '../../../../platform/refusal.ts'
import { cut } from '../../../intents/rules.ts'
import type { RouteCorrection } from '../../../projects/rules.ts'
import {
  type Facts,
  governs,
  nameOf,
  openGoals,
  type Protocol,
  type RequirementOf,
} from '../../../protocols/rules.ts'

/*
 * A proposal to go on under another protocol.
 *
 *   proposed ── the task or the segment has moved ──▶ a conflict: nothing is written
 *       ├────── the rules say no ──▶ REJECTED, kept in the journal; the segment goes on
 *       ├────── the rules say yes ─▶ ACCEPTED: the next segment, a revision of the task, a binding, in one transaction
 *       └────── a correction that an owner confirms ──▶ waits ── allow ──▶ ACCEPTED    waits ── deny ──▶ REJECTED
 */

export type RejectionCode =
  | 'PROTOCOL_UNKNOWN'
  | 'PROTOCOL_NOT_AUTHORIZED'
  | 'HANDOFF_TARGET_NOT_ALLOWED'
  | 'STRICT_GOALS_OPEN'
  | 'ROUTE_CORRECTION_NOT_ALLOWED'
export interface Rejection {
  code: RejectionCode
  openGoals: string[]
}

/** A line of a run's ledger, in short. */
export interface LedgerEntry {
  number: number
  action: string
  code: string | null
  ok: boolean | null
  governedBy: string | null
  /** The protocol under which it was asked for. */
  protocol: string
}

/** What a segment is left by: its protocol, its facts, and the requirements of its task; none for a side chat. */
export interface Leaving {
  from: Protocol
  facts: Facts
  requirements: readonly RequirementOf[]
}
export interface Proposal extends Leaving {
  /** The protocol that was named, or why there is none. */
  to: Protocol | Refusal
}

const rejected = (code: RejectionCode, goals: string[] = []): Rejection => ({ code, openGoals: goals })
export const isRejection = (value: Protocol | Rejection): value is Rejection => 'openGoals' in value

/** A strict protocol keeps its agent while goals are open, by what the server knows; what an agent claims is not asked. */
export function decideLeaving({ from, facts, requirements }: Leaving): Rejection | null {
  const goals = openGoals(from, facts, requirements)
  return from.completion.strict && goals.length > 0 ? rejected('STRICT_GOALS_OPEN', goals) : null
}

/** The protocol that was named, where it is another one than the present. */
export function decideTarget(from: Pick<Protocol, 'id' | 'version'>, to: Protocol | Refusal) {
  if (to instanceof Refusal) return rejected(to.code as 'PROTOCOL_UNKNOWN' | 'PROTOCOL_NOT_AUTHORIZED')
  return nameOf(to) === nameOf(from) ? rejected('HANDOFF_TARGET_NOT_ALLOWED') : to
}

/** An agent's ordinary handoff: to a protocol that the present one names, once a strict one's goals are met. */
export function decideHandoff(proposal: Proposal): Protocol | Rejection {
  const { from } = proposal
  const target = decideTarget(from, proposal.to)
  if (isRejection(target)) return target
  const named = from.handoffTo
  if (named && !named.includes(target.id) && !named.includes(nameOf(target)))
    return rejected('HANDOFF_TARGET_NOT_ALLOWED')
  return decideLeaving(proposal) ?? target
}

export interface RouteFacts {
  setting: RouteCorrection
  source: string
  relation: string
  segmentNumber: number
  phase: string
  ledger: readonly LedgerEntry[]
}

/**
 * Whether a route may be undone: one by which a model replaced the task, still in the initial phase of the protocol that
 * it chose, which has governed actions of which none has succeeded, and only towards the general protocol.
 */
export function decideCorrection(proposal: Proposal, route: RouteFacts): Protocol | Rejection {
  const { from } = proposal
  const target = decideTarget(from, proposal.to)
  if (isRejection(target)) return target
  const right =
    route.setting !== 'OFF' &&
    route.source === 'CLASSIFIER' &&
    route.relation === 'REPLACE' &&
    route.segmentNumber === 1 &&
    route.phase === from.initialPhase &&
    from.governs.length > 0 &&
    target.id === 'general-task' &&
    !route.ledger.some((entry) => entry.ok === true && governs(from, entry.action))
  return right ? target : rejected('ROUTE_CORRECTION_NOT_ALLOWED')
}

/** Goals as an event tells them: the first 20, each cut at 200 characters, and how many there are. */
export const goalsTold = (goals: readonly string[]) => ({
  openGoals: goals.slice(0, 20).map((goal) => cut(goal, 200)),
  openGoalCount: goals.length,
})

export const segmentConflict = (segment: { projectId: string; id: string }) =>
  new Refusal(
    'SEGMENT_REVISION_CONFLICT',
    'The segment has moved meanwhile. Nothing was written; look at it and try again.',
    { current: { type: 'ProtocolSegment', projectId: segment.projectId, id: segment.id } },
  )
