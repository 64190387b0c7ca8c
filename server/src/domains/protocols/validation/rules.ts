import { type Facts, type Phase, type Protocol, succeeded, type Transition, ungoverned } from '../rules.ts'

/*
 * What is wrong with a definition whose shape is right: each flaw has a name, and the place that it is at. A definition
 * without flaws can be walked: every phase is reached, is left or says that the work ends there, and no chain of
 * transitions runs in a circle by itself.
 */

export const flawCodes = {
  DUPLICATE_PHASE: 'another phase has this name',
  DUPLICATE_ACTION: 'is said twice',
  DUPLICATE_TRANSITION: 'another one before it is always taken instead',
  DUPLICATE_HANDOFF: 'is said twice',
  DUPLICATE_START_RULE: 'another start rule has this id',
  UNKNOWN_PHASE: 'there is no such phase',
  UNREACHABLE_PHASE: 'no transition leads here from the initial phase',
  DEAD_END: 'nothing leads on from this phase; say `final: true` where the work may end',
  EMPTY_TRANSITION: 'needs `on` or `when`',
  SELF_TRANSITION: 'leads to the phase that it is of',
  CYCLIC_AUTO_TRANSITION: 'facts alone would lead round in a circle and back to this phase',
  ACTION_IN_NO_PHASE: 'is governed or must succeed, but no phase allows it',
  ACTION_NOT_IN_PHASE: 'names an action that this phase does not allow',
} as const
export type FlawCode = keyof typeof flawCodes

export interface Flaw {
  code: FlawCode
  /** From the definition down. */
  path: string[]
}

const prefixOf = (pattern: string) => (pattern.endsWith('*') ? pattern.slice(0, -1) : null)

/** Whether a pattern names every action that another one does; `ungoverned` is left aside. */
const covers = (pattern: string, other: string) => {
  const prefix = prefixOf(pattern)
  return prefix === null ? pattern === other : other.startsWith(prefix)
}

/** What a phase allows: whether it allows some action that a pattern names. */
type Allows = (phase: Phase, pattern: string) => boolean

/** As `decideAction` will tell it, of what this protocol and these others govern and what it names as its own steps. */
function allowing(protocol: Protocol, others: readonly Protocol[]): Allows {
  const governed = [protocol, ...others].flatMap((each) => each.governs)
  const steps = new Set(protocol.phases.flatMap(({ allowedActions }) => allowedActions))
  const known = new Map<string, boolean>()
  const isUngoverned = (pattern: string) => {
    const before = known.get(pattern)
    if (before !== undefined) return before
    const isStep = prefixOf(pattern) === null && steps.has(pattern)
    const found = !isStep && !governed.some((each) => covers(each, pattern))
    known.set(pattern, found)
    return found
  }
  const meet = (a: string, b: string): boolean => {
    if (a === b || a === '*' || b === '*') return true
    if (a === ungoverned) return isUngoverned(b)
    if (b === ungoverned) return isUngoverned(a)
    return covers(a, b) || covers(b, a)
  }
  const patterns = new Map<Phase, Set<string>>()
  return (phase, pattern) => {
    const allowed = patterns.get(phase) ?? new Set(phase.allowedActions)
    patterns.set(phase, allowed)
    for (const each of allowed) if (meet(each, pattern)) return true
    return false
  }
}

/** The action whose successes a fact counts, if it does. */
const counted = (fact: string): string[] =>
  fact.startsWith(succeeded('')) ? [fact.slice(succeeded('').length)] : []

/** The actions that a transition waits for: the one whose result takes it, and those whose successes it counts. */
const actionsOf = ({ on, when }: Transition): string[] => [
  ...(on ? [on.action] : []),
  ...Object.keys(when ?? {}).flatMap(counted),
]

/** A transition that can be taken at the very moment its phase is entered: nothing has to be done in between. */
const isAutomatic = (transition: Transition) =>
  transition.on === undefined && transition.when !== undefined && actionsOf(transition).length === 0

/** The positions of what is there a second time. */
const repeated = (keys: string[]) => keys.flatMap((key, at) => (keys.indexOf(key) < at ? [at] : []))

/** Whether these facts hold wherever those do. */
const isImplied = (facts: Facts, by: Facts) =>
  Object.entries(facts).every(([name, value]) => {
    const there = Object.hasOwn(by, name) ? by[name] : undefined
    return typeof value === 'number' ? typeof there === 'number' && there >= value : there === value
  })

/** Whether a transition is taken instead of a later one always: every result of that is one of its own, or they say the same. */
function overtakes(earlier: Transition, later: Transition): boolean {
  if (!isImplied(earlier.when ?? {}, later.when ?? {})) return false
  // Of two that facts alone drive, the earlier one may lead where the same result came from, and is passed over then.
  if (!earlier.on || !later.on)
    return earlier.on === later.on && isImplied(later.when ?? {}, earlier.when ?? {})
  return covers(earlier.on.action, later.on.action) && (earlier.on.ok ?? true) === (later.on.ok ?? true)
}

/** The phases that can be entered from one, over the transitions that `along` lets pass, the phase itself only if it comes back. */
function reachable(protocol: Protocol, from: string, along: (transition: Transition) => boolean) {
  const found = new Set<string>()
  const next = [from]
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    const phase = protocol.phases.find((each) => each.name === name)
    for (const transition of phase?.transitions ?? []) {
      if (!along(transition) || found.has(transition.to)) continue
      found.add(transition.to)
      next.push(transition.to)
    }
  }
  return found
}

function flawsOfPhase(
  protocol: Protocol,
  phase: Phase,
  path: string[],
  known: Set<string>,
  allows: Allows,
): Flaw[] {
  const { allowedActions, needsApproval, transitions } = phase
  const at = (code: FlawCode, ...more: (string | number)[]): Flaw => ({
    code,
    path: [...path, ...more.map(String)],
  })
  // Facts come with results alone, and at the start there are none yet.
  const isStuck = phase.name === protocol.initialPhase && allowedActions.length === 0
  const ways = transitions.filter(
    (transition) =>
      transition.to !== phase.name && actionsOf(transition).every((action) => allows(phase, action)),
  )
  return [
    ...repeated(allowedActions).map((index) => at('DUPLICATE_ACTION', 'allowedActions', index)),
    ...repeated(needsApproval).map((index) => at('DUPLICATE_ACTION', 'needsApproval', index)),
    ...needsApproval.flatMap((action, index) =>
      allows(phase, action) ? [] : [at('ACTION_NOT_IN_PHASE', 'needsApproval', index)],
    ),
    ...transitions.flatMap((transition, index) => {
      const here = (code: FlawCode, ...more: string[]) => at(code, 'transitions', index, ...more)
      const flaws: Flaw[] = []
      if (transitions.slice(0, index).some((earlier) => overtakes(earlier, transition)))
        flaws.push(here('DUPLICATE_TRANSITION'))
      if (!known.has(transition.to)) flaws.push(here('UNKNOWN_PHASE', 'to'))
      if (transition.to === phase.name) flaws.push(here('SELF_TRANSITION', 'to'))
      if (!transition.on && Object.keys(transition.when ?? {}).length === 0)
        flaws.push(here('EMPTY_TRANSITION'))
      if (!actionsOf(transition).every((action) => allows(phase, action)))
        flaws.push(here('ACTION_NOT_IN_PHASE'))
      return flaws
    }),
    ...((ways.length === 0 || isStuck) && !phase.final ? [at('DEAD_END')] : []),
    ...(reachable(protocol, phase.name, isAutomatic).has(phase.name) ? [at('CYCLIC_AUTO_TRANSITION')] : []),
  ]
}

/**
 * Everything that is wrong with a definition of the right shape, in its own order. `others`: protocols that every project
 * has beside it; what they govern is not ungoverned.
 */
export function flawsOf(protocol: Protocol, others: readonly Protocol[] = []): Flaw[] {
  const allows = allowing(protocol, others)
  const inSomePhase = (action: string) => protocol.phases.some((phase) => allows(phase, action))
  const names = protocol.phases.map(({ name }) => name)
  const known = new Set(names)
  const reached = reachable(protocol, protocol.initialPhase, () => true).add(protocol.initialPhase)
  return [
    ...(known.has(protocol.initialPhase)
      ? []
      : [{ code: 'UNKNOWN_PHASE', path: ['initialPhase'] } satisfies Flaw]),
    ...repeated(names).map((at): Flaw => ({ code: 'DUPLICATE_PHASE', path: ['phases', String(at), 'name'] })),
    ...protocol.phases.flatMap((phase, at) => {
      const path = ['phases', String(at)]
      const flaws = flawsOfPhase(protocol, phase, path, known, allows)
      return known.has(protocol.initialPhase) && !reached.has(phase.name)
        ? [{ code: 'UNREACHABLE_PHASE', path } satisfies Flaw, ...flaws]
        : flaws
    }),
    ...repeated(protocol.governs).map(
      (at): Flaw => ({ code: 'DUPLICATE_ACTION', path: ['governs', String(at)] }),
    ),
    ...protocol.governs.flatMap((action, at): Flaw[] =>
      inSomePhase(action) ? [] : [{ code: 'ACTION_IN_NO_PHASE', path: ['governs', String(at)] }],
    ),
    ...Object.keys(protocol.completion.requiredFacts).flatMap((fact): Flaw[] =>
      counted(fact).every(inSomePhase)
        ? []
        : [{ code: 'ACTION_IN_NO_PHASE', path: ['completion', 'requiredFacts', fact] }],
    ),
    ...repeated(protocol.handoffTo ?? []).map(
      (at): Flaw => ({ code: 'DUPLICATE_HANDOFF', path: ['handoffTo', String(at)] }),
    ),
    ...repeated(protocol.startRules.map(({ id }) => id)).map(
      (at): Flaw => ({ code: 'DUPLICATE_START_RULE', path: ['startRules', String(at), 'id'] }),
    ),
  ]
}
