import type { InputIssue } from './refusal.ts'
import { jsonFlaw } from './strict-json.ts'

/** The first place in an input that holds a text which could not be kept as it is (NUL, lone surrogate). */
export function textIssues(input: unknown): InputIssue[] {
  const flaw = jsonFlaw(withoutDates(input))
  return flaw ? [flaw] : []
}

/** Inputs are JSON but for parsed dates and absent fields. */
function withoutDates(value: unknown, depth = 0): unknown {
  if (value === undefined || value instanceof Date) return null
  if (depth > 70 || value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((item) => withoutDates(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutDates(item, depth + 1)]))
}
