import { type Db, Prisma, type Tx } from '../../../platform/database.ts'
import type { ProjectEventType } from '../../../platform/journal.ts'
import type { Position } from './rules.ts'

type Reader = Db | Tx

export interface ProjectEventRow {
  projectId: string
  xid: bigint
  position: bigint
  type: ProjectEventType
  sessionId: string | null
  runId: string | null
  subjectId: string | null
  payload: unknown
  at: Date
}
export interface FeedFilter {
  types?: readonly string[] | undefined
  sessionIds?: readonly string[] | undefined
}

/**
 * The lowest transaction id that this statement's snapshot doesn't see and that may still write to this database; above
 * all that are under way where there is none. The snapshot counts the whole cluster's transactions: those whose process
 * is in another database are left out, so that none there, however long, holds this feed up. One that can't be found
 * has just ended and still bounds, for the snapshot doesn't see it.
 */
export const horizon = Prisma.sql`(
  SELECT coalesce(min(running), pg_snapshot_xmax(pg_current_snapshot())) FROM pg_snapshot_xip(pg_current_snapshot()) AS running
   WHERE NOT EXISTS (
     SELECT FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.transactionid = running::xid
        AND a.datname <> current_database()))`

/**
 * Where the project's kept feed begins; its latest event below the horizon, from which a watch of what comes starts; and
 * its newest one of all, the last that a cursor can have been made of. Each is the floor where there is none.
 */
export interface FeedBounds {
  floor: Position
  latest: Position
  newest: Position
  incarnation: string
}
export async function feedBounds(db: Reader, projectId: string): Promise<FeedBounds | null> {
  const last = (bound: Prisma.Sql) => Prisma.sql`
    LEFT JOIN LATERAL (
      SELECT e.xid::text::bigint AS xid, e.position FROM project_events e
       WHERE e.project_id = l.project_id AND ${bound} ORDER BY e.xid DESC, e.position DESC LIMIT 1)`
  const rows = await db.$queryRaw<
    {
      xid: bigint
      position: bigint
      latestXid: bigint
      latestPosition: bigint
      newestXid: bigint
      newestPosition: bigint
      incarnation: string
    }[]
  >(Prisma.sql`
    SELECT l.feed_floor_xid AS xid, l.feed_floor_position AS position, i.incarnation,
           coalesce(latest.xid, l.feed_floor_xid) AS "latestXid", coalesce(latest.position, l.feed_floor_position) AS "latestPosition",
           coalesce(newest.xid, l.feed_floor_xid) AS "newestXid", coalesce(newest.position, l.feed_floor_position) AS "newestPosition"
      FROM project_load l CROSS JOIN installation i
      ${last(Prisma.sql`e.xid < ${horizon}`)} latest ON true
      ${last(Prisma.sql`true`)} newest ON true
     WHERE l.project_id = ${projectId}::uuid`)
  const row = rows[0]
  return row
    ? {
        floor: { xid: row.xid, position: row.position },
        latest: { xid: row.latestXid, position: row.latestPosition },
        newest: { xid: row.newestXid, position: row.newestPosition },
        incarnation: row.incarnation,
      }
    : null
}

/**
 * Events beyond a position and below the horizon, in the global order. A commit that finishes late has an older
 * transaction id, and the horizon waits for it: nothing is ever skipped. `pending`: newer ones wait beyond the horizon.
 */
export async function eventsBeyond(
  db: Reader,
  projectId: string,
  after: Position,
  most: number,
  filter: FeedFilter,
): Promise<{ events: ProjectEventRow[]; pending: boolean }> {
  const beyond = Prisma.sql`project_id = ${projectId}::uuid AND (xid, position) > (${after.xid.toString()}::xid8, ${after.position})`
  const events = await db.$queryRaw<(ProjectEventRow & { pending: boolean })[]>(Prisma.sql`
    SELECT project_id AS "projectId", xid::text::bigint AS xid, position, type, session_id AS "sessionId", run_id AS "runId",
           subject_id AS "subjectId", payload, at
      FROM project_events
     WHERE ${beyond} AND xid < ${horizon}
       AND (${filter.types ?? null}::text[] IS NULL OR type = ANY (${filter.types ?? null}::text[]))
       AND (${filter.sessionIds ?? null}::uuid[] IS NULL OR session_id = ANY (${filter.sessionIds ?? null}::uuid[]))
     ORDER BY project_events.xid, project_events.position LIMIT ${most}`)
  if (events.length === most) return { events, pending: false }
  const waiting = await db.$queryRaw<{ one: number }[]>(Prisma.sql`
    SELECT 1 AS one FROM project_events WHERE ${beyond} AND xid >= ${horizon} LIMIT 1`)
  return { events, pending: waiting.length > 0 }
}

export const eventsByPosition = (db: Reader, projectId: string, position: bigint) => db.$queryRaw<
  ProjectEventRow[]
>`
  SELECT project_id AS "projectId", xid::text::bigint AS xid, position, type, session_id AS "sessionId", run_id AS "runId",
         subject_id AS "subjectId", payload, at
    FROM project_events WHERE project_id = ${projectId}::uuid AND position = ${position}`
