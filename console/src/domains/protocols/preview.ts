import type { PhaseRow, TransitionRow } from './queries.ts'

interface Preview {
  phases: readonly PhaseRow[]
  initialPhase: string
}

const record = (value: unknown): { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const words = (value: unknown): string[] => list(value).filter((each) => typeof each === 'string')

function transitionOf(value: unknown): TransitionRow[] {
  const { to, on, when } = record(value)
  if (typeof to !== 'string') return []
  const { action, ok } = record(on)
  const trigger = typeof action === 'string' ? { action, ok: ok !== false } : null
  return [{ to, on: trigger, when: typeof when === 'object' ? when : null }]
}

function phaseOf(value: unknown): PhaseRow[] {
  const { name, allowedActions, needsApproval, transitions, final } = record(value)
  if (typeof name !== 'string' || name === '') return []
  return [
    {
      name,
      allowedActions: words(allowedActions),
      needsApproval: words(needsApproval),
      final: final === true,
      transitions: list(transitions).flatMap(transitionOf),
    },
  ]
}

/** What can be drawn of a definition that somebody is writing; of two phases with one name the first. */
export function previewOf(definition: unknown): Preview {
  const { phases, initialPhase } = record(definition)
  const all = list(phases).flatMap(phaseOf)
  return {
    phases: all.filter(({ name }, index) => all.findIndex((each) => each.name === name) === index),
    initialPhase: typeof initialPhase === 'string' ? initialPhase : '',
  }
}
