import { governs, type Phase, type Protocol, succeeded, type Transition, ungoverned } from '../rules.ts'

/*
 * What is wrong with a definition whose shape is right: each flaw has a name, and the place that it is at. A definition
 * without flaws can be walked: every phase is reached, is left or says that the work ends there, and no chain of
 * transitions runs in a circle by itself.
 */

export const flawCodes = {
  DUPLICATE_PHASE: 'another phase has this name',
  DUPLICATE_ACTION: 'is said twice',
  DUPLICATE_TRANSITION: 'another one before it is always taken instead',
  DUPLICATE_START_RULE: 'another start rule has this id',
  UNKNOWN_PHASE: 'there is no such phase',
  UNREACHABLE_PHASE: 'no transition leads here from the initial phase',
  DEAD_END: 'nothing leads on from this phase; say `final: true` where the work may end',
  EMPTY_TRANSITION: 'needs `on` or `when`',
  SELF_TRANSITION: 'leads to the phase that it is of',
  CYCLIC_AUTO_TRANSITION: 'facts alone would lead round in a circle and back to this phase',
  ACTION_IN_NO_PHASE: 'is governed, but no phase allows it',
  ACTION_NOT_IN_PHASE: 'names an action that this phase does not allow',
} as const
export type FlawCode = keyof typeof flawCodes

export interface Flaw {
  code: FlawCode
  /** From the definition down. */
  path: string[]
}

const prefixOf = (pattern: string) => (pattern.endsWith('*') ? pattern.slice(0, -1) : null)

/** Whether some action is named by both patterns, as far as this protocol alone can tell. */
function meet(protocol: Protocol, a: string, b: string): boolean {
  if (a === b || a === '*' || b === '*') return true
  if (a === ungoverned) return meet(protocol, b, a)
  const [prefix, other] = [prefixOf(a), prefixOf(b)]
  if (b === ungoverned) {
    if (prefix === null) return !governs(protocol, a)
    return !protocol.governs.some((pattern) => prefix.startsWith(prefixOf(pattern) ?? `${pattern}\0`))
  }
  if (prefix !== null && other !== null) return prefix.startsWith(other) || other.startsWith(prefix)
  if (prefix !== null) return b.startsWith(prefix)
  return other !== null && a.startsWith(other)
}

/** The actions that a transition waits for: the one whose result takes it, and those whose successes it counts. */
const actionsOf = ({ on, when }: Transition): string[] => [
  ...(on ? [on.action] : []),
  ...Object.keys(when ?? {})
    .filter((fact) => fact.startsWith(succeeded('')))
    .map((fact) => fact.slice(succeeded('').length)),
]

const allows = (protocol: Protocol, phase: Phase, action: string) =>
  phase.allowedActions.some((pattern) => meet(protocol, pattern, action))

/** A transition that can be taken at the very moment its phase is entered: nothing has to be done in between. */
const isAutomatic = (transition: Transition) =>
  transition.on === undefined && transition.when !== undefined && actionsOf(transition).length === 0

/** The positions of what is there a second time. */
const repeated = (keys: string[]) => keys.flatMap((key, at) => (keys.indexOf(key) < at ? [at] : []))

const conditionOf = ({ on, when }: Transition) =>
  JSON.stringify([on?.action, on && (on.ok ?? true), Object.entries(when ?? {}).sort()])

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

function flawsOfPhase(protocol: Protocol, phase: Phase, path: string[], known: Set<string>): Flaw[] {
  const { allowedActions, needsApproval, transitions } = phase
  const at = (code: FlawCode, ...more: (string | number)[]): Flaw => ({
    code,
    path: [...path, ...more.map(String)],
  })
  const ways = transitions.filter(
    (transition) =>
      transition.to !== phase.name &&
      actionsOf(transition).every((action) => allows(protocol, phase, action)),
  )
  return [
    ...repeated(allowedActions).map((index) => at('DUPLICATE_ACTION', 'allowedActions', index)),
    ...repeated(needsApproval).map((index) => at('DUPLICATE_ACTION', 'needsApproval', index)),
    ...needsApproval.flatMap((action, index) =>
      allows(protocol, phase, action) ? [] : [at('ACTION_NOT_IN_PHASE', 'needsApproval', index)],
    ),
    ...repeated(transitions.map(conditionOf)).map((index) =>
      at('DUPLICATE_TRANSITION', 'transitions', index),
    ),
    ...transitions.flatMap((transition, index) => {
      const here = (code: FlawCode, ...more: string[]) => at(code, 'transitions', index, ...more)
      const flaws: Flaw[] = []
      if (!known.has(transition.to)) flaws.push(here('UNKNOWN_PHASE', 'to'))
      if (transition.to === phase.name) flaws.push(here('SELF_TRANSITION', 'to'))
      if (!transition.on && Object.keys(transition.when ?? {}).length === 0)
        flaws.push(here('EMPTY_TRANSITION'))
      if (!actionsOf(transition).every((action) => allows(protocol, phase, action)))
        flaws.push(here('ACTION_NOT_IN_PHASE'))
      return flaws
    }),
    ...(ways.length === 0 && !phase.final ? [at('DEAD_END')] : []),
    ...(reachable(protocol, phase.name, isAutomatic).has(phase.name) ? [at('CYCLIC_AUTO_TRANSITION')] : []),
  ]
}

/** Everything that is wrong with a definition of the right shape, in its own order. */
export function flawsOf(protocol: Protocol): Flaw[] {
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
      const flaws = flawsOfPhase(protocol, phase, path, known)
      return known.has(protocol.initialPhase) && !reached.has(phase.name)
        ? [{ code: 'UNREACHABLE_PHASE', path } satisfies Flaw, ...flaws]
        : flaws
    }),
    ...repeated(protocol.governs).map(
      (at): Flaw => ({ code: 'DUPLICATE_ACTION', path: ['governs', String(at)] }),
    ),
    ...protocol.governs.flatMap((action, at): Flaw[] =>
      protocol.phases.some((phase) => allows(protocol, phase, action))
        ? []
        : [{ code: 'ACTION_IN_NO_PHASE', path: ['governs', String(at)] }],
    ),
    ...repeated(protocol.startRules.map(({ id }) => id)).map(
      (at): Flaw => ({ code: 'DUPLICATE_START_RULE', path: ['startRules', String(at), 'id'] }),
    ),
  ]
}
