import { type Db, Prisma, type Tx } from '../../platform/database.ts'
import type { Ref } from '../../platform/ids.ts'

type Reader = Db | Tx

/** What was said last in a session, newest first, and where its last turn went. */
export interface Said {
  id: string
  authority: string
  text: string
}
export async function lastSaid(
  db: Reader,
  session: Ref,
  most: number,
): Promise<{ said: Said[]; summary: string | null; lastTarget: 'DIRECT' | 'AGENT' | null }> {
  const rows = await db.$queryRaw<
    { said: Said[] | null; summary: string | null; target: 'DIRECT' | 'AGENT' | null }[]
  >(
    Prisma.sql`
    SELECT s.summary, m.said, (SELECT d.target FROM runs r JOIN route_decisions d ON d.project_id = r.project_id AND d.id = r.route_id
                                WHERE r.project_id = s.project_id AND r.id = s.last_run_id) AS target
      FROM sessions s
      LEFT JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object('id', x.id, 'authority', x.authority, 'text', left(x.text, 4000)) ORDER BY x.sequence DESC) AS said
          FROM (SELECT id, authority, text, sequence FROM messages
                 WHERE project_id = s.project_id AND session_id = s.id ORDER BY sequence DESC LIMIT ${most}) x) m ON true
     WHERE s.project_id = ${session.projectId}::uuid AND s.id = ${session.id}::uuid`,
  )
  return { said: rows[0]?.said ?? [], summary: rows[0]?.summary ?? null, lastTarget: rows[0]?.target ?? null }
}

export interface RouteFilter {
  relations?: string[] | undefined
  sources?: string[] | undefined
  protocol?: string | undefined
  sessionId?: string | undefined
  warnings?: string[] | undefined
  after?: Date | undefined
  before?: Date | undefined
}

/** A page of a project's decisions in sessions of `visible`, newest first; one row more than asked for. */
export const routePage = (
  db: Reader,
  projectId: string,
  visible: 'all' | string[],
  filter: RouteFilter,
  page: { first: number; after: [at: string, id: string] | null },
) => {
  const and: Prisma.RouteDecisionWhereInput[] = []
  if (visible !== 'all') and.push({ sessionId: { in: visible } })
  if (filter.relations) and.push({ relation: { in: filter.relations } })
  if (filter.sources) and.push({ source: { in: filter.sources } })
  if (filter.protocol !== undefined) and.push({ protocol: { startsWith: filter.protocol } })
  if (filter.sessionId !== undefined) and.push({ sessionId: filter.sessionId })
  if (filter.warnings) and.push({ warnings: { hasSome: filter.warnings } })
  if (filter.after) and.push({ at: { gte: filter.after } })
  if (filter.before) and.push({ at: { lt: filter.before } })
  if (page.after) {
    const [at, id] = page.after
    and.push({ OR: [{ at: { lt: at } }, { at, id: { lt: id } }] })
  }
  return db.routeDecision.findMany({
    where: { projectId, AND: and },
    orderBy: [{ at: 'desc' }, { id: 'desc' }],
    take: page.first + 1,
  })
}
