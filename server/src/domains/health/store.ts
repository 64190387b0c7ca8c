import { type Db, Prisma, type Tx } from '../../platform/database.ts'
import type { Ref } from '../../platform/ids.ts'
import type { Vitals } from './rules.ts'

type RawVitals = Omit<Vitals, 'sizeBytes' | 'journalBytes' | 'appended' | 'pool' | 'liveRuns'> & {
  sizeBytes: bigint
  journalBytes: bigint
  appended: bigint | null
  pool: Record<string, number> | null
  liveRuns: Record<string, number> | null
}

/** Everything that the database knows, in one statement whose work does not depend on the history. */
export async function readVitals(db: Db, now: Date): Promise<Vitals> {
  const rows = await db.$queryRaw<RawVitals[]>(Prisma.sql`
    SELECT current_database() AS database, split_part(current_setting('server_version'), ' ', 1) AS "serverVersion",
           host(inet_server_addr()) || ':' || inet_server_port() AS address,
           pg_database_size(current_database()) AS "sizeBytes",
           pg_total_relation_size('session_events') + pg_total_relation_size('project_events') AS "journalBytes",
           (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
           current_setting('max_connections')::int AS "maxConnections",
           (SELECT jsonb_object_agg(state, n) FROM (
              SELECT coalesce(state, 'unknown') AS state, count(*) AS n FROM pg_stat_activity
               WHERE datname = current_database() AND application_name LIKE 'wheelhouse%' GROUP BY 1) p) AS pool,
           (SELECT n_tup_ins FROM pg_stat_user_tables WHERE relid = 'session_events'::regclass) AS appended,
           (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(xact_start)), 0)::float8 FROM pg_stat_activity
             WHERE backend_xid IS NOT NULL) AS "oldestWriteSeconds",
           (SELECT jsonb_object_agg(state, n) FROM (SELECT state, count(*) AS n FROM runs WHERE ended_at IS NULL GROUP BY 1) r) AS "liveRuns",
           t.connected AS "runtimesConnected", t.disconnected AS "runtimesDisconnected", t.away AS "runtimesAway",
           l.approvals AS "approvalsOpen", l.inbox AS "inboxOpen", a.oldest AS "oldestApprovalAt", a.overdue AS "approvalsOverdue",
           o.queued AS "outboxQueued", o.dead AS "outboxDead"
      FROM (SELECT count(*) FILTER (WHERE state = 'CONNECTED')::int AS connected, count(*) FILTER (WHERE state = 'DISCONNECTED')::int AS disconnected,
                   count(*) FILTER (WHERE state = 'DISCONNECTED' AND live_runs > 0)::int AS away FROM runtimes) t,
           (SELECT coalesce(sum(open_approvals), 0)::int AS approvals, coalesce(sum(inbox_open), 0)::int AS inbox FROM project_load) l,
           (SELECT min(created_at) AS oldest, count(*) FILTER (WHERE expires_at < ${now}::timestamptz - interval '10 seconds')::int AS overdue
              FROM approvals WHERE state = 'OPEN') a,
           (SELECT (SELECT count(*)::int FROM outbox WHERE state = 'QUEUED') AS queued,
                   (SELECT count(*)::int FROM outbox WHERE state = 'DEAD') AS dead) o`)
  const row = rows[0] as RawVitals
  return {
    ...row,
    sizeBytes: Number(row.sizeBytes),
    journalBytes: Number(row.journalBytes),
    appended: Number(row.appended ?? 0),
    pool: row.pool ?? {},
    liveRuns: row.liveRuns ?? {},
  }
}

/** How many events of these sessions lie beyond the given positions. */
export async function eventsBeyond(db: Db, positions: (Ref & { cursor: number })[]): Promise<number> {
  const rows = await db.$queryRaw<{ behind: number }[]>`
    SELECT coalesce(sum(greatest(s.last_sequence - w.cursor, 0)), 0)::int AS behind
      FROM unnest(${positions.map((p) => p.projectId)}::uuid[], ${positions.map((p) => p.id)}::uuid[],
                  ${positions.map((p) => p.cursor)}::int[]) AS w(project_id, id, cursor)
      JOIN sessions s ON s.project_id = w.project_id AND s.id = w.id`
  return rows[0]?.behind ?? 0
}

/** A project and a session in it, for a transaction that will be undone. */
export async function insertProbe(tx: Tx, session: Ref, now: Date): Promise<void> {
  await tx.$executeRaw`INSERT INTO projects (id, slug, name, created_at) VALUES (${session.projectId}::uuid, ${`probe-${session.projectId}`}, 'Probe', ${now}::timestamptz)`
  await tx.$executeRaw`INSERT INTO project_load (project_id) VALUES (${session.projectId}::uuid)`
  await tx.$executeRaw`
    INSERT INTO sessions (project_id, id, title, state, created_at, last_activity_at)
    VALUES (${session.projectId}::uuid, ${session.id}::uuid, 'Probe', 'OPEN', ${now}::timestamptz, ${now}::timestamptz)`
}

/** The sequences of a session's journal, as the transaction sees them. */
export const sequencesOf = async (tx: Tx, session: Ref): Promise<number[]> =>
  (
    await tx.$queryRaw<{ sequence: number }[]>`
      SELECT sequence FROM session_events WHERE project_id = ${session.projectId}::uuid AND session_id = ${session.id}::uuid ORDER BY sequence`
  ).map((row) => row.sequence)

export const appliedMigrations = (db: Db, sql: string) =>
  db.$queryRawUnsafe<{ migration_name: string }[]>(sql)
