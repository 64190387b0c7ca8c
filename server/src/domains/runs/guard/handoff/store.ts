import type { Tx } from '../../../../platform/database.ts'
import type { Ref } from '../../../../platform/ids.ts'
import type { RouteCorrection } from '../../../projects/rules.ts'
import type { LedgerEntry } from './rules.ts'

export interface NewSegment extends Ref {
  sessionId: string
  runId: string
  number: number
  protocol: string
  phase: string
  openedBy: string
  now: Date
}
/** Inserts a segment and counts it; the run must have no active one (index). */
export const insertSegment = (tx: Tx, s: NewSegment) => tx.$executeRaw`
  WITH r AS (
    UPDATE runs SET segment_count = segment_count + 1 WHERE project_id = ${s.projectId}::uuid AND id = ${s.runId}::uuid
  )
  INSERT INTO protocol_segments (project_id, id, session_id, run_id, number, protocol, state, phase, facts, opened_by, opened_at)
  VALUES (${s.projectId}::uuid, ${s.id}::uuid, ${s.sessionId}::uuid, ${s.runId}::uuid, ${s.number}::int, ${s.protocol}, 'ACTIVE',
          ${s.phase}, '{}'::jsonb, ${s.openedBy}, ${s.now}::timestamptz)`

/** What a run has asked for, in order. */
export const ledgerOf = (tx: Tx, run: Ref) => tx.$queryRaw<LedgerEntry[]>`
  SELECT number, action, code, ok, governed_by AS "governedBy", protocol FROM actions
   WHERE project_id = ${run.projectId}::uuid AND run_id = ${run.id}::uuid ORDER BY number`

export interface RouteOfRun {
  source: string
  relation: string
  setting: RouteCorrection
}
/** How a run was routed at first, and what its project says of corrections. */
export async function routeOf(tx: Tx, run: Ref): Promise<RouteOfRun> {
  const rows = await tx.$queryRaw<RouteOfRun[]>`
    SELECT d.source, d.relation, p.route_correction AS setting
      FROM runs r JOIN route_decisions d ON d.project_id = r.project_id AND d.id = r.route_id JOIN projects p ON p.id = r.project_id
     WHERE r.project_id = ${run.projectId}::uuid AND r.id = ${run.id}::uuid`
  if (!rows[0]) throw new Error('a run was routed by nothing')
  return rows[0]
}
