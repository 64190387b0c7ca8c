import { type Db, Prisma } from '../../../platform/database.ts'
import type { MessageRow } from '../store.ts'

export type HitRow = MessageRow & { rank: number }
export type HitKey = [rank: number, at: string, id: string]

/**
 * Messages of a project that hold all the words, best first, then newest, in one statement; one row more than asked
 * for. The work depends on how many messages hold the words, not on how many there are.
 */
export const hits = (
  db: Db,
  projectId: string,
  visible: 'all' | string[],
  tsquery: string,
  page: { first: number; after: HitKey | null },
): Promise<HitRow[]> => {
  const seen = visible === 'all' ? Prisma.sql`true` : Prisma.sql`m.session_id = ANY (${visible}::uuid[])`
  const [rank, at, id] = page.after ?? [null, null, null]
  return db.$queryRaw<HitRow[]>(Prisma.sql`
    SELECT m.project_id AS "projectId", m.id, m.session_id AS "sessionId", m.sequence, m.author_id AS "authorId", m.authority,
           m.run_id AS "runId", m.answers_id AS "answersId", m.text, m.at, h.rank
      FROM (
        SELECT m.project_id, m.id, m.at, ts_rank(m.search, q) AS rank
          FROM messages m, to_tsquery('simple', ${tsquery}) q
         WHERE m.search @@ q AND m.project_id = ${projectId}::uuid AND ${seen}
      ) h JOIN messages m ON m.project_id = h.project_id AND m.id = h.id
     WHERE ${rank}::float4 IS NULL OR (h.rank, h.at, h.id) < (${rank}::float4, ${at}::timestamptz, ${id}::uuid)
     ORDER BY h.rank DESC, h.at DESC, h.id DESC LIMIT ${page.first + 1}`)
}
