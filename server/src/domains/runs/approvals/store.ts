import { type Db, Prisma, type Tx } from '../../../platform/database.ts'
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
