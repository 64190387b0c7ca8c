import { Prisma, type Tx } from '../../../../platform/database.ts'
import type { Ref } from '../../../../platform/ids.ts'
import type { Relation } from '../../../intents/rules.ts'
import type { Candidate } from '../../../routing/rules.ts'
import { type RouteRow, routesByRef } from '../../store.ts'

/** The decision that holds for a run. */
export async function decisionOf(tx: Tx, run: Ref): Promise<RouteRow> {
  const row = await tx.run.findUnique({
    where: { projectId_id: { projectId: run.projectId, id: run.id } },
    select: { routeId: true },
  })
  const [decision] = row ? await routesByRef(tx, [{ projectId: run.projectId, id: row.routeId }]) : []
  if (!decision) throw new Error('a run was routed by nothing')
  return decision
}

export interface NewDecision extends Ref {
  sessionId: string
  runId: string
  target: string
  relation: Relation
  protocol: string
  reasons: string[]
  candidates: Candidate[]
  evidence: object
  correctsId: string
  byId: string
  now: Date
}
/** Writes an owner's decision, and makes it the one that holds for its run. */
export const insertDecision = (tx: Tx, d: NewDecision) =>
  tx.$executeRaw(Prisma.sql`
  WITH run AS (
    UPDATE runs SET route_id = ${d.id}::uuid WHERE project_id = ${d.projectId}::uuid AND id = ${d.runId}::uuid
  )
  INSERT INTO route_decisions (project_id, id, session_id, run_id, target, relation, protocol, source, reasons, warnings, candidates,
                               evidence, corrects_id, by_id, at)
  VALUES (${d.projectId}::uuid, ${d.id}::uuid, ${d.sessionId}::uuid, ${d.runId}::uuid, ${d.target}, ${d.relation}, ${d.protocol}, 'OWNER',
          ${d.reasons}::text[], '{}'::text[], ${JSON.stringify(d.candidates)}::jsonb, ${JSON.stringify(d.evidence)}::jsonb,
          ${d.correctsId}::uuid, ${d.byId}::uuid, ${d.now}::timestamptz)`)
