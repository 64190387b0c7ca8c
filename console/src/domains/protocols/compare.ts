import type { PhaseRow, ProtocolRow, TransitionRow } from './queries.ts'

/** What is compared of two versions; the definition's text says the same in its own words. */
type Comparable = Pick<
  ProtocolRow,
  | 'title'
  | 'initialPhase'
  | 'phases'
  | 'governs'
  | 'handoffTo'
  | 'staleIntent'
  | 'extraction'
  | 'completion'
  | 'startRules'
>
export type FieldName =
  | 'title'
  | 'initialPhase'
  | 'governs'
  | 'handoffTo'
  | 'staleIntent'
  | 'extraction'
  | 'requiredFacts'
  | 'requirements'
  | 'strict'
export type Part =
  | { part: 'actions' | 'approvals'; sign: '+' | '-'; action: string }
  | { part: 'transitions'; sign: '+' | '-'; transition: TransitionRow }
  | { part: 'final'; sign: '+' | '-' }
  | { part: 'order'; sign: '+' | '-' }
export type Change =
  | { of: 'phase'; name: string; sign: '+' | '-' | '~'; parts: readonly Part[] }
  | { of: 'list'; name: FieldName; added: readonly string[]; removed: readonly string[] }
  | { of: 'value'; name: FieldName; before: string | null; after: string | null }
  | { of: 'startRule'; name: string; sign: '+' | '-' | '~' }

/** The same spelling for the same value, whatever the order of its keys. */
const spelled = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    each && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
const without = (all: readonly string[], others: readonly string[]) =>
  all.filter((each) => !others.includes(each))
const same = (a: unknown, b: unknown) => spelled(a) === spelled(b)

function partsOf(before: PhaseRow, after: PhaseRow): Part[] {
  const actions = (part: 'actions' | 'approvals', a: readonly string[], b: readonly string[]): Part[] => [
    ...without(a, b).map((action): Part => ({ part, sign: '-', action })),
    ...without(b, a).map((action): Part => ({ part, sign: '+', action })),
  ]
  const here = before.transitions.map(spelled)
  const there = after.transitions.map(spelled)
  const gone = before.transitions.filter((each) => !there.includes(spelled(each)))
  const fresh = after.transitions.filter((each) => !here.includes(spelled(each)))
  const kept = here.filter((each) => there.includes(each))
  const isReordered = !same(
    kept,
    there.filter((each) => here.includes(each)),
  )
  return [
    ...actions('actions', before.allowedActions, after.allowedActions),
    ...actions('approvals', before.needsApproval, after.needsApproval),
    ...gone.map((transition): Part => ({ part: 'transitions', sign: '-', transition })),
    ...fresh.map((transition): Part => ({ part: 'transitions', sign: '+', transition })),
    // The first transition that applies is taken: another order is another rule.
    ...(isReordered ? [{ part: 'order', sign: '+' } satisfies Part] : []),
    ...(before.final === after.final
      ? []
      : [{ part: 'final', sign: after.final ? '+' : '-' } satisfies Part]),
  ]
}

/** What differs from one version to another, fields first, then phases in the order of the later one, then start rules. */
export function compareProtocols(before: Comparable, after: Comparable): Change[] {
  const value = (name: FieldName, a: unknown, b: unknown): Change[] => {
    const words = (each: unknown) =>
      each === null ? null : typeof each === 'object' ? JSON.stringify(each) : String(each)
    return same(a, b) ? [] : [{ of: 'value', name, before: words(a), after: words(b) }]
  }
  const list = (name: FieldName, a: readonly string[], b: readonly string[]): Change[] => {
    const change = { of: 'list' as const, name, added: without(b, a), removed: without(a, b) }
    return change.added.length + change.removed.length === 0 ? [] : [change]
  }
  const phases = after.phases.flatMap((phase): Change[] => {
    const old = before.phases.find(({ name }) => name === phase.name)
    if (!old) return [{ of: 'phase', name: phase.name, sign: '+', parts: [] }]
    const parts = partsOf(old, phase)
    return parts.length > 0 ? [{ of: 'phase', name: phase.name, sign: '~', parts }] : []
  })
  const goneIn = <Row>(a: readonly Row[], b: readonly Row[], nameOf: (row: Row) => string) =>
    a.filter((row) => !b.some((each) => nameOf(each) === nameOf(row))).map(nameOf)
  const rules = after.startRules.flatMap((rule): Change[] => {
    const old = before.startRules.find(({ id }) => id === rule.id)
    if (old && same(old, rule)) return []
    return [{ of: 'startRule', name: rule.id, sign: old ? '~' : '+' }]
  })
  return [
    ...value('title', before.title, after.title),
    ...value('initialPhase', before.initialPhase, after.initialPhase),
    ...list('governs', before.governs, after.governs),
    ...(before.handoffTo && after.handoffTo
      ? list('handoffTo', before.handoffTo, after.handoffTo)
      : value('handoffTo', before.handoffTo, after.handoffTo)),
    ...value('staleIntent', before.staleIntent, after.staleIntent),
    ...value('extraction', before.extraction, after.extraction),
    ...value('requiredFacts', before.completion.requiredFacts, after.completion.requiredFacts),
    ...value('requirements', before.completion.requirements, after.completion.requirements),
    ...value('strict', before.completion.strict, after.completion.strict),
    ...phases,
    ...goneIn(before.phases, after.phases, ({ name }) => name).map(
      (name): Change => ({ of: 'phase', name, sign: '-', parts: [] }),
    ),
    ...rules,
    ...goneIn(before.startRules, after.startRules, ({ id }) => id).map(
      (name): Change => ({ of: 'startRule', name, sign: '-' }),
    ),
  ]
}
