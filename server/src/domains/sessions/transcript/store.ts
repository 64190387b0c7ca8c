import { type Db, Prisma, type Tx } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'
import { type MessageRow, messagesByRef } from '../store.ts'

type Reader = Db | Tx

/** A page of a transcript after or before a position. */
export interface MessagePage {
  session: Ref
  /** 1 to 100. */
  take: number
  after?: number | undefined
  before?: number | undefined
  newestFirst: boolean
}

/** Pages of the transcripts of any number of sessions, each in its order with one row more than asked for. */
export async function messagePages(db: Reader, pages: readonly MessagePage[]): Promise<MessageRow[][]> {
  const [only] = pages
  if (only && pages.length === 1) return [await messagePage(db, only)]
  const found = await Promise.all([false, true].map((newestFirst) => messageIds(db, pages, newestFirst)))
  const ids = found.flat()
  const rows = await messagesByRef(db, ids)
  const byId = new Map(rows.map((row) => [row.id, row]))
  const lists = pages.map((): MessageRow[] => [])
  for (const { index, id } of ids) {
    const row = byId.get(id)
    if (row) lists[index]?.push(row)
  }
  return lists
}

const messagePage = (db: Reader, { session, ...page }: MessagePage) =>
  db.message.findMany({
    where: {
      projectId: session.projectId,
      sessionId: session.id,
      sequence: {
        ...(page.after !== undefined && { gt: page.after }),
        ...(page.before !== undefined && { lt: page.before }),
      },
    },
    orderBy: { sequence: page.newestFirst ? 'desc' : 'asc' },
    take: page.take + 1,
  })

/** The messages of those of the pages that are read in one direction, with the page's place in the list. */
async function messageIds(db: Reader, pages: readonly MessagePage[], newestFirst: boolean) {
  const some = pages.flatMap((page, index) => (page.newestFirst === newestFirst ? [{ ...page, index }] : []))
  if (some.length === 0) return []
  const order = newestFirst ? Prisma.sql`DESC` : Prisma.sql`ASC`
  return db.$queryRaw<(Ref & { index: number })[]>(Prisma.sql`
    SELECT k.index, k.project_id AS "projectId", m.id
      FROM unnest(${some.map(({ session }) => session.projectId)}::uuid[], ${some.map(({ session }) => session.id)}::uuid[],
                  ${some.map(({ after }) => after ?? null)}::int[], ${some.map(({ before }) => before ?? null)}::int[],
                  ${some.map(({ take }) => take + 1)}::int[], ${some.map(({ index }) => index)}::int[])
           AS k(project_id, session_id, after, before, most, index)
     CROSS JOIN LATERAL (
       SELECT id, sequence FROM messages
        WHERE project_id = k.project_id AND session_id = k.session_id
          AND sequence > coalesce(k.after, -2147483648) AND sequence < coalesce(k.before, 2147483647)
        ORDER BY sequence ${order} LIMIT k.most) m
     ORDER BY k.index, m.sequence ${order}`)
}
