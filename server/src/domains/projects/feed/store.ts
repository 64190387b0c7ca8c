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
 * The horizon: below this transaction id nothing new can appear any more. Where the project's kept feed begins, and its
 * latest event below the horizon (or the floor). Cursors are made of events only: after a crash the database may give out
 * transaction ids again that nothing committed had used.
 */
export interface FeedBounds {
  horizon: bigint
  floor: Position
  latest: Position
  incarnation: string
}
export async function feedBounds(db: Reader, projectId: string): Promise<FeedBounds | null> {
  const rows = await db.$queryRaw<
    {
      horizon: bigint
      xid: bigint
      position: bigint
      latestXid: bigint
      latestPosition: bigint
      incarnation: string
    }[]
  >`
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon, l.feed_floor_xid AS xid, l.feed_floor_position AS position,
           coalesce(e.xid::text::bigint, l.feed_floor_xid) AS "latestXid", coalesce(e.position, l.feed_floor_position) AS "latestPosition",
           i.incarnation
      FROM project_load l CROSS JOIN installation i
      LEFT JOIN LATERAL (
        SELECT e.xid, e.position FROM project_events e
         WHERE e.project_id = l.project_id AND e.xid < pg_snapshot_xmin(pg_current_snapshot())
         ORDER BY e.xid DESC, e.position DESC LIMIT 1) e ON true
     WHERE l.project_id = ${projectId}::uuid`
  const row = rows[0]
  return row
    ? {
        horizon: row.horizon,
        floor: { xid: row.xid, position: row.position },
        latest: { xid: row.latestXid, position: row.latestPosition },
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
     WHERE ${beyond} AND xid < pg_snapshot_xmin(pg_current_snapshot())
       AND (${filter.types ?? null}::text[] IS NULL OR type = ANY (${filter.types ?? null}::text[]))
       AND (${filter.sessionIds ?? null}::uuid[] IS NULL OR session_id = ANY (${filter.sessionIds ?? null}::uuid[]))
     ORDER BY project_events.xid, project_events.position LIMIT ${most}`)
  if (events.length === most) return { events, pending: false }
  const waiting = await db.$queryRaw<{ one: number }[]>(Prisma.sql`
    SELECT 1 AS one FROM project_events WHERE ${beyond} AND xid >= pg_snapshot_xmin(pg_current_snapshot()) LIMIT 1`)
  return { events, pending: waiting.length > 0 }
}

export const eventsByPosition = (db: Reader, projectId: string, position: bigint) => db.$queryRaw<
  ProjectEventRow[]
>`
  SELECT project_id AS "projectId", xid::text::bigint AS xid, position, type, session_id AS "sessionId", run_id AS "runId",
         subject_id AS "subjectId", payload, at
    FROM project_events WHERE project_id = ${projectId}::uuid AND position = ${position}`
