import type { Logger } from '../../../platform/logger.ts'
import { invalid, notFound, Refusal } from '../../../platform/refusal.ts'
import { type News, Tail } from '../../../platform/tail.ts'
import type { Platform } from '../../../platform/transaction.ts'
import { Watch } from '../../../platform/watch.ts'
import { isBeyond, type Position, readFeedCursor, writeFeedCursor } from './rules.ts'
import * as store from './store.ts'

export type { FeedFilter, ProjectEventRow } from './store.ts'
export type ProjectWatch = Watch<store.ProjectEventRow, Position>
export type ProjectTail = Tail<store.ProjectEventRow, Position>

const pageSize = 500
const pollMs = 1_000
const queueSize = 1_024
const start: Position = { xid: 0n, position: 0n }

/** Where an event stands in the global order. */
export const positionOf = (event: store.ProjectEventRow): Position => ({
  xid: event.xid,
  position: event.position,
})

async function boundsOf(platform: Platform, projectId: string): Promise<store.FeedBounds> {
  const bounds = await store.feedBounds(platform.db, projectId)
  if (!bounds) throw notFound()
  return bounds
}

const beyondLatest = () => new Refusal('INVALID_CURSOR', 'The cursor lies beyond the latest event.')

/** The tail of every watched project of this process. */
export const openProjectTail = (platform: Platform, log: Logger): ProjectTail =>
  new Tail<store.ProjectEventRow, Position>({
    log,
    pollMs,
    async read(topics) {
      const news = new Map<string, News<store.ProjectEventRow, Position>>()
      for (const { key, cursor } of topics) {
        const { events, pending } = await store.eventsBeyond(platform.db, key, cursor, pageSize, {})
        const lastEvent = events.at(-1)
        news.set(key, {
          items: events,
          cursor: lastEvent ? positionOf(lastEvent) : cursor,
          more: events.length === pageSize,
          soon: pending,
        })
      }
      return news
    },
  })

/**
 * Watches everything in a project, after a cursor or from now on. A cursor of another incarnation of the database, or
 * older than what is kept, ends at once with REPLAY_GAP. `visible` are the sessions whose events may be shown.
 */
export async function watchProject(
  platform: Platform,
  tail: ProjectTail,
  projectId: string,
  args: { after?: string | null | undefined; filter: store.FeedFilter; visible: 'all' | string[] },
): Promise<{ watch: ProjectWatch; cursorText: (at: Position) => string }> {
  const bounds = await boundsOf(platform, projectId)
  const now = bounds.latest
  const read = args.after == null ? now : readFeedCursor(bounds.incarnation, args.after)
  if (read instanceof Refusal) throw read
  const after = read === 'other' ? start : read
  if (isBeyond(after, bounds.newest)) throw beyondLatest()
  const types = args.filter.types && new Set(args.filter.types)
  const sessions = args.filter.sessionIds && new Set(args.filter.sessionIds)
  const visible = args.visible === 'all' ? null : new Set(args.visible)
  const accepts = (event: store.ProjectEventRow) =>
    (!types || types.has(event.type)) &&
    (!sessions || (event.sessionId !== null && sessions.has(event.sessionId))) &&
    (!visible || (event.sessionId !== null && visible.has(event.sessionId)))
  const watch: ProjectWatch = new Watch<store.ProjectEventRow, Position>({
    after,
    queueSize,
    stream: { cursorOf: positionOf, beyond: isBeyond },
    accepts,
    async replay(from, most) {
      // Taken before the read: whatever the tail had passed by then, the read sees.
      const tailAt = tail.position(projectId, from)
      const reached = isBeyond(tailAt, from) ? tailAt : from
      // Read whole and filtered here, so that the cursor moves with what was looked at.
      const { events } = await store.eventsBeyond(platform.db, projectId, from, Math.min(most, pageSize), {})
      // Asked after the read: whatever retention removed before it, the floor tells.
      const { floor } = await boundsOf(platform, projectId)
      if (isBeyond(floor, from))
        return { items: [], scannedThrough: from, end: 'REPLAY_GAP', earliest: floor }
      const lastEvent = events.at(-1)
      const accepted = events.filter(accepts)
      return {
        items: accepted,
        scannedThrough: lastEvent ? positionOf(lastEvent) : reached,
      }
    },
    tail: () => tail.position(projectId, now),
    onGone: () => tail.leave(projectId, watch),
  })
  tail.join(projectId, now, watch)
  if (read === 'other') watch.end('REPLAY_GAP', bounds.floor)
  return { watch, cursorText: (at) => writeFeedCursor(bounds.incarnation, at) }
}

/** A page of the feed after a cursor (absent: from where it is kept), in order. `first` 1..500, default 100. */
export async function readFeed(
  platform: Platform,
  projectId: string,
  args: { after?: string | null | undefined; first?: number | null | undefined; filter: store.FeedFilter },
): Promise<{
  events: store.ProjectEventRow[]
  cursor: string
  hasMore: boolean
  cursorText: (at: Position) => string
}> {
  const first = args.first ?? 100
  if (first < 1 || first > pageSize) throw invalid('first', `must be 1 to ${pageSize}`)
  const bounds = await boundsOf(platform, projectId)
  const read = args.after == null ? bounds.floor : readFeedCursor(bounds.incarnation, args.after)
  if (read instanceof Refusal) throw read
  if (read === 'other' || isBeyond(bounds.floor, read)) {
    throw new Refusal('INVALID_CURSOR', 'The feed is not kept that far back.')
  }
  if (isBeyond(read, bounds.newest)) throw beyondLatest()
  const { events } = await store.eventsBeyond(platform.db, projectId, read, first + 1, args.filter)
  const page = events.slice(0, first)
  const lastEvent = page.at(-1)
  const cursorText = (at: Position) => writeFeedCursor(bounds.incarnation, at)
  return {
    events: page,
    cursor: cursorText(lastEvent ? positionOf(lastEvent) : read),
    hasMore: events.length > first,
    cursorText,
  }
}

/** One event of a project's feed by its position, with its cursor. */
export async function loadProjectEvent(platform: Platform, projectId: string, position: bigint) {
  const [event] = await store.eventsByPosition(platform.db, projectId, position)
  if (!event) return null
  const { incarnation } = await boundsOf(platform, projectId)
  return { event, cursor: writeFeedCursor(incarnation, positionOf(event)) }
}
