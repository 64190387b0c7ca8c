import { Refusal } from '../../platform/refusal.ts'
import type { Relation } from '../intents/rules.ts'
import { nameOf, type Protocol, resolve } from '../protocols/rules.ts'
import { asksForAssent, isBareAssent, isWeakContinuation } from './continuation/rules.ts'
import { demandsExecution, isTaskLike } from './demands/rules.ts'
import { startRuleHits } from './start-rules/rules.ts'

/*
 * Where a message goes. Three answers, kept apart: who takes the turn, which protocol runs, and how the message relates to
 * the session's task. The first hit wins; every candidate that was considered is kept.
 *
 *   (a run that is started again keeps its segment: it is not routed anew)
 *   EXPLICIT    the caller named a protocol
 *   INHERITED   300  a task exists, and the message only asks to go on
 *   RULE        200  an order to execute what was talked about (EXECUTION_DEMANDED)
 *   RULE        100  no task, and a protocol's own start rule hits
 *   CLASSIFIER       a model says so, surely enough
 *   DEFAULT          nothing decided: the general protocol, a side chat; the task is left alone
 */

export type Target = 'DIRECT' | 'AGENT'
export type Source = 'RESTORED' | 'EXPLICIT' | 'INHERITED' | 'RULE' | 'CLASSIFIER' | 'DEFAULT' | 'OWNER'
export const warningCodes = [
  'CLASSIFIER_OFF',
  'CLASSIFIER_FAILED',
  'CLASSIFIER_TIMEOUT',
  'CLASSIFIER_INVALID',
  'CLASSIFIER_LOW_CONFIDENCE',
  'PROTOCOL_AMBIGUOUS',
] as const
export type Warning = (typeof warningCodes)[number]

export interface Candidate {
  protocol: string
  relation: Relation
  priority: number
  reason: string
  chosen: boolean
}

export interface RouteInput {
  message: string
  /** As the caller named it: `id` or `id@version`. */
  explicitProtocol?: string | undefined
  head: { protocol: string } | null
  /** The texts that were said last, the current message not among them. */
  lastUserMessage: string | null
  lastAssistantMessage: string | null
  protocols: readonly Protocol[]
  allowed: readonly string[] | null
}

export interface Routed {
  target: Target
  relation: Relation
  protocol: string
  source: Source
  reasons: string[]
  warnings: Warning[]
  confidence: number | null
  candidates: Candidate[]
  /** The message is an order about this one, which becomes the task. */
  taskFromPrevious: boolean
}

/** Nothing is decided yet: a model is asked, among these protocols. */
export interface Undecided {
  candidates: Candidate[]
  protocols: readonly Protocol[]
  /** Protocols whose start rules tie. */
  ambiguous: boolean
}

export const priorities = { INHERITED: 300, EXECUTION_DEMANDED: 200, START_RULE: 100 } as const
/** Below these a model's answer does not count. */
const thresholds = { protocol: 0.75, relation: 0.75 } as const
const explicitPriority = 1_000
const general = 'general-task'

const decided = (
  choice: { protocol: string; relation: Relation; source: Source; reason: string; priority: number },
  others: readonly Candidate[] = [],
  taskFromPrevious = false,
): Routed => ({
  target: 'AGENT',
  relation: choice.relation,
  protocol: choice.protocol,
  source: choice.source,
  reasons: [choice.reason],
  warnings: [],
  confidence: null,
  candidates: [
    {
      protocol: choice.protocol,
      relation: choice.relation,
      priority: choice.priority,
      reason: choice.reason,
      chosen: true,
    },
    ...others,
  ],
  taskFromPrevious,
})

/** Whether a message, as a whole, only asks to go on: by itself, or as the yes that was asked for. */
export const isContinuation = (input: Pick<RouteInput, 'message' | 'lastAssistantMessage'>): boolean =>
  isWeakContinuation(input.message) ||
  (isBareAssent(input.message) &&
    input.lastAssistantMessage !== null &&
    asksForAssent(input.lastAssistantMessage))

/** The newest version of each protocol that the project allows. */
function selectable(input: RouteInput): Protocol[] {
  const newest = new Map<string, Protocol>()
  for (const protocol of input.protocols) {
    const known = newest.get(protocol.id)
    if (!known || known.version < protocol.version) newest.set(protocol.id, protocol)
  }
  return [...newest.values()].filter(
    ({ id }) => id === general || input.allowed === null || input.allowed.includes(id),
  )
}

/** The protocol of a task as it is now: a version that is gone or not allowed any more is as unknown. */
const present = (input: RouteInput, name: string) => resolve(input.protocols, name, input.allowed)

/** Decides a route by rules alone, or says what a model would have to decide. A protocol that the caller named and that is unknown or not allowed is refused. */
export function route(input: RouteInput): { routed: Routed } | { undecided: Undecided } | Refusal {
  const { head } = input
  const goesOn = isContinuation(input)
  if (input.explicitProtocol !== undefined) {
    const protocol = present(input, input.explicitProtocol)
    if (protocol instanceof Refusal) return protocol
    const relation = head && goesOn ? 'CONTINUE' : 'REPLACE'
    return {
      routed: decided({
        protocol: nameOf(protocol),
        relation,
        source: 'EXPLICIT',
        reason: 'PROTOCOL_EXPLICIT',
        priority: explicitPriority,
      }),
    }
  }
  const ofHead = head && present(input, head.protocol)
  if (ofHead && !(ofHead instanceof Refusal) && goesOn) {
    return {
      routed: decided({
        protocol: nameOf(ofHead),
        relation: 'CONTINUE',
        source: 'INHERITED',
        reason: 'SESSION_INTENT_INHERITED',
        priority: priorities.INHERITED,
      }),
    }
  }
  const ordered = orderedExecution(input, ofHead instanceof Refusal ? null : ofHead)
  if (ordered) return { routed: ordered }
  const started = head ? [] : startedBy(input)
  const [first, second] = started
  if (first && !second) {
    return { routed: decided({ ...first, source: 'RULE' }) }
  }
  return {
    undecided: {
      candidates: started.map(({ protocol, relation, priority, reason }) => ({
        protocol,
        relation,
        priority,
        reason,
        chosen: false,
      })),
      protocols: selectable(input),
      ambiguous: started.length > 1,
    },
  }
}

function orderedExecution(input: RouteInput, ofHead: Protocol | null): Routed | null {
  if (!demandsExecution(input.message)) return null
  const choice = {
    source: 'RULE',
    reason: 'EXECUTION_DEMANDED',
    priority: priorities.EXECUTION_DEMANDED,
  } as const
  if (ofHead) return decided({ ...choice, protocol: nameOf(ofHead), relation: 'CONTINUE' })
  const previous = input.lastUserMessage
  if (previous === null || !isTaskLike(previous)) return null
  // What was talked about is the task; under the protocol that it would have started.
  const [started, another] = startedBy({ ...input, message: previous })
  const protocol = present(input, started && !another ? started.protocol : general)
  return protocol instanceof Refusal
    ? null
    : decided({ ...choice, protocol: nameOf(protocol), relation: 'REPLACE' }, [], true)
}

/** The protocols whose start rules a message hits, one candidate each. */
function startedBy(input: Pick<RouteInput, 'message'> & RouteInput) {
  return selectable(input).flatMap((protocol) => {
    const rule = protocol.startRules.find((each) => startRuleHits(each, input.message))
    return rule
      ? [
          {
            protocol: nameOf(protocol),
            relation: 'REPLACE' as const,
            priority: priorities.START_RULE,
            reason: rule.id,
          },
        ]
      : []
  })
}

/** What a model answered. */
export interface Answer {
  target: Target
  protocol: string
  version: number
  relation: Relation
  confidence: { target: number; protocol: number; relation: number }
  reasons: string[]
}
export type Failure = 'CLASSIFIER_OFF' | 'CLASSIFIER_FAILED' | 'CLASSIFIER_TIMEOUT' | 'CLASSIFIER_INVALID'

/** Nothing decided: the general protocol answers, and the task is left alone. */
function byDefault(undecided: Undecided, warning: Warning): Routed {
  const fallback = undecided.protocols.find(({ id }) => id === general)
  const routed = decided(
    {
      protocol: fallback ? nameOf(fallback) : `${general}@1`,
      relation: 'SIDE_CHAT',
      source: 'DEFAULT',
      reason: 'NOTHING_DECIDED',
      priority: 0,
    },
    undecided.candidates,
  )
  const warnings: Warning[] = undecided.ambiguous ? ['PROTOCOL_AMBIGUOUS', warning] : [warning]
  return { ...routed, warnings }
}

/**
 * What a model's answer, or its failure, comes to. A protocol that was not to choose from is a failure, never obeyed; an
 * answer below the thresholds does not count. Where there is no task, nothing can go on with it or refine it: then the
 * message is the task. The target is the agent, until replies without one exist.
 */
export function settle(input: RouteInput, undecided: Undecided, answer: Answer | Failure): Routed {
  if (typeof answer === 'string') return byDefault(undecided, answer)
  const protocol = undecided.protocols.find(
    (each) => each.id === answer.protocol && each.version === answer.version,
  )
  if (!protocol) return byDefault(undecided, 'CLASSIFIER_FAILED')
  const relation: Relation =
    input.head === null && (answer.relation === 'CONTINUE' || answer.relation === 'REFINE')
      ? 'REPLACE'
      : answer.relation
  const candidate = { protocol: nameOf(protocol), relation, priority: 0, reason: 'CLASSIFIER', chosen: false }
  const sure =
    answer.confidence.protocol >= thresholds.protocol && answer.confidence.relation >= thresholds.relation
  if (!sure) {
    return byDefault(
      { ...undecided, candidates: [...undecided.candidates, candidate] },
      'CLASSIFIER_LOW_CONFIDENCE',
    )
  }
  return {
    target: 'AGENT',
    relation,
    protocol: candidate.protocol,
    source: 'CLASSIFIER',
    reasons: answer.reasons.length > 0 ? answer.reasons : ['CLASSIFIER'],
    warnings: [],
    confidence: Math.min(answer.confidence.protocol, answer.confidence.relation),
    candidates: [{ ...candidate, chosen: true }, ...undecided.candidates],
    taskFromPrevious: false,
  }
}
