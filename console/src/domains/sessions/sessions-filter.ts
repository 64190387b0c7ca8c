import type { VariablesOf } from '../../data/graphql.ts'
import type { SessionsSearch } from './search.ts'
import type { SessionsQuery } from './sessions-query.ts'

type Filter = NonNullable<VariablesOf<typeof SessionsQuery>['filter']>
type RunStates = NonNullable<Filter['runStates']>

export const runStates = [
  'OFFERED',
  'RUNNING',
  'WAITING_APPROVAL',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'TIMED_OUT',
] as const satisfies RunStates

export const windows = [1, 24, 24 * 7, 24 * 30] as const

const minute = 60_000

/**
 * The server's filter for an address.
 * @param now epoch milliseconds; rounded to the minute, so that the same address asks the same question
 */
export function filterOf(search: SessionsSearch, now: number): Filter {
  const { q, state, runs, model, waiting, within } = search
  const states = runStates.filter((each) => runs?.includes(each))
  const since = Math.floor(now / minute) * minute - (within ?? 0) * 60 * minute
  return {
    ...(q !== undefined && search.in === undefined ? { text: q } : {}),
    ...(state ? { states: [state] } : {}),
    ...(states.length > 0 ? { runStates: states } : {}),
    ...(model ? { model } : {}),
    ...(waiting ? { pendingApproval: true } : {}),
    ...(within ? { activeAfter: new Date(since).toISOString() } : {}),
  }
}

export function isFiltered(search: SessionsSearch): boolean {
  return Object.keys(filterOf(search, 0)).length > 0
}

export const unfiltered = {
  q: undefined,
  in: undefined,
  state: undefined,
  runs: undefined,
  model: undefined,
  waiting: undefined,
  within: undefined,
} as const satisfies Partial<SessionsSearch>

interface Span {
  start: number
  end: number
}

/** A snippet cut at its highlights, in order; spans that overlap or lie outside are ignored. */
export function highlighted(
  text: string,
  spans: readonly Span[],
): { text: string; hit: boolean; at: number }[] {
  const parts: { text: string; hit: boolean; at: number }[] = []
  let at = 0
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    if (start < at || end > text.length || end <= start) continue
    if (start > at) parts.push({ text: text.slice(at, start), hit: false, at })
    parts.push({ text: text.slice(start, end), hit: true, at: start })
    at = end
  }
  if (at < text.length) parts.push({ text: text.slice(at), hit: false, at })
  return parts
}
