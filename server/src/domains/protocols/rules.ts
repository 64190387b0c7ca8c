import { Refusal } from '../../platform/refusal.ts'

/*
 * A protocol says what an agent may do, phase by phase. A segment of a run walks it:
 *
 *   initialPhase ── a result of an action, or facts that hold ──▶ phase ──▶ … ──▶ a phase that leads nowhere else
 *
 * Definitions are data. Facts are named booleans and counts that results bring, and `ok.<action>`, how often an action
 * has succeeded since its phase was entered.
 */

export type Facts = Record<string, boolean | number>

export interface Transition {
  to: string
  /** Taken by the result of such an action; `ok` absent: by a success. */
  on?: { action: string; ok?: boolean }
  /** Facts that must hold: a boolean equals, a count is reached. Without `on` they are looked at after each result. */
  when?: Facts
}
export interface Phase {
  name: string
  /**
   * Patterns: an action, `prefix*`, or `ungoverned` (every action that no protocol of the project governs and that this
   * one does not name as a step of its own).
   */
  allowedActions: string[]
  /** Of those, the ones that an owner must allow each time. */
  needsApproval: string[]
  transitions: Transition[]
  /** Whether the work may end here: a phase that nothing leads on from must say so. */
  final?: boolean
}
/**
 * What makes a message the start of a task under a protocol: of one of its alternatives, every list is hit by one of its
 * words or phrases, and none of `noneOf` is in it.
 */
export interface StartRule {
  id: string
  anyOf: { all: string[][] }[]
  noneOf?: string[] | undefined
}
export interface Protocol {
  id: string
  version: number
  title: string
  initialPhase: string
  phases: Phase[]
  /** Patterns of the actions that are its real work. */
  governs: string[]
  completion: { requiredFacts: Facts; requirements: 'ALL_MET' | 'NONE'; strict: boolean }
  /** Whether its tasks have their requirements extracted. */
  extraction: boolean
  /** The protocols that an agent may hand off to; null: to any. */
  handoffTo: string[] | null
  /** Whether an action may be taken while the run is bound to a revision that is not the session's head any more. */
  staleIntent: 'ALLOW' | 'BLOCK'
  startRules: StartRule[]
}

export const nameOf = (protocol: { id: string; version: number }) => `${protocol.id}@${protocol.version}`

export const generalTaskId = 'general-task'
export const ungoverned = 'ungoverned'
export const handoffAction = 'protocol.handoff.propose'

/** Whether an action is what a pattern names; `isGoverned` tells what some protocol of the project governs. */
export function matches(pattern: string, action: string, isGoverned: (action: string) => boolean): boolean {
  if (pattern === ungoverned) return !isGoverned(action)
  return pattern.endsWith('*') ? action.startsWith(pattern.slice(0, -1)) : pattern === action
}

export const governs = (protocol: Protocol, action: string) =>
  protocol.governs.some((pattern) => matches(pattern, action, () => true))

/** What is governed by any of these protocols. */
export const governedBy = (protocols: readonly Protocol[]) => (action: string) =>
  protocols.some((protocol) => governs(protocol, action))

export const phaseOf = (protocol: Protocol, name: string): Phase | undefined =>
  protocol.phases.find((phase) => phase.name === name)

export type Verdict = 'ALLOWED' | 'NEEDS_APPROVAL' | 'DENIED'

/** What a phase says of an action. A phase that the protocol doesn't have allows nothing. */
export function decideAction(
  protocol: Protocol,
  phaseName: string,
  action: string,
  isGoverned: (action: string) => boolean,
): Verdict {
  const phase = phaseOf(protocol, phaseName)
  // What a protocol names in one of its phases is a step of it, and no part of whatever else may be done.
  const isStep = protocol.phases.some(({ allowedActions: all }) => all.includes(action))
  const isElsewhere = (each: string) => isStep || isGoverned(each)
  const named = (patterns: string[]) => patterns.some((pattern) => matches(pattern, action, isElsewhere))
  if (!phase || !named(phase.allowedActions)) return 'DENIED'
  return named(phase.needsApproval) ? 'NEEDS_APPROVAL' : 'ALLOWED'
}

/** Which of these actions the phase allows, with or without an approval, each once, in their order. */
export const allowedActions = (
  protocol: Protocol,
  phase: string,
  declared: readonly string[],
  isGoverned: (action: string) => boolean,
): string[] =>
  [...new Set(declared)].filter((action) => decideAction(protocol, phase, action, isGoverned) !== 'DENIED')

export const holds = (facts: Facts, wanted: Facts): boolean =>
  Object.entries(wanted).every(([name, value]) => {
    const fact = Object.hasOwn(facts, name) ? facts[name] : undefined
    return typeof value === 'number' ? typeof fact === 'number' && fact >= value : (fact ?? false) === value
  })

/** The count of an action's successes since the phase was entered: a fact that the server keeps by itself. */
export const succeeded = (action: string) => `ok.${action}`

export interface Advance {
  phase: string
  facts: Facts
  /** The phases that were entered, in order; the last is the present one. */
  entered: string[]
}

/** Whether a fact is one that the server keeps by itself, and that nobody can claim. */
const isCount = (fact: string) => fact.startsWith(succeeded(''))

/**
 * What the result of an action does: its facts are merged (but for counts of successes, which are not its to tell), its
 * success is counted, a transition on the action is taken, and then those that the facts alone drive, each phase at most
 * once, so that it ends whatever the definition is.
 */
export function advance(
  protocol: Protocol,
  phase: string,
  facts: Facts,
  result: { action: string; ok: boolean; facts: Facts },
): Advance {
  const told = Object.entries(result.facts).filter(([name]) => !isCount(name))
  const merged: Facts = { ...facts, ...Object.fromEntries(told) }
  if (result.ok) merged[succeeded(result.action)] = Number(merged[succeeded(result.action)] ?? 0) + 1
  const entered: string[] = []
  const seen = new Set([phase])
  const take = (transition: Transition | undefined): boolean => {
    if (!transition || !phaseOf(protocol, transition.to)) return false
    const again = transition.to === (entered.at(-1) ?? phase)
    if (again) return false
    entered.push(transition.to)
    for (const name of Object.keys(merged)) if (isCount(name)) delete merged[name]
    return true
  }
  const onResult = phaseOf(protocol, phase)?.transitions.find(
    ({ on, when }) =>
      on !== undefined &&
      matches(on.action, result.action, () => true) &&
      (on.ok ?? true) === result.ok &&
      holds(merged, when ?? {}),
  )
  take(onResult)
  for (;;) {
    const at = entered.at(-1) ?? phase
    if (entered.length > 0 && seen.has(at)) break
    seen.add(at)
    const byFacts = phaseOf(protocol, at)?.transitions.find(
      ({ on, when, to }) => on === undefined && when !== undefined && !seen.has(to) && holds(merged, when),
    )
    if (!take(byFacts)) break
  }
  return { phase: entered.at(-1) ?? phase, facts: merged, entered }
}

export interface RequirementOf {
  id: string
  text: string
  state: 'OPEN' | 'MET' | 'DROPPED'
}

/** What the completion policy still asks for, in words; by what the server knows, never by what an agent says. */
export function openGoals(
  protocol: Protocol,
  facts: Facts,
  requirements: readonly RequirementOf[],
): string[] {
  const { requiredFacts, requirements: wanted } = protocol.completion
  return [
    ...Object.entries(requiredFacts)
      .filter(([name, value]) => !holds(facts, { [name]: value }))
      .map(([name, value]) => (typeof value === 'number' ? `${name} ≥ ${value}` : `${name} = ${value}`)),
    ...(wanted === 'ALL_MET'
      ? requirements.filter(({ state }) => state === 'OPEN').map(({ text }) => text)
      : []),
  ]
}

/** Whether a project that allows these ids (null: all) lets a protocol be used; `general-task` always is. */
export const isAllowed = (id: string, allowed: readonly string[] | null): boolean =>
  allowed === null || id === generalTaskId || allowed.includes(id)

/**
 * Finds a protocol by `id` (its newest version) or `id@version`. `allowed`: the ids that the project allows, null all;
 * `general-task` always is.
 */
export function resolve(
  protocols: readonly Protocol[],
  name: string,
  allowed: readonly string[] | null,
): Protocol | Refusal {
  const [id = '', version, ...more] = name.split('@')
  const found = protocols
    .filter((protocol) => protocol.id === id)
    .sort((a, b) => b.version - a.version)
    .find((protocol) => version === undefined || (more.length === 0 && String(protocol.version) === version))
  if (!found) return new Refusal('PROTOCOL_UNKNOWN', 'There is no such protocol.')
  if (!isAllowed(id, allowed)) {
    return new Refusal('PROTOCOL_NOT_AUTHORIZED', 'The project does not allow this protocol.')
  }
  return found
}

/** How many versions of protocols a project keeps, of all of them together. */
export const mostVersions = 500

/**
 * Whether a version is to be written: true for the next one, false for one that is there as it is. `versions`: those of
 * the same protocol. A version never changes, none is left out, and what is built in is nobody's to register: CONFLICT.
 */
export function registration(
  wanted: { version: number; digest: string },
  versions: readonly { version: number; digest: string }[],
  isBuiltIn: boolean,
): boolean | Refusal {
  if (isBuiltIn) return new Refusal('CONFLICT', 'A built-in protocol has this id. Choose another one.')
  const same = versions.find(({ version }) => version === wanted.version)
  const next = 1 + versions.reduce((latest, { version }) => Math.max(latest, version), 0)
  if (same) {
    return same.digest === wanted.digest
      ? false
      : new Refusal('CONFLICT', `This version is registered with another definition. The next is ${next}.`)
  }
  return wanted.version === next
    ? true
    : new Refusal('CONFLICT', `The next version of this protocol is ${next}.`)
}
