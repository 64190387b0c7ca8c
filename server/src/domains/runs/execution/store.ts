import { type Db, Prisma, rowsOf, type Tx } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'
import type { RunState, RuntimeEventType } from '../rules.ts'

export interface EventBatch {
  run: Ref
  /** Whose runtime must hold the run, by which generation of its token, in which states. */
  principalId: string
  generation: number
  states: readonly RunState[]
  /** Types that the project's feed does not have, and payloads as canonical JSON. */
  events: readonly { type: RuntimeEventType; json: string }[]
  /** Bytes of the largest payload. */
  largest: number
  tools: { calls: number; results: number }
  now: Date
}

/**
 * Writes a batch of a run's events, in one statement that writes all of them or nothing: the session's row is locked,
 * then the run's, as everywhere, and the run is judged as it is under its lock. Numbers are taken and events written as
 * the journal's `append` does. Null when the run is not this caller's, the token is not its present one, the run takes no
 * writes, or a payload is larger than the project allows; `operations.ts` says which.
 */
export async function insertRunEvents(
  db: Db | Tx,
  batch: EventBatch,
): Promise<{ sessionId: string; cursor: number } | null> {
  const { projectId: p, id } = batch.run
  const count = batch.events.length
  const rows = await rowsOf<{ sessionId: string; cursor: number }>(
    db,
    Prisma.sql`
    WITH open AS MATERIALIZED (
      SELECT s.id FROM sessions s JOIN projects p ON p.id = s.project_id
       WHERE s.project_id = ${p}::uuid
         AND s.id = (SELECT session_id FROM runs WHERE project_id = ${p}::uuid AND id = ${id}::uuid)
         AND p.max_event_bytes >= ${batch.largest}::int
         FOR NO KEY UPDATE OF s
    ), fenced AS MATERIALIZED (
      SELECT open.id AS session_id
        FROM open, runs r JOIN runtimes t ON t.project_id = r.project_id AND t.id = r.runtime_id
       WHERE r.project_id = ${p}::uuid AND r.id = ${id}::uuid AND t.principal_id = ${batch.principalId}::uuid
         AND r.token_generation = ${batch.generation}::int AND r.state = ANY (${batch.states as string[]}::text[])
         FOR UPDATE OF r
    ), s AS (
      UPDATE sessions s SET last_sequence = s.last_sequence + ${count}::int, last_activity_at = ${batch.now}::timestamptz
        FROM fenced WHERE s.project_id = ${p}::uuid AND s.id = fenced.session_id
      RETURNING s.id, s.last_sequence - ${count}::int AS base
    ), r AS (
      UPDATE runs r SET last_sequence = r.last_sequence + ${count}::int, last_seen_at = ${batch.now}::timestamptz,
             tool_calls_seen = r.tool_calls_seen + ${batch.tools.calls}::int,
             tool_results_seen = r.tool_results_seen + ${batch.tools.results}::int
        FROM fenced WHERE r.project_id = ${p}::uuid AND r.id = ${id}::uuid
      RETURNING r.last_sequence - ${count}::int AS base
    ), e AS (
      INSERT INTO session_events (project_id, session_id, sequence, run_id, run_sequence, type, payload, at)
      SELECT ${p}::uuid, s.id, s.base + x.n, ${id}::uuid, r.base + x.n, x.type, x.payload::jsonb, ${batch.now}::timestamptz
        FROM s, r, unnest(${batch.events.map((event) => event.type)}::text[],
                          ${batch.events.map((event) => event.json)}::text[]) WITH ORDINALITY AS x(type, payload, n)
    )
    SELECT s.id AS "sessionId", s.base + ${count}::int AS cursor FROM s, r`,
  )
  return rows[0] ?? null
}
