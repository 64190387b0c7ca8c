import { type Db, Prisma, type Tx } from '../../../platform/database.ts'
import { horizon } from '../feed/store.ts'

/** The next projects in the order of their ids; `old`: the feed begins with something older than the project keeps. */
export const projectsAfter = (db: Db, after: string, now: Date, most: number) =>
  db.$queryRaw<{ id: string; old: boolean }[]>(Prisma.sql`
    SELECT p.id, coalesce(e.at < ${now}::timestamptz - make_interval(days => p.event_retention_days), false) AS old
      FROM (SELECT id, event_retention_days FROM projects WHERE id > ${after}::uuid ORDER BY id LIMIT ${most}) p
      LEFT JOIN LATERAL (
        SELECT at FROM project_events WHERE project_id = p.id ORDER BY project_events.xid, project_events.position LIMIT 1
      ) e ON true
     ORDER BY p.id`)

/**
 * Removes up to `most` events from the front of a project's feed, in its own order: those older than the project keeps,
 * up to the first that is not, and nothing that a transaction still under way could come before. The floor moves with
 * them. Gives how many.
 */
export async function removeFeedPrefix(tx: Tx, projectId: string, now: Date, most: number): Promise<number> {
  await tx.$executeRaw`SELECT set_config('wheelhouse.purge', 'on', true)`
  const rows = await tx.$queryRaw<{ removed: number }[]>(Prisma.sql`
    WITH batch AS (
      SELECT e.xid, e.position, e.at < ${now}::timestamptz - make_interval(days => p.event_retention_days) AS old
        FROM projects p JOIN project_events e ON e.project_id = p.id
       WHERE p.id = ${projectId}::uuid AND e.xid < ${horizon}
       ORDER BY e.xid, e.position LIMIT ${most}
    ), stop AS (
      SELECT xid, position FROM batch WHERE NOT old ORDER BY batch.xid, batch.position LIMIT 1
    ), gone AS (
      DELETE FROM project_events e USING batch b
       WHERE e.project_id = ${projectId}::uuid AND e.position = b.position
         AND NOT EXISTS (SELECT 1 FROM stop WHERE (b.xid, b.position) >= (stop.xid, stop.position))
      RETURNING e.xid, e.position
    ), last AS (
      SELECT xid::text::bigint AS xid, position FROM gone ORDER BY gone.xid DESC, gone.position DESC LIMIT 1
    ), moved AS (
      UPDATE project_load l SET feed_floor_xid = last.xid, feed_floor_position = last.position FROM last
       WHERE l.project_id = ${projectId}::uuid AND (l.feed_floor_xid, l.feed_floor_position) < (last.xid, last.position)
    )
    SELECT count(*)::int AS removed FROM gone`)
  await tx.$executeRaw`SELECT set_config('wheelhouse.purge', 'off', true)`
  return rows[0]?.removed ?? 0
}
