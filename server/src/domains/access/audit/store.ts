import type { Db, Prisma } from '../../../platform/database.ts'

export type AuditRow = Prisma.AuditEntryGetPayload<object>

export const auditEntriesById = (db: Db, ids: readonly string[]) =>
  db.auditEntry.findMany({ where: { id: { in: [...ids] } } })

export interface AuditFilter {
  actorId?: string | undefined
  actions?: string[] | undefined
  /** A public id. */
  subjectId?: string | undefined
  channels?: string[] | undefined
  /** From this instant on. */
  from?: Date | undefined
  /** Before this instant. */
  to?: Date | undefined
}

/** One page of the log, newest first: of one project, or of everything when that is null. */
export function auditPage(
  db: Db,
  projectId: string | null,
  filter: AuditFilter,
  page: { first: number; after: [at: string, id: string] | null },
): Promise<AuditRow[]> {
  const and: Prisma.AuditEntryWhereInput[] = []
  if (projectId !== null) and.push({ projectId })
  if (filter.actorId !== undefined) and.push({ actorId: filter.actorId })
  if (filter.actions) and.push({ action: { in: filter.actions } })
  if (filter.subjectId !== undefined) and.push({ subjectId: filter.subjectId })
  if (filter.channels) and.push({ channel: { in: filter.channels } })
  if (filter.from) and.push({ at: { gte: filter.from } })
  if (filter.to) and.push({ at: { lt: filter.to } })
  if (page.after) {
    const [at, id] = [new Date(page.after[0]), page.after[1]]
    // The first condition alone is what the index can start from.
    and.push({ at: { lte: at } }, { OR: [{ at: { lt: at } }, { id: { lt: id } }] })
  }
  return db.auditEntry.findMany({
    where: { AND: and },
    orderBy: [{ at: 'desc' }, { id: 'desc' }],
    take: page.first + 1,
  })
}
