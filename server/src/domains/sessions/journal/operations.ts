import type { Ref } from '../../../platform/ids.ts'
import type { Logger } from '../../../platform/logger.ts'
import { invalid, notFound, Refusal } from '../../../platform/refusal.ts'
import { type News, Tail } from '../../../platform/tail.ts'
import type { Platform } from '../../../platform/transaction.ts'
import { Watch } from '../../../platform/watch.ts'
import * as store from '../store.ts'

export type { EventFilter, EventRow } from '../store.ts'

/** A page of the journal as the API gives it. Sequences are dense, so the page bounds the work, not the history. */
export interface EventPage {
  events: store.EventRow[]
  cursor: number
  scannedThrough: number
  hasMore: boolean
  latest: number
  earliest: number
}

export const pageLimits = { first: 500, scan: 10_000 }

async function boundsOf(platform: Platform, session: Ref): Promise<store.JournalBounds> {
  const bounds = await store.journalBounds(platform.db, session)
  if (!bounds) throw notFound()
  return bounds
}

const outside = (latest: number) =>
  new Refusal('INVALID_CURSOR', `The cursor must be 0 to ${latest}, the latest event.`)

interface PageArgs {
  filter: store.EventFilter
  scanLimit?: number | null | undefined
}

function checkPage(size: number, scanLimit: number | null | undefined, argument: string): number {
  if (size < 1 || size > pageLimits.first) throw invalid(argument, `must be 1 to ${pageLimits.first}`)
  if (scanLimit != null && (scanLimit < 1 || scanLimit > pageLimits.scan))
    throw invalid('scanLimit', `must be 1 to ${pageLimits.scan}`)
  return scanLimit ?? pageLimits.scan
}

/**
 * Events after a cursor, ascending. `cursor` always moves past what was looked at, at most `scanLimit` (default and
 * most 10 000) positions, so that a filter that matches nothing still gets on.
 */
export async function readEvents(
  platform: Platform,
  session: Ref,
  args: PageArgs & { after: number; first: number },
): Promise<EventPage> {
  const scan = checkPage(args.first, args.scanLimit, 'first')
  const { latest, earliest } = await boundsOf(platform, session)
  if (args.after < 0 || args.after > latest) throw outside(latest)
  const from = Math.max(args.after, earliest - 1)
  const through = Math.min(latest, from + scan)
  const events = await store.eventsBetween(platform.db, session, from, through, args.first, args.filter)
  const scannedThrough = events.length === args.first ? (events.at(-1)?.sequence ?? through) : through
  return {
    events,
    cursor: scannedThrough,
    scannedThrough,
    hasMore: scannedThrough < latest,
    latest,
    earliest,
  }
}

/** The last events before a position (absent: before the end), ascending. `cursor` is the position to go on before. */
export async function readEventsBefore(
  platform: Platform,
  session: Ref,
  args: PageArgs & { before?: number | null | undefined; last: number },
): Promise<EventPage> {
  const scan = checkPage(args.last, args.scanLimit, 'last')
  const { latest, earliest } = await boundsOf(platform, session)
  const before = args.before ?? latest + 1
  if (before < 1 || before > latest + 1) throw outside(latest)
  const lowest = Math.max(earliest - 1, before - 1 - scan)
  const found = await store.eventsBetweenBackwards(
    platform.db,
    session,
    lowest,
    before - 1,
    args.last,
    args.filter,
  )
  const cursor = found.length === args.last ? (found.at(-1)?.sequence ?? lowest + 1) : lowest + 1
  return {
    events: found.reverse(),
    cursor,
    scannedThrough: cursor,
    hasMore: cursor > earliest,
    latest,
    earliest,
  }
}

/** One event by its position. */
export async function readEvent(
  platform: Platform,
  session: Ref,
  sequence: number,
): Promise<store.EventRow | null> {
  if (sequence < 1) return null
  const [event] = await store.eventsBetween(platform.db, session, sequence - 1, sequence, 1, {})
  return event ?? null
}

export type SessionWatch = Watch<store.EventRow, number>
export type SessionTail = Tail<store.EventRow, number>

const newsAtOnce = 500
const pollMs = 1_000
const keyOf = (session: Ref) => `${session.projectId}/${session.id}`
export const sessionTopic = keyOf

const stream = {
  cursorOf: (event: store.EventRow) => event.sequence,
  beyond: (a: number, b: number) => a > b,
}

/** The tail of every watched session of this process. */
export function openSessionTail(platform: Platform, log: Logger): SessionTail {
  return new Tail<store.EventRow, number>({
    log,
    pollMs,
    async read(topics) {
      const watched = topics.map(({ key, cursor }) => {
        const [projectId = '', id = ''] = key.split('/')
        return { projectId, id, after: cursor }
      })
      const rows = new Map(
        (await store.newsOfSessions(platform.db, watched, newsAtOnce)).map((row) => [keyOf(row), row]),
      )
      return new Map<string, News<store.EventRow, number>>(
        topics.map(({ key, cursor }) => {
          const row = rows.get(key)
          if (!row) return [key, 'gone']
          const items = (row.events ?? []).map((event) => ({
            projectId: row.projectId,
            sessionId: row.id,
            ...event,
            at: new Date(event.at),
          }))
          const reached = items.at(-1)?.sequence ?? cursor
          return [key, { items, cursor: reached, more: reached < row.latest }]
        }),
      )
    },
  })
}

export interface WatchArgs {
  after?: number | null | undefined
  queueSize?: number | null | undefined
  filter: store.EventFilter
}

export const queueLimits = { most: 4_096, default: 1_024 }

/**
 * Watches a session: replay after the cursor, then live, in one order. INVALID_CURSOR below 0 or beyond the latest,
 * before anything is registered. On a CLOSED session it replays, then ends SESSION_CLOSED.
 */
export async function watchSession(
  platform: Platform,
  tail: SessionTail,
  session: Ref,
  args: WatchArgs,
): Promise<SessionWatch> {
  const queueSize = args.queueSize ?? queueLimits.default
  if (queueSize < 1 || queueSize > queueLimits.most)
    throw invalid('queueSize', `must be 1 to ${queueLimits.most}`)
  const start = await boundsOf(platform, session)
  const after = args.after ?? start.latest
  if (after < 0 || after > start.latest) throw outside(start.latest)
  const key = keyOf(session)
  const types = args.filter.types && new Set(args.filter.types)
  const runIds = args.filter.runIds && new Set(args.filter.runIds)
  const watch: SessionWatch = new Watch<store.EventRow, number>({
    after,
    queueSize,
    stream,
    accepts: (event) =>
      (!types || types.has(event.type)) && (!runIds || (event.runId !== null && runIds.has(event.runId))),
    replay: (from, most) =>
      replay(
        platform,
        session,
        args.filter,
        { latest: start.latest, closed: start.state === 'CLOSED' },
        from,
        most,
      ),
    tail: () => (start.state === 'CLOSED' ? Number.POSITIVE_INFINITY : tail.position(key, start.latest)),
    // A close that was in the past when the watch began ends nothing: the session may have been opened again.
    endsAt: (event) =>
      event.type === 'SESSION_CLOSED' && event.sequence > start.latest ? 'SESSION_CLOSED' : null,
    onGone: () => tail.leave(key, watch),
  })
  tail.join(key, start.latest, watch)
  return watch
}

interface Start {
  latest: number
  /** Whether the session was closed when the watch began: then the watch is a replay up to that moment. */
  closed: boolean
}

async function replay(
  platform: Platform,
  session: Ref,
  filter: store.EventFilter,
  start: Start,
  from: number,
  most: number,
) {
  const bounds = await store.journalBounds(platform.db, session)
  if (!bounds) return { items: [], scannedThrough: from, end: 'SESSION_DELETED' as const }
  if (from < bounds.earliest - 1) {
    return { items: [], scannedThrough: from, end: 'REPLAY_GAP' as const, earliest: bounds.earliest }
  }
  const wanted = Math.min(most, pageLimits.first)
  const through = Math.min(start.closed ? start.latest : bounds.latest, from + pageLimits.scan)
  const items = await store.eventsBetween(platform.db, session, from, through, wanted, filter)
  if (items[0]?.sequence !== from + 1) {
    // The first may have been filtered out, or removed by retention since the bounds were read.
    const now = await store.journalBounds(platform.db, session)
    if (now && from < now.earliest - 1) {
      return { items: [], scannedThrough: from, end: 'REPLAY_GAP' as const, earliest: now.earliest }
    }
  }
  const scannedThrough = items.length === wanted ? (items.at(-1)?.sequence ?? through) : through
  if (start.closed) {
    return {
      items,
      scannedThrough,
      ...(scannedThrough >= start.latest && { end: 'SESSION_CLOSED' as const }),
    }
  }
  // A close that came after the watch began ends it there, whatever came later.
  const closedAt = await store.firstCloseAfter(
    platform.db,
    session,
    Math.max(from, start.latest),
    scannedThrough,
  )
  if (closedAt === null) return { items, scannedThrough }
  return {
    items: items.filter((event) => event.sequence <= closedAt),
    scannedThrough: closedAt,
    end: 'SESSION_CLOSED' as const,
  }
}
