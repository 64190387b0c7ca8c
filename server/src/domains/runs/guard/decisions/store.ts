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
  /** An owner's becomes the one that holds for its run; that a segment was restored is only kept. */
  source: 'OWNER' | 'RESTORED'
  reasons: string[]
  candidates: Candidate[]
  evidence: object
  correctsId: string | null
  byId: string | null
  now: Date
}
/** Writes a decision about a run that was routed before. */
export const insertDecision = (tx: Tx, d: NewDecision) =>
  tx.$executeRaw(Prisma.sql`
  WITH run AS (
    UPDATE runs SET route_id = ${d.id}::uuid WHERE project_id = ${d.projectId}::uuid AND id = ${d.runId}::uuid
       AND ${d.source === 'OWNER'}
  )
  INSERT INTO route_decisions (project_id, id, session_id, run_id, target, relation, protocol, source, reasons, warnings, candidates,
                               evidence, corrects_id, by_id, at)
  VALUES (${d.projectId}::uuid, ${d.id}::uuid, ${d.sessionId}::uuid, ${d.runId}::uuid, ${d.target}, ${d.relation}, ${d.protocol}, ${d.source},
          ${d.reasons}::text[], '{}'::text[], ${JSON.stringify(d.candidates)}::jsonb, ${JSON.stringify(d.evidence)}::jsonb,
          ${d.correctsId}::uuid, ${d.byId}::uuid, ${d.now}::timestamptz)`)
