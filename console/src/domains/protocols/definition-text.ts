import { stringify } from 'yaml'

export type Format = 'YAML' | 'JSON'

/** The value as a text to be read; long lists of phrases stay on one line. */
export const textOf = (value: unknown, format: Format): string =>
  format === 'JSON' ? `${JSON.stringify(value, null, 2)}\n` : stringify(value, { lineWidth: 110 })

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0
const record = (value: unknown) => value as { readonly [key: string]: unknown }
const without = (value: object, isDefault: (key: string, value: unknown) => boolean) =>
  Object.fromEntries(Object.entries(value).filter(([key, each]) => !isDefault(key, each)))

function isDefaultField(key: string, value: unknown): boolean {
  switch (key) {
    case 'governs':
    case 'startRules':
      return isEmpty(value)
    case 'handoffTo':
      return value === null
    case 'extraction':
      return value === false
    case 'staleIntent':
      return value === 'ALLOW'
    case 'completion':
      return Object.keys(record(value)).length === 0
    default:
      return false
  }
}
const completionAsWritten = (value: object) =>
  without(
    value,
    (key, each) =>
      each === false ||
      each === 'NONE' ||
      (key === 'requiredFacts' && Object.keys(record(each)).length === 0),
  )

/** The order in which a person writes them; the server keeps them in none. */
const keys = {
  definition: [
    'id',
    'version',
    'title',
    'initialPhase',
    'phases',
    'governs',
    'completion',
    'extraction',
    'handoffTo',
    'staleIntent',
    'startRules',
  ],
  phase: ['name', 'allowedActions', 'needsApproval', 'transitions', 'final'],
  transition: ['to', 'on', 'when', 'action', 'ok'],
  completion: ['requiredFacts', 'requirements', 'strict'],
  rule: ['id', 'anyOf', 'noneOf'],
}
const ordered = (value: object, order: readonly string[]) =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)))
const transitionAsWritten = (value: unknown) => {
  const { on, ...rest } = record(value)
  return ordered({ ...rest, ...(on ? { on: ordered(on, keys.transition) } : {}) }, keys.transition)
}
const phaseAsWritten = (value: unknown) => {
  const { transitions, ...rest } = record(value)
  const whole = { ...rest, transitions: (transitions as unknown[]).map(transitionAsWritten) }
  return ordered(
    without(whole, (_key, each) => isEmpty(each) || each === false),
    keys.phase,
  )
}

/** A definition of the server's without what is there by default anyway: what a person would have written. */
export function asWritten(definition: unknown): unknown {
  const { phases, completion, startRules, ...rest } = record(definition)
  const whole = {
    ...rest,
    phases: (phases as unknown[]).map(phaseAsWritten),
    completion: ordered(completionAsWritten(record(completion)), keys.completion),
    startRules: (startRules as object[]).map((rule) => ordered(rule, keys.rule)),
  }
  return ordered(without(whole, isDefaultField), keys.definition)
}
