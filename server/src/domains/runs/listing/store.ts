import { type Db, Prisma, type Tx } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'
import { type RunRow, runsByRef } from '../store.ts'

type Reader = Db | Tx

/** A page of a session's runs, newest first, below a number. */
export interface RunPage {
  session: Ref
  /** 1 to 100. */
  first: number
  below: number | null
}

/** Pages of the runs of any number of sessions; one more each than asked for. */
export async function runPages(db: Reader, pages: readonly RunPage[]): Promise<RunRow[][]> {
  const [only] = pages
  if (only && pages.length === 1) return [await runPage(db, only)]
  const found = await db.$queryRaw<(Ref & { page: number })[]>(Prisma.sql`
    SELECT k.page::int, k.project_id AS "projectId", r.id
      FROM unnest(${pages.map(({ session }) => session.projectId)}::uuid[], ${pages.map(({ session }) => session.id)}::uuid[],
                  ${pages.map(({ below }) => below)}::int[], ${pages.map(({ first }) => first + 1)}::int[])
           WITH ORDINALITY AS k(project_id, session_id, below, most, page)
     CROSS JOIN LATERAL (
       SELECT id, number FROM runs
        WHERE project_id = k.project_id AND session_id = k.session_id AND number < coalesce(k.below, 2147483647)
        ORDER BY number DESC LIMIT k.most) r
     ORDER BY k.page, r.number DESC`)
  const byId = new Map((await runsByRef(db, found)).map((row) => [row.id, row]))
  const lists = pages.map((): RunRow[] => [])
  for (const { page, id } of found) {
    const row = byId.get(id)
    if (row) lists[page - 1]?.push(row)
  }
  return lists
}

const runPage = (db: Reader, { session, first, below }: RunPage) =>
  db.run.findMany({
    where: {
      projectId: session.projectId,
      sessionId: session.id,
      ...(below !== null && { number: { lt: below } }),
    },
    orderBy: { number: 'desc' },
    take: first + 1,
  })
