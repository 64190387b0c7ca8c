import { type Db, Prisma, type Tx } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'
import { rowsByRef, tableOf } from '../../../platform/rows.ts'
import { canonicalJson } from '../../../platform/strict-json.ts'
import type { Facts } from '../../protocols/rules.ts'
import type { ActionDecision, Tool } from './rules.ts'

type Reader = Db | Tx
export type ActionRow = Prisma.ActionGetPayload<object>
export type SegmentRow = Prisma.ProtocolSegmentGetPayload<object>

const actions = tableOf('actions', Prisma.ActionScalarFieldEnum)
const segments = tableOf('protocol_segments', Prisma.ProtocolSegmentScalarFieldEnum)
export const actionsByRef = (db: Reader, refs: readonly Ref[]) => rowsByRef<ActionRow>(db, actions, refs)
export const segmentsByRef = (db: Reader, refs: readonly Ref[]) => rowsByRef<SegmentRow>(db, segments, refs)

/** All that the guard looks at, beside the locked session and run. */
export interface Standing {
  segmentId: string
  segmentNumber: number
  revision: number
  protocol: string
  phase: string
  facts: Facts
  activeId: string | null
  relation: string | null
  actionCount: number
  segmentCount: number
  tools: Tool[]
}

/** Where a run stands, in one statement; null once it has ended. */
export async function standingOf(tx: Reader, run: Ref): Promise<Standing | null> {
  const rows = await tx.$queryRaw<Standing[]>`
    SELECT g.id AS "segmentId", g.number AS "segmentNumber", g.revision, g.protocol, g.phase, g.facts, b.active_id AS "activeId",
           b.relation, r.action_count AS "actionCount", r.segment_count AS "segmentCount", t.tools
      FROM runs r
      JOIN runtimes t ON t.project_id = r.project_id AND t.id = r.runtime_id
      JOIN protocol_segments g ON g.project_id = r.project_id AND g.run_id = r.id AND g.state = 'ACTIVE'
      LEFT JOIN LATERAL (
        SELECT active_id, relation FROM run_intent_bindings
         WHERE project_id = r.project_id AND run_id = r.id ORDER BY number DESC LIMIT 1) b ON true
     WHERE r.project_id = ${run.projectId}::uuid AND r.id = ${run.id}::uuid`
  return rows[0] ?? null
}

export interface NewAction extends Ref {
  sessionId: string
  runId: string
  segmentId: string
  number: number
  tool: string
  action: string
  governedBy: string | null
  argumentsDigest: string | null
  protocol: string
  phase: string
  decision: ActionDecision
  code: string | null
  approvalId: string | null
  now: Date
}
/** The row of an action, to be written together with its event. */
export const newAction = (a: NewAction) => Prisma.sql`
  action AS (
    INSERT INTO actions (project_id, id, session_id, run_id, segment_id, number, tool, action, governed_by, arguments_digest, protocol,
                         phase, decision, code, approval_id, requested_at)
    VALUES (${a.projectId}::uuid, ${a.id}::uuid, ${a.sessionId}::uuid, ${a.runId}::uuid, ${a.segmentId}::uuid, ${a.number}::int,
            ${a.tool}, ${a.action}, ${a.governedBy}, ${a.argumentsDigest}, ${a.protocol}, ${a.phase}, ${a.decision}, ${a.code},
            ${a.approvalId}::uuid, ${a.now}::timestamptz)
  )`

/** The result of an action, to be written together with its event. */
export const actionResult = (
  action: Ref,
  r: { ok: boolean; resultDigest: string | null; facts: Facts; now: Date },
) => Prisma.sql`
  action AS (
    UPDATE actions SET ok = ${r.ok}, result_digest = ${r.resultDigest}, facts = ${canonicalJson(r.facts)}::jsonb,
           closed_at = ${r.now}::timestamptz
     WHERE project_id = ${action.projectId}::uuid AND id = ${action.id}::uuid
  )`

/** Another phase, other facts, by compare-and-set on the revision that was seen. */
export const segmentMoved = (
  segment: Ref & { revision: number },
  next: { phase: string; facts: Facts },
) => Prisma.sql`
  segment AS (
    UPDATE protocol_segments SET phase = ${next.phase}, facts = ${canonicalJson(next.facts)}::jsonb, revision = revision + 1
     WHERE project_id = ${segment.projectId}::uuid AND id = ${segment.id}::uuid AND state = 'ACTIVE' AND revision = ${segment.revision}
  )`

export const actionByRef = async (db: Reader, ref: Ref): Promise<ActionRow | null> =>
  (await actionsByRef(db, [ref]))[0] ?? null

/** The action that waits for an approval; null when the ask is about something else. */
export async function waitingFor(tx: Tx, approval: Ref): Promise<(Ref & { action: string }) | null> {
  const rows = await tx.$queryRaw<(Ref & { action: string })[]>`
    SELECT project_id AS "projectId", id, action FROM actions
     WHERE project_id = ${approval.projectId}::uuid AND approval_id = ${approval.id}::uuid AND decision = 'NEEDS_APPROVAL'`
  return rows[0] ?? null
}
/** What an approval came to for the action that waited for it. */
export const decideWaiting = (tx: Tx, action: Ref, decision: 'ALLOWED' | 'DENIED', code: string | null) =>
  tx.$executeRaw`
    UPDATE actions SET decision = ${decision}, code = ${code}
     WHERE project_id = ${action.projectId}::uuid AND id = ${action.id}::uuid AND decision = 'NEEDS_APPROVAL'`

/** The newest segment of each of these runs: the active one while the run lives. */
export const lastSegments = (db: Reader, runs: readonly Ref[]) =>
  db.$queryRaw<SegmentRow[]>(Prisma.sql`
  SELECT DISTINCT ON (project_id, run_id) project_id AS "projectId", id, session_id AS "sessionId", run_id AS "runId", number, protocol,
         state, revision, phase, facts, opened_by AS "openedBy", closed_by AS "closedBy", opened_at AS "openedAt", closed_at AS "closedAt"
    FROM protocol_segments
   WHERE project_id = ANY (${[...new Set(runs.map((run) => run.projectId))]}::uuid[]) AND run_id = ANY (${runs.map((run) => run.id)}::uuid[])
   ORDER BY project_id, run_id, number DESC`)

export const segmentsOfRuns = (db: Reader, runIds: readonly string[]) =>
  db.protocolSegment.findMany({
    where: { runId: { in: [...runIds] } },
    orderBy: [{ runId: 'asc' }, { number: 'asc' }],
  })

/** A page of a run's ledger, oldest first, beyond a number. */
export interface ActionPage {
  run: Ref
  /** 1 to 100. */
  first: number
  beyond: number | null
}
/** A page of a session's segments, newest first, before one. */
export interface SegmentPage {
  session: Ref
  first: number
  before: [at: string, id: string] | null
}

/** Spreads rows over the pages that they were found for, in the order in which they were found. */
async function pagesOf<Row extends Ref>(
  db: Reader,
  pages: number,
  found: (Ref & { page: number })[],
  load: (db: Reader, refs: readonly Ref[]) => Promise<Row[]>,
): Promise<Row[][]> {
  const byId = new Map((await load(db, found)).map((row) => [row.id, row]))
  const lists = Array.from({ length: pages }, (): Row[] => [])
  for (const { page, id } of found) {
    const row = byId.get(id)
    if (row) lists[page - 1]?.push(row)
  }
  return lists
}

/** Pages of the ledgers of any number of runs; one more each than asked for. */
export async function actionPages(db: Reader, pages: readonly ActionPage[]): Promise<ActionRow[][]> {
  const found = await db.$queryRaw<(Ref & { page: number })[]>(Prisma.sql`
    SELECT k.page::int, k.project_id AS "projectId", a.id
      FROM unnest(${pages.map(({ run }) => run.projectId)}::uuid[], ${pages.map(({ run }) => run.id)}::uuid[],
                  ${pages.map(({ beyond }) => beyond)}::int[], ${pages.map(({ first }) => first + 1)}::int[])
           WITH ORDINALITY AS k(project_id, run_id, beyond, most, page)
     CROSS JOIN LATERAL (
       SELECT id, number FROM actions
        WHERE project_id = k.project_id AND run_id = k.run_id AND number > coalesce(k.beyond, 0)
        ORDER BY number LIMIT k.most) a
     ORDER BY k.page, a.number`)
  return pagesOf(db, pages.length, found, actionsByRef)
}

/** Pages of the segments of any number of sessions; one more each than asked for. */
export async function segmentPages(db: Reader, pages: readonly SegmentPage[]): Promise<SegmentRow[][]> {
  const found = await db.$queryRaw<(Ref & { page: number })[]>(Prisma.sql`
    SELECT k.page::int, k.project_id AS "projectId", g.id
      FROM unnest(${pages.map(({ session }) => session.projectId)}::uuid[], ${pages.map(({ session }) => session.id)}::uuid[],
                  ${pages.map(({ before }) => before?.[0] ?? null)}::timestamptz[], ${pages.map(({ before }) => before?.[1] ?? null)}::uuid[],
                  ${pages.map(({ first }) => first + 1)}::int[])
           WITH ORDINALITY AS k(project_id, session_id, at, id, most, page)
     CROSS JOIN LATERAL (
       SELECT id, opened_at FROM protocol_segments
        WHERE project_id = k.project_id AND session_id = k.session_id
          AND (k.at IS NULL OR (opened_at, id) < (k.at, k.id))
        ORDER BY opened_at DESC, id DESC LIMIT k.most) g
     ORDER BY k.page, g.opened_at DESC, g.id DESC`)
  return pagesOf(db, pages.length, found, segmentsByRef)
}

export const together = (rows: Prisma.Sql[]) => Prisma.join(rows, ', ')
