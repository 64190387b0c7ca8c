import { type Db, Prisma, type Tx } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'

/** A session as the walk passes it; `old`: its journal begins with something older than its project keeps. */
export interface Passed extends Ref {
  old: boolean
}

/** The next sessions of the database in the order of their keys, in one statement of `most` look-ups. */
export const sessionsAfter = (db: Db, after: Ref, now: Date, most: number) =>
  db.$queryRaw<Passed[]>(Prisma.sql`
    SELECT s.project_id AS "projectId", s.id,
           coalesce(e.at < ${now}::timestamptz - make_interval(days => p.event_retention_days), false) AS old
      FROM (SELECT project_id, id, first_sequence FROM sessions WHERE (project_id, id) > (${after.projectId}::uuid, ${after.id}::uuid)
             ORDER BY project_id, id LIMIT ${most}) s
      JOIN projects p ON p.id = s.project_id
      LEFT JOIN session_events e ON e.project_id = s.project_id AND e.session_id = s.id AND e.sequence = s.first_sequence
     ORDER BY s.project_id, s.id`)

/**
 * Removes up to `most` events from the front of a locked session's journal: those older than its project keeps, up to
 * the first that is not, and never anything of a run that is alive or after its beginning. Gives how many.
 */
export async function removePrefix(tx: Tx, session: Ref, now: Date, most: number): Promise<number> {
  await tx.$executeRaw`SELECT set_config('wheelhouse.purge', 'on', true)`
  const rows = await tx.$queryRaw<{ removed: number }[]>(Prisma.sql`
    WITH s AS (
      SELECT s.first_sequence, ${now}::timestamptz - make_interval(days => p.event_retention_days) AS old
        FROM sessions s JOIN projects p ON p.id = s.project_id
       WHERE s.project_id = ${session.projectId}::uuid AND s.id = ${session.id}::uuid
    ), batch AS (
      SELECT e.sequence, e.at FROM s, session_events e
       WHERE e.project_id = ${session.projectId}::uuid AND e.session_id = ${session.id}::uuid AND e.sequence >= s.first_sequence
       ORDER BY e.sequence LIMIT ${most}
    ), stop AS (
      SELECT least(
        (SELECT min(batch.sequence) FROM batch, s WHERE batch.at >= s.old),
        (SELECT max(batch.sequence) + 1 FROM batch),
        (SELECT min(m.sequence) FROM runs r JOIN messages m ON m.project_id = r.project_id AND m.id = r.message_id
          WHERE r.project_id = ${session.projectId}::uuid AND r.session_id = ${session.id}::uuid AND r.ended_at IS NULL)
      ) AS sequence
    ), gone AS (
      DELETE FROM session_events e USING stop
       WHERE e.project_id = ${session.projectId}::uuid AND e.session_id = ${session.id}::uuid AND e.sequence < stop.sequence RETURNING 1
    ), moved AS (
      UPDATE sessions SET first_sequence = stop.sequence FROM stop
       WHERE project_id = ${session.projectId}::uuid AND id = ${session.id}::uuid AND first_sequence < stop.sequence
    )
    SELECT count(*)::int AS removed FROM gone`)
  await tx.$executeRaw`SELECT set_config('wheelhouse.purge', 'off', true)`
  return rows[0]?.removed ?? 0
}
