import type { SessionEvent, SessionEventType } from './session-event.ts'

/**
 * The stretch of a journal that the timeline holds: every event from `from` to `to` that the filter
 * lets through, and nothing else. It grows by cursor at either end, whatever the history's length.
 *
 *   attached: `to` keeps up with the journal's end and arriving events are appended (or held while paused)
 *   detached: the reader looks at an older stretch; arriving events are only counted
 */
export interface EventWindow {
  events: readonly SessionEvent[]
  from: number
  to: number
  /** First sequence that retention has left. */
  earliest: number
  latest: number
  attached: boolean
  paused: boolean
  /** Arrived while paused, following `to` without a hole; not shown yet. */
  held: readonly SessionEvent[]
  /** How many arrived that the reader has not been shown. */
  unseen: number
}

export interface EventFilter {
  types: readonly SessionEventType[]
  runIds: readonly string[]
}

export const noFilter: EventFilter = { types: [], runIds: [] }

/** Held while paused; beyond it they are fetched by cursor when the reader goes on. */
export const MOST_HELD = 2_000
/** Kept while following the live edge; what falls off at the front is fetched again on scrolling up. */
export const MOST_FOLLOWED = 6_000
const TRIMMED_TO = 4_000

export function passes(filter: EventFilter, event: SessionEvent): boolean {
  const { types, runIds } = filter
  return (
    (types.length === 0 || types.includes(event.type)) &&
    (runIds.length === 0 || (event.runId !== null && runIds.includes(event.runId)))
  )
}

export interface JournalPage {
  events: readonly SessionEvent[]
  /** The far end of what was scanned for this page: above it all is known (or below it, reading forward). */
  cursor: number
  hasMore: boolean
  latest: number
  earliest: number
}

/** The window of a page that was read backwards from `before` (exclusive; the end when null). */
export function windowBefore(page: JournalPage, before: number | null): EventWindow {
  const to = before === null ? page.latest : Math.min(before - 1, page.latest)
  return {
    events: page.events,
    from: lowerEnd(page),
    to,
    earliest: page.earliest,
    latest: page.latest,
    attached: to >= page.latest,
    paused: false,
    held: [],
    unseen: 0,
  }
}

/** An empty window between two events, to be grown in both directions. */
export function windowAfter(page: JournalPage, after: number): EventWindow {
  const empty: EventWindow = {
    events: [],
    from: after + 1,
    to: after,
    earliest: page.earliest,
    latest: page.latest,
    attached: false,
    paused: false,
    held: [],
    unseen: 0,
  }
  return grownLater(empty, page)
}

export function grownEarlier(window: EventWindow, page: JournalPage): EventWindow {
  const added = page.events.filter((event) => event.sequence < window.from)
  const events = added.length === 0 ? window.events : [...added, ...window.events]
  return { ...window, events, from: Math.min(window.from, lowerEnd(page)), earliest: page.earliest }
}

export function grownLater(window: EventWindow, page: JournalPage): EventWindow {
  const added = page.events.filter((event) => event.sequence > window.to)
  const to = Math.max(window.to, page.hasMore ? page.cursor : Math.max(page.cursor, page.latest))
  const latest = Math.max(window.latest, page.latest)
  const attached = to >= latest
  const events = added.length === 0 ? window.events : [...window.events, ...added]
  return { ...window, events, to, latest, attached, unseen: attached ? 0 : window.unseen }
}

/** @param reading the reader is away from the live edge: nothing is trimmed, and what comes is unseen */
export function withArrived(
  window: EventWindow,
  arrived: readonly SessionEvent[],
  filter: EventFilter,
  reading: boolean,
): EventWindow {
  const end = arrived.at(-1)?.sequence
  if (end === undefined || end <= window.latest) return window
  const fresh = arrived.filter((event) => event.sequence > window.latest && passes(filter, event))
  const latest = end
  const unseen = reading || window.paused || !window.attached ? window.unseen + fresh.length : 0
  if (!window.attached) return { ...window, latest, unseen }
  if (window.paused) {
    if (window.held.length + fresh.length > MOST_HELD)
      return { ...window, latest, unseen, held: [], attached: false }
    return { ...window, latest, unseen, held: [...window.held, ...fresh] }
  }
  // A reader far from the edge should not pay for what arrives there.
  if (reading && window.events.length + fresh.length > MOST_FOLLOWED)
    return { ...window, latest, unseen, attached: false }
  return trimmed({ ...window, latest, to: latest, unseen, events: [...window.events, ...fresh] })
}

function trimmed(window: EventWindow): EventWindow {
  if (window.events.length <= MOST_FOLLOWED) return window
  const events = window.events.slice(-TRIMMED_TO)
  return { ...window, events, from: events[0]?.sequence ?? window.from }
}

export function paused(window: EventWindow): EventWindow {
  return { ...window, paused: true }
}

/** Shows what was held. Where more arrived than was held the window stays detached. */
export function resumed(window: EventWindow): EventWindow {
  if (!window.attached) return { ...window, paused: false }
  const events = window.held.length === 0 ? window.events : [...window.events, ...window.held]
  return { ...window, paused: false, held: [], events, to: window.latest, unseen: 0 }
}

export function seen(window: EventWindow): EventWindow {
  return window.unseen === 0 || window.paused || !window.attached ? window : { ...window, unseen: 0 }
}

export function hasEarlier(window: EventWindow): boolean {
  return window.from > window.earliest
}

function lowerEnd(page: JournalPage): number {
  return page.hasMore ? page.cursor : page.earliest
}
