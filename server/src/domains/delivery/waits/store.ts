import { type Db, Prisma } from '../../../platform/database.ts'
import type { Wait } from './rules.ts'

/**
 * Everything in a project that waits, the longest first, at most `most`, in one statement: open asks, offers that nobody
 * has started, and running runs whose runtime is away. `readySince`: a grace never counts from before this server.
 */
export const waitsOf = (
  db: Db,
  projectId: string,
  visible: 'all' | string[],
  readySince: Date,
  most: number,
): Promise<Wait[]> => {
  const seen = visible === 'all' ? Prisma.sql`true` : Prisma.sql`r.session_id = ANY (${visible}::uuid[])`
  const run = Prisma.sql`r.project_id AS "projectId", r.id AS "runId", r.number AS "runNumber", s.title AS "sessionTitle",
           t.id AS "runtimeId", t.name AS "runtimeName"`
  const around = Prisma.sql`
      JOIN sessions s ON s.project_id = r.project_id AND s.id = r.session_id
      JOIN runtimes t ON t.project_id = r.project_id AND t.id = r.runtime_id`
  return db.$queryRaw<Wait[]>(Prisma.sql`
    (SELECT 'ANSWER' AS kind, ${run}, a.created_at AS since, a.expires_at AS until,
            a.id AS "approvalId", a.title, a.default_decision AS "defaultDecision"
       FROM approvals a JOIN runs r ON r.project_id = a.project_id AND r.id = a.run_id ${around}
      WHERE a.project_id = ${projectId}::uuid AND a.state = 'OPEN' AND ${seen}
      ORDER BY a.created_at LIMIT ${most})
    UNION ALL
    (SELECT 'START', ${run}, r.offered_at, r.offer_expires_at, NULL, NULL, NULL
       FROM runs r ${around}
      WHERE r.project_id = ${projectId}::uuid AND r.ended_at IS NULL AND r.state = 'OFFERED' AND ${seen}
      ORDER BY r.offered_at LIMIT ${most})
    UNION ALL
    (SELECT 'RETURN', ${run}, t.last_seen_at,
            greatest(t.last_seen_at, r.last_seen_at, ${readySince}::timestamptz) + make_interval(secs => p.runtime_grace_ms / 1000.0),
            NULL, NULL, NULL
       FROM runs r ${around} JOIN projects p ON p.id = r.project_id
      WHERE r.project_id = ${projectId}::uuid AND r.ended_at IS NULL AND r.state = 'RUNNING' AND t.state = 'DISCONNECTED' AND ${seen}
      ORDER BY t.last_seen_at LIMIT ${most})
    ORDER BY since LIMIT ${most}`)
}
