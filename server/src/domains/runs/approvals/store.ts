import type { Db, Tx } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'
import { canonicalJson } from '../../../platform/strict-json.ts'
import type { ApprovalKind } from '../rules.ts'

type Reader = Db | Tx

export interface NewApproval extends Ref {
  sessionId: string
  runId: string
  kind: ApprovalKind
  title: string
  payload: unknown
  options: string[]
  defaultDecision: string
  expiresAt: Date
  now: Date
}
export const insertApproval = (tx: Tx, a: NewApproval) => tx.$executeRaw`
  INSERT INTO approvals (project_id, id, session_id, run_id, kind, title, payload, options, default_decision, state, created_at, expires_at)
  VALUES (${a.projectId}::uuid, ${a.id}::uuid, ${a.sessionId}::uuid, ${a.runId}::uuid, ${a.kind}, ${a.title},
          ${canonicalJson(a.payload)}::jsonb, ${a.options}::text[], ${a.defaultDecision}, 'OPEN', ${a.now}::timestamptz, ${a.expiresAt}::timestamptz)`

export const approvalByRef = (db: Reader, ref: Ref) =>
  db.approval.findUnique({ where: { projectId_id: { projectId: ref.projectId, id: ref.id } } })

export const decide = (
  tx: Tx,
  ref: Ref,
  d: { state: string; decision: string; note: string | null; by: string | null; now: Date },
) => tx.$executeRaw`
  UPDATE approvals SET state = ${d.state}, decision = ${d.decision}, note = ${d.note}, decided_by = ${d.by}::uuid, decided_at = ${d.now}::timestamptz
   WHERE project_id = ${ref.projectId}::uuid AND id = ${ref.id}::uuid AND state = 'OPEN'`

/** Open asks whose deadline has passed. */
export const dueApprovals = (db: Reader, now: Date, most: number) => db.$queryRaw<Ref[]>`
  SELECT project_id AS "projectId", id FROM approvals WHERE state = 'OPEN' AND expires_at <= ${now}::timestamptz
   ORDER BY expires_at LIMIT ${most}`

const openness = (open: boolean | null) => (open === null ? {} : { state: open ? 'OPEN' : { not: 'OPEN' } })

/** What is asked of one session: its asks, open ones, or the others. */
export interface AsksOfSession {
  session: Ref
  open: boolean | null
}

/** The newest 100 asks of each session, newest first, in two statements however many sessions there are. */
export async function approvalsOfSessions(db: Reader, asked: readonly AsksOfSession[]) {
  const newest = await db.$queryRaw<{ index: number; id: string }[]>`
    SELECT k.index::int, a.id
      FROM unnest(${asked.map(({ session }) => session.projectId)}::uuid[], ${asked.map(({ session }) => session.id)}::uuid[],
                  ${asked.map(({ open }) => open)}::boolean[]) WITH ORDINALITY k(project_id, session_id, open, index)
     CROSS JOIN LATERAL (
       SELECT id, created_at FROM approvals
        WHERE project_id = k.project_id AND session_id = k.session_id
          AND (k.open IS NULL OR k.open = (state = 'OPEN'))
        ORDER BY created_at DESC, id DESC LIMIT 100) a
     ORDER BY k.index, a.created_at DESC, a.id DESC`
  const rows = await db.approval.findMany({
    where: {
      projectId: { in: [...new Set(asked.map(({ session }) => session.projectId))] },
      id: { in: newest.map(({ id }) => id) },
    },
  })
  const byId = new Map(rows.map((row) => [row.id, row]))
  return asked.map((_, index) =>
    newest.flatMap((each) => (each.index === index + 1 ? (byId.get(each.id) ?? []) : [])),
  )
}

/** A page of asks, newest first, of whole projects and of single sessions; one more than asked for. */
export const approvalPage = (
  db: Reader,
  projects: 'all' | string[],
  sessions: string[],
  open: boolean | null,
  page: { first: number; after: [at: string, id: string] | null },
) =>
  db.approval.findMany({
    where: {
      ...openness(open),
      AND: [
        projects === 'all' ? {} : { OR: [{ projectId: { in: projects } }, { sessionId: { in: sessions } }] },
        page.after
          ? {
              OR: [
                { createdAt: { lt: new Date(page.after[0]) } },
                { createdAt: new Date(page.after[0]), id: { lt: page.after[1] } },
              ],
            }
          : {},
      ],
    },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: page.first + 1,
  })
