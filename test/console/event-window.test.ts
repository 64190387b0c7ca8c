import { describe, expect, test } from 'vitest'
import {
  type EventWindow,
  grownEarlier,
  grownLater,
  hasEarlier,
  type JournalPage,
  MOST_FOLLOWED,
  MOST_HELD,
  noFilter,
  paused,
  resumed,
  windowAfter,
  windowBefore,
  withArrived,
} from '../../console/src/domains/sessions/event-window.ts'
import type { SessionEvent } from '../../console/src/domains/sessions/session-event.ts'
import { event, text } from '../kit/console-events.ts'

const journal = (length: number) => Array.from({ length }, (_, n) => event(n + 1, 'INFO', text('x')))
const pageBefore = (all: readonly SessionEvent[], before: number | null, last: number): JournalPage => {
  const events = all.filter((each) => before === null || each.sequence < before).slice(-last)
  const cursor = events[0]?.sequence ?? 1
  return { events, cursor, hasMore: cursor > 1, latest: all.length, earliest: 1 }
}
const pageAfter = (all: readonly SessionEvent[], after: number, first: number): JournalPage => {
  const events = all.filter((each) => each.sequence > after).slice(0, first)
  const cursor = events.at(-1)?.sequence ?? after
  return { events, cursor, hasMore: cursor < all.length, latest: all.length, earliest: 1 }
}
const sequences = (window: EventWindow) => window.events.map((each) => each.sequence)
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)

describe('the stretch of a journal that is loaded', () => {
  const all = journal(1_000)

  test('opens at the end and grows towards the beginning', () => {
    let window = windowBefore(pageBefore(all, null, 100), null)
    expect(sequences(window)).toEqual(range(901, 1_000))
    expect(window.attached).toBe(true)
    for (let n = 0; n < 20 && hasEarlier(window); n++)
      window = grownEarlier(window, pageBefore(all, window.from, 100))
    expect(sequences(window)).toEqual(range(1, 1_000))
  })

  test('opens around an event and grows until it meets the live edge', () => {
    let window = windowAfter(pageAfter(all, 499, 100), 499)
    expect(window.attached).toBe(false)
    for (let n = 0; n < 20 && !window.attached; n++)
      window = grownLater(window, pageAfter(all, window.to, 100))
    expect(sequences(window)).toEqual(range(500, 1_000))
  })

  test('what arrives while detached is counted, not shown', () => {
    const window = windowAfter(pageAfter(all, 499, 100), 499)
    const later = withArrived(window, [event(1_001, 'INFO'), event(1_002, 'INFO')], noFilter, true)
    expect(later.unseen).toBe(2)
    expect(later.events).toBe(window.events)
  })

  test('a filter is honoured by what arrives too', () => {
    const window = windowBefore(pageBefore(all, null, 10), null)
    const filter = { types: ['MESSAGE' as const], runIds: [] }
    const next = withArrived(window, [event(1_001, 'INFO'), event(1_002, 'MESSAGE')], filter, false)
    expect(next.events.at(-1)?.sequence).toBe(1_002)
    expect(next.events).toHaveLength(11)
  })

  test('a pause holds what arrives and going on shows each of it once', () => {
    let window = paused(windowBefore(pageBefore(all, null, 100), null))
    for (let n = 1_001; n <= 1_050; n++) window = withArrived(window, [event(n, 'INFO')], noFilter, false)
    expect(window.unseen).toBe(50)
    expect(sequences(window)).toEqual(range(901, 1_000))
    expect(sequences(resumed(window))).toEqual(range(901, 1_050))
  })

  test('a long pause gives up holding; the rest is fetched by cursor', () => {
    let window = paused(windowBefore(pageBefore(all, null, 100), null))
    const more = journal(1_000 + MOST_HELD + 1).slice(1_000)
    for (const each of more) window = withArrived(window, [each], noFilter, false)
    expect(window.held).toEqual([])
    expect(window.attached).toBe(false)
    expect(resumed(window).events).toBe(window.events)
    expect(window.unseen).toBe(MOST_HELD + 1)
  })

  test('case 05: following for long keeps the memory bounded and the stretch whole', () => {
    let window = windowBefore(pageBefore(all, null, 100), null)
    const more = journal(1_000 + 3 * MOST_FOLLOWED).slice(1_000)
    for (let at = 0; at < more.length; at += 50)
      window = withArrived(window, more.slice(at, at + 50), noFilter, false)
    expect(window.events.length).toBeLessThanOrEqual(MOST_FOLLOWED)
    expect(sequences(window)).toEqual(range(window.from, window.latest))
    expect(hasEarlier(window)).toBe(true)
  })
})
