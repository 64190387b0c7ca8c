import type { Problem } from '../../data/outcome.ts'
import { idleTail, type TailState } from './event-tail.ts'
import {
  type EventFilter,
  type EventWindow,
  grownEarlier,
  grownLater,
  hasEarlier,
  noFilter,
  paused,
  resumed,
  seen,
  windowAfter,
  windowBefore,
  withArrived,
} from './event-window.ts'
import type { SessionFollower } from './follow-session.ts'
import { JournalError, PAGE, readAfter, readBefore } from './read-journal.ts'
import type { SessionEvent } from './session-event.ts'
import type { TimelineMode, TimelineModel } from './timeline-draft.ts'
import { appendEvents, buildTimeline, emptyTimeline } from './timeline-rows.ts'
import { followJournal } from './watch-journal.ts'

export interface JournalSnapshot {
  /** The stretch that the timeline shows; undefined until its first page is there. */
  window: EventWindow | undefined
  timeline: TimelineModel
  tail: TailState
  /** Where the reader was last taken; a new object each time, so that the page scrolls there once. */
  place: { at: 'start' | 'edge' | number } | undefined
  busy: 'opening' | 'earlier' | 'later' | undefined
  problem: Problem | undefined
}

export interface SessionJournal {
  snapshot(): JournalSnapshot
  subscribe(listener: () => void): () => void
  /** Each event that the tail delivers, once and in order, whatever the timeline's filter. */
  onEvents(listener: (events: readonly SessionEvent[]) => void): () => void
  /** Begins to read and to follow. @param at event to open around; the live edge when omitted */
  start(at?: number): void
  stop(): void
  show(mode: TimelineMode, filter: EventFilter): void
  openAt(sequence: number): void
  openStart(): void
  openEdge(): void
  loadEarlier(): void
  loadLater(): void
  pause(): void
  goOn(): void
  /** The sequence after which the tail began; undefined before. */
  startedAfter(): number | undefined
  /** Tells whether the reader is away from the live edge. */
  reading(away: boolean): void
  retryTail(): void
  /** Follows again a session that was closed and is open now. */
  followAgain(): void
}

/** One session's journal in the browser: a loaded stretch, its rows and the live tail, without React. */
export function createSessionJournal(sessionId: string): SessionJournal {
  let state: JournalSnapshot = {
    window: undefined,
    timeline: emptyTimeline('compact'),
    tail: idleTail,
    place: undefined,
    busy: undefined,
    problem: undefined,
  }
  let filter: EventFilter = noFilter
  let away = false
  let follower: SessionFollower | undefined
  /** Answers of reads that were overtaken by another opening are dropped. */
  let reading = 0
  /** The last sequence that the tail handed on. */
  let delivered = 0
  let startedAfter: number | undefined
  const listeners = new Set<() => void>()
  const eventListeners = new Set<(events: readonly SessionEvent[]) => void>()

  const set = (change: Partial<JournalSnapshot>) => {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
  }

  const replace = (window: EventWindow, change: Partial<JournalSnapshot> = {}) =>
    set({ ...change, window, timeline: buildTimeline(state.timeline.mode, window.events) })

  const arrive = (events: readonly SessionEvent[]) => {
    delivered = events.at(-1)?.sequence ?? delivered
    for (const listener of eventListeners) listener(events)
    const before = state.window
    if (before === undefined) return
    const window = withArrived(before, events, filter, away)
    if (window === before) return
    const added = window.events.length - before.events.length
    if (window.events === before.events) set({ window })
    else if (window.from !== before.from) replace(window)
    else set({ window, timeline: appendEvents(state.timeline, window.events.slice(-added)) })
  }

  const follow = (after: number) => {
    startedAfter ??= after
    follower ??= followJournal(sessionId, arrive, (tail) => set({ tail }))
    follower.start(after)
  }

  const read = async (
    busy: JournalSnapshot['busy'],
    work: () => Promise<EventWindow>,
    goTo: () => 'start' | 'edge' | number | undefined = () => undefined,
  ) => {
    const mine = ++reading
    set({ busy, problem: undefined })
    try {
      const window = await work()
      const at = goTo()
      if (mine === reading) caughtUp(window, at === undefined ? {} : { place: { at } })
    } catch (error) {
      if (mine === reading) set({ busy: undefined, problem: problemOf(error) })
    }
  }

  /** Events that the tail delivered while a page was on its way are missing in it: read on from there. */
  const caughtUp = (window: EventWindow, change: Partial<JournalSnapshot>) => {
    const known = Math.max(window.latest, delivered)
    const attached = window.attached && known <= window.to
    replace({ ...window, latest: known, attached }, { ...change, busy: undefined })
    if (state.tail.name === 'idle') follow(known)
    if (window.attached && !attached) journal.loadLater()
  }

  const openEdge = async () => {
    away = false
    return windowBefore(await readBefore(sessionId, null, filter), null)
  }

  const openAround = async (sequence: number) => {
    away = true
    const [earlier, later] = await Promise.all([
      readBefore(sessionId, sequence + 1, filter, PAGE / 2),
      readAfter(sessionId, sequence, filter, PAGE / 2),
    ])
    return grownLater(windowBefore(earlier, sequence + 1), later)
  }

  const journal: SessionJournal = {
    snapshot: () => state,
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    onEvents: (listener) => {
      eventListeners.add(listener)
      return () => eventListeners.delete(listener)
    },
    start: (at) =>
      void read(
        'opening',
        () => (at === undefined ? openEdge() : openAround(at)),
        () => at ?? 'edge',
      ),
    stop: () => {
      reading++
      follower?.stop()
      follower = undefined
      startedAfter = undefined
      state = { ...state, tail: idleTail }
    },
    show: (mode, next) => {
      const sameFilter =
        next.types.join() === filter.types.join() && next.runIds.join() === filter.runIds.join()
      if (mode !== state.timeline.mode) set({ timeline: buildTimeline(mode, state.window?.events ?? []) })
      if (sameFilter) return
      filter = next
      if (state.window !== undefined || state.problem !== undefined)
        void read('opening', openEdge, () => 'edge')
    },
    openAt: (sequence) =>
      void read(
        'opening',
        () => openAround(sequence),
        () => sequence,
      ),
    openStart: () => {
      const { window } = state
      away = true
      if (window !== undefined && !hasEarlier(window) && window.events.length > 0)
        set({ place: { at: 'start' } })
      else
        void read(
          'opening',
          async () => windowAfter(await readAfter(sessionId, 0, filter), 0),
          () => 'start',
        )
    },
    openEdge: () => {
      const { window } = state
      away = false
      if (window?.attached) replace(seen(resumed(window)), { place: { at: 'edge' } })
      else void read('opening', openEdge, () => 'edge')
    },
    loadEarlier: () => {
      const { window, busy } = state
      if (busy !== undefined || window === undefined || !hasEarlier(window)) return
      const { from } = window
      const older = async () => {
        const page = await readBefore(sessionId, from, filter)
        return grownEarlier(state.window ?? window, page)
      }
      // Who is at the live edge stays there, however much grows above: a page may fold into less than a screen of rows.
      void read('earlier', older, () => (away || !window.attached ? undefined : 'edge'))
    },
    loadLater: () => {
      const { window, busy } = state
      if (busy !== undefined || window === undefined || window.attached || window.paused) return
      const { to } = window
      void read('later', async () => {
        const page = await readAfter(sessionId, to, filter)
        return grownLater(state.window ?? window, page)
      })
    },
    pause: () => state.window && set({ window: paused(state.window) }),
    goOn: () => {
      const { window } = state
      if (window === undefined) return
      replace(resumed(window))
      if (!window.attached) journal.loadLater()
    },
    startedAfter: () => startedAfter,
    reading: (next) => {
      away = next
      const { window } = state
      if (next || window === undefined) return
      const looked = seen(window)
      if (looked !== window) set({ window: looked })
    },
    retryTail: () => follower?.resume(),
    followAgain: () => {
      const { tail } = state
      if (tail.name === 'ended') follow(tail.cursor)
    },
  }
  return journal
}

function problemOf(error: unknown): Problem {
  return error instanceof JournalError
    ? { code: error.code, message: error.message, retryable: error.code === 'NETWORK' }
    : { code: 'INTERNAL', message: String(error), retryable: false }
}
