import { type Db, Prisma } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'
import type { BindingRow, RevisionRow } from '../../intents/operations.ts'
import type { ApprovalRow, RouteRow, RunRow } from '../../runs/operations.ts'
import type { SegmentRow } from '../../runs/segments/operations.ts'
import type { CheckpointRow } from '../forks/operations.ts'
import type { EventRow } from '../journal/operations.ts'
import type { MessageRow, SessionRow } from '../operations.ts'

/** Rows of a page, and the size beyond which a page ends early: rows can be large. */
const pageRows = 500
const pageBytes = 4 * 1024 * 1024

/** The rows of `page` up to `pageBytes`, at least one. `page` is in order, `size` a column of it. */
const bounded = (page: Prisma.Sql, order: Prisma.Sql) => Prisma.sql`
  SELECT * FROM (SELECT p.*, sum(p.size) OVER (ORDER BY ${order}) - p.size AS before FROM (${page} LIMIT ${pageRows}) p) p
   WHERE p.before < ${pageBytes} ORDER BY ${order}`

/** Events with sequence in (after, through], of these types or of all. */
export const eventPage = (
  db: Db,
  session: Ref,
  after: number,
  through: number,
  types: readonly string[] | null,
) =>
  db.$queryRaw<EventRow[]>(
    bounded(
      Prisma.sql`
    SELECT e.project_id AS "projectId", e.session_id AS "sessionId", e.sequence, e.run_id AS "runId", e.run_sequence AS "runSequence",
           e.type, e.payload, e.at, pg_column_size(e.payload) AS size
      FROM session_events e
     WHERE e.project_id = ${session.projectId}::uuid AND e.session_id = ${session.id}::uuid
       AND e.sequence > ${after} AND e.sequence <= ${through} AND (${types}::text[] IS NULL OR e.type = ANY (${types}::text[]))
     ORDER BY e.sequence`,
      Prisma.sql`p.sequence`,
    ),
  )

export const messagePage = (db: Db, session: Ref, after: number, through: number) =>
  db.$queryRaw<MessageRow[]>(
    bounded(
      Prisma.sql`
    SELECT m.project_id AS "projectId", m.id, m.session_id AS "sessionId", m.sequence, m.author_id AS "authorId", m.authority,
           m.run_id AS "runId", m.answers_id AS "answersId", m.text, m.at, pg_column_size(m.text) AS size
      FROM messages m
     WHERE m.project_id = ${session.projectId}::uuid AND m.session_id = ${session.id}::uuid
       AND m.sequence > ${after} AND m.sequence <= ${through} ORDER BY m.sequence`,
      Prisma.sql`p.sequence`,
    ),
  )

const of = (session: Ref) => ({ projectId: session.projectId, sessionId: session.id })

export const runPage = (db: Db, session: Ref, after: number, through: number): Promise<RunRow[]> =>
  db.run.findMany({
    where: { ...of(session), number: { gt: after, lte: through } },
    orderBy: { number: 'asc' },
    take: pageRows,
  })

/** Ids are in the order of time. Asks can carry large payloads, so their pages are short. */
export const approvalPage = (db: Db, session: Ref, after: string, until: Date): Promise<ApprovalRow[]> =>
  db.approval.findMany({
    where: { ...of(session), id: { gt: after }, createdAt: { lte: until } },
    orderBy: { id: 'asc' },
    take: 20,
  })

export const routePage = (db: Db, session: Ref, after: string, until: Date): Promise<RouteRow[]> =>
  db.routeDecision.findMany({
    where: { ...of(session), id: { gt: after }, at: { lte: until } },
    orderBy: { id: 'asc' },
    take: pageRows,
  })

/** The session's revisions, and the one of another session that it was forked at. They can be large, so pages are short. */
export const revisionPage = (
  db: Db,
  session: SessionRow,
  after: string,
  until: Date,
): Promise<RevisionRow[]> =>
  db.intentRevision.findMany({
    where: {
      projectId: session.projectId,
      OR: [
        { sessionId: session.id },
        ...(session.forkRevisionId === null ? [] : [{ id: session.forkRevisionId }]),
      ],
      AND: [{ id: { gt: after } }],
      at: { lte: until },
    },
    orderBy: { id: 'asc' },
    take: 20,
  })

/** What is numbered within something else is read in the order of both. */
export type NumberedWithin = [id: string, number: number]

export const bindingPage = (
  db: Db,
  session: Ref,
  [runId, number]: NumberedWithin,
  until: Date,
): Promise<BindingRow[]> =>
  db.runIntentBinding.findMany({
    where: {
      ...of(session),
      at: { lte: until },
      OR: [{ runId: { gt: runId } }, { runId, number: { gt: number } }],
    },
    orderBy: [{ runId: 'asc' }, { number: 'asc' }],
    take: pageRows,
  })

export type RequirementStateRow = Prisma.RequirementStateGetPayload<object>
export const requirementStatePage = (
  db: Db,
  session: SessionRow,
  [requirementId, number]: NumberedWithin,
): Promise<RequirementStateRow[]> =>
  db.requirementState.findMany({
    where: {
      ...of(session),
      sequence: { lte: session.lastSequence },
      OR: [{ requirementId: { gt: requirementId } }, { requirementId, number: { gt: number } }],
    },
    orderBy: [{ requirementId: 'asc' }, { number: 'asc' }],
    take: pageRows,
  })

export const segmentPage = (db: Db, session: Ref, after: string, until: Date): Promise<SegmentRow[]> =>
  db.protocolSegment.findMany({
    where: { ...of(session), id: { gt: after }, openedAt: { lte: until } },
    orderBy: { id: 'asc' },
    take: pageRows,
  })

export type ActionRow = Prisma.ActionGetPayload<object>
export const actionPage = (db: Db, session: Ref, after: string, until: Date): Promise<ActionRow[]> =>
  db.action.findMany({
    where: { ...of(session), id: { gt: after }, requestedAt: { lte: until } },
    orderBy: { id: 'asc' },
    take: pageRows,
  })

export const checkpointPage = (
  db: Db,
  session: Ref,
  after: number,
  through: number,
): Promise<CheckpointRow[]> =>
  db.checkpoint.findMany({
    where: { ...of(session), number: { gt: after, lte: through } },
    orderBy: { number: 'asc' },
    take: pageRows,
  })
