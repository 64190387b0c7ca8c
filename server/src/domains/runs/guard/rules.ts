import { Refusal } from '../../../platform/refusal.ts'
import {
  advance,
  decideAction,
  type Facts,
  governs,
  nameOf,
  type Protocol,
  type Verdict,
} from '../../protocols/rules.ts'

/*
 * An action of the ledger of a run:
 *
 *   ──▶ ALLOWED ── its result, once ──▶ closed
 *   ──▶ DENIED
 *   ──▶ NEEDS_APPROVAL ── allow, and phase and task still do ──▶ ALLOWED
 *           └──────────── deny, nobody answers, the run ends, or phase or task don't allow it any more ──▶ DENIED
 */

export const actionDecisions = ['ALLOWED', 'DENIED', 'NEEDS_APPROVAL'] as const
export type ActionDecision = (typeof actionDecisions)[number]
/** Why an action was not allowed. The last two are only ever the end of one that needed an approval. */
export type DenialCode =
  | 'ACTION_NOT_ALLOWED_IN_PHASE'
  | 'INTENT_STALE'
  | 'APPROVAL_DENIED'
  | 'APPROVAL_WITHDRAWN'

/** A tool as a runtime declared it. */
export interface Tool {
  name: string
  group: string
  action: string
  server?: string | null
}

/** Where a run stands: its active segment, the task that it acts under, and the one that its session is at. */
export interface Standing {
  protocol: Protocol
  phase: string
  activeId: string | null
  headId: string | null
}

/** The protocol whose real work an action is, as `id@version`: the segment's own, else the newest that governs it. */
export function governorOf(action: string, own: Protocol, all: readonly Protocol[]): string | null {
  if (governs(own, action)) return nameOf(own)
  const others = all.filter((protocol) => governs(protocol, action))
  const newest = others.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : b.version - a.version))[0]
  return newest ? nameOf(newest) : null
}

/**
 * Whether an action may be taken now: what the phase says of it, then, under a protocol with `staleIntent: BLOCK`, whether
 * the run still acts under the task that the session is at.
 */
export function decideRequest(
  at: Standing,
  action: string,
  isGoverned: (action: string) => boolean,
): { decision: ActionDecision; code: DenialCode | null } {
  const verdict: Verdict = decideAction(at.protocol, at.phase, action, isGoverned)
  if (verdict === 'DENIED') return { decision: 'DENIED', code: 'ACTION_NOT_ALLOWED_IN_PHASE' }
  if (at.protocol.staleIntent === 'BLOCK' && at.activeId !== at.headId)
    return { decision: 'DENIED', code: 'INTENT_STALE' }
  return { decision: verdict, code: null }
}

/**
 * What an answer makes of the action that waited for it. An allowance is judged by where the run stands when it is given:
 * what the phase or the task forbids by now is denied all the same. That it needs an approval is answered by this one.
 */
export function decideAnswered(
  allowed: boolean,
  at: Standing | null,
  action: string,
  isGoverned: (action: string) => boolean,
): { decision: 'ALLOWED' | 'DENIED'; code: DenialCode | null } {
  if (!allowed || !at) return { decision: 'DENIED', code: 'APPROVAL_DENIED' }
  const now = decideRequest(at, action, isGoverned)
  return now.decision === 'DENIED'
    ? { decision: 'DENIED', code: now.code }
    : { decision: 'ALLOWED', code: null }
}

/** What every plan lists although no runtime declares it: each is a call of the API by itself, and never an action. */
const ownCalls: Readonly<Record<string, string>> = {
  protocol_handoff: 'proposeHandoff',
  analysis_requirements_commit: 'commitRequirements',
}
export const toolUnknown = (tool: string) =>
  new Refusal(
    'TOOL_UNKNOWN',
    Object.hasOwn(ownCalls, tool)
      ? `The runtime declared no such tool: call \`${ownCalls[tool]}\`, which needs no permission.`
      : 'The runtime declared no such tool. Register it, or use another.',
  )

/** Only an allowed action has a result, and only one. */
export function decideResult(action: { decision: string; ok: boolean | null }): Refusal | null {
  if (action.decision !== 'ALLOWED') {
    const why = action.decision === 'DENIED' ? 'was denied' : 'waits for its approval'
    return new Refusal('CONFLICT', `The action ${why}: it has no result.`)
  }
  return action.ok === null ? null : new Refusal('CONFLICT', 'The result of the action is recorded already.')
}

/** What a result may bring, and a segment may hold, of named facts. */
export const maxFactsOfResult = 32
export const maxFacts = 100
const maxCount = 2_147_483_647
const factName = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/
const kept = 'ok.'

/** Reads the facts of a result: at most 32 names of at most 64 characters, each a boolean or a whole number 0…2³¹−1. */
export function readFacts(value: unknown): Facts | Refusal {
  if (value === undefined || value === null) return {}
  const wrong = (path: string[], message: string) =>
    new Refusal('INVALID_INPUT', 'The facts are not valid.', {
      issues: [{ path: ['facts', ...path], message }],
    })
  if (typeof value !== 'object' || Array.isArray(value)) return wrong([], 'must be an object of facts')
  const entries = Object.entries(value)
  if (entries.length > maxFactsOfResult) return wrong([], `at most ${maxFactsOfResult} facts`)
  for (const [name, fact] of entries) {
    if (!factName.test(name)) return wrong([], 'a name is a letter, then letters, digits, _ . -, at most 64')
    if (name.startsWith(kept)) return wrong([], `names that begin with ${kept} are kept by the server`)
    if (typeof fact === 'boolean') continue
    if (!Number.isInteger(fact) || (fact as number) < 0 || (fact as number) > maxCount)
      return wrong([name], `must be a boolean or a whole number, 0 to ${maxCount}`)
  }
  return value as Facts
}

export interface Moved {
  phase: string
  facts: Facts
  entered: string[]
  /** Whether phase or facts are others than before: then the segment is at its next revision. */
  changed: boolean
}

/** What a result does to the segment of its action. At most 100 facts of agents are kept; more is INVALID_INPUT. */
export function applyResult(
  protocol: Protocol,
  segment: { phase: string; facts: Facts },
  result: { action: string; ok: boolean; facts: Facts },
): Moved | Refusal {
  const next = advance(protocol, segment.phase, segment.facts, result)
  const own = Object.keys(next.facts).filter((name) => !name.startsWith(kept))
  if (own.length > maxFacts) {
    return new Refusal('INVALID_INPUT', 'The facts are not valid.', {
      issues: [{ path: ['facts'], message: `a segment keeps at most ${maxFacts} facts` }],
    })
  }
  const names = new Set([...Object.keys(segment.facts), ...Object.keys(next.facts)])
  const same = [...names].every((name) => segment.facts[name] === next.facts[name])
  return { ...next, changed: next.entered.length > 0 || !same }
}
