import type { Db } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'

/** The last of the next `most` signals in the order of their keys, and how many of them were removed. */
export interface SignalsPassed extends Ref {
  passed: number
  removed: number
}

/** Removes those of the next `most` signals that were acknowledged before a moment. Null at the end of the table. */
export async function removeHeardAfter(
  db: Db,
  after: Ref,
  before: Date,
  most: number,
): Promise<SignalsPassed | null> {
  const rows = await db.$queryRaw<SignalsPassed[]>`
    WITH batch AS (
      SELECT project_id, id, acknowledged_at FROM runtime_signals
       WHERE (project_id, id) > (${after.projectId}::uuid, ${after.id}::uuid) ORDER BY project_id, id LIMIT ${most}
    ), gone AS (
      DELETE FROM runtime_signals s USING batch b
       WHERE s.project_id = b.project_id AND s.id = b.id AND b.acknowledged_at < ${before}::timestamptz RETURNING 1
    )
    SELECT project_id AS "projectId", id, (SELECT count(*) FROM batch)::int AS passed, (SELECT count(*) FROM gone)::int AS removed
      FROM batch ORDER BY project_id DESC, id DESC LIMIT 1`
  return rows[0] ?? null
}
