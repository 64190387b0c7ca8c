import { type Db, Prisma, type Tx } from '../../platform/database.ts'
import type { Ref } from '../../platform/ids.ts'
import type { InboxKind, InboxState, Sight } from './rules.ts'

type Reader = Db | Tx
export type InboxRow = Prisma.InboxItemGetPayload<object>

export interface NewInboxItem extends Ref {
  kind: InboxKind
  title: string
  why: string
  sessionId: string
  runId: string
  approvalId: string | null
  since: Date
  deadlineAt: Date | null
  defaultDecision: string | null
}

/** Opens an item and counts it, once per ask or per run and kind. */
export const insertItem = (tx: Tx, item: NewInboxItem) => tx.$executeRaw`
  WITH opened AS (
    INSERT INTO inbox_items (project_id, id, kind, state, title, why, session_id, run_id, approval_id, since, deadline_at, default_decision)
    VALUES (${item.projectId}::uuid, ${item.id}::uuid, ${item.kind}, 'OPEN', ${item.title}, ${item.why}, ${item.sessionId}::uuid,
            ${item.runId}::uuid, ${item.approvalId}::uuid, ${item.since}::timestamptz, ${item.deadlineAt}::timestamptz, ${item.defaultDecision})
    ON CONFLICT DO NOTHING RETURNING project_id
  )
  UPDATE project_load l SET inbox_open = l.inbox_open + 1 FROM opened WHERE l.project_id = opened.project_id`

/** Marks the open items of these asks as handled, and counts them out. */
export const handleItemsOf = (
  tx: Tx,
  projectId: string,
  approvalIds: string[],
  by: string | null,
  now: Date,
) => tx.$executeRaw`
  WITH handled AS (
    UPDATE inbox_items SET state = 'HANDLED', handled_at = ${now}::timestamptz, handled_by = ${by}::uuid, version = version + 1
     WHERE project_id = ${projectId}::uuid AND approval_id = ANY (${approvalIds}::uuid[]) AND state = 'OPEN' RETURNING 1
  )
  UPDATE project_load SET inbox_open = inbox_open - (SELECT count(*) FROM handled)::int
   WHERE project_id = ${projectId}::uuid AND EXISTS (SELECT 1 FROM handled)`

export const itemsByRef = (db: Reader, refs: readonly Ref[]) =>
  db.inboxItem.findMany({
    where: {
      projectId: { in: [...new Set(refs.map((ref) => ref.projectId))] },
      id: { in: refs.map((ref) => ref.id) },
    },
  })

/** The item, its row held until the transaction ends. */
export async function lockItem(tx: Tx, ref: Ref): Promise<InboxRow | null> {
  await tx.$queryRaw`SELECT 1 FROM inbox_items WHERE project_id = ${ref.projectId}::uuid AND id = ${ref.id}::uuid FOR UPDATE`
  return tx.inboxItem.findUnique({ where: { projectId_id: { projectId: ref.projectId, id: ref.id } } })
}

export interface ItemChange {
  state: InboxState
  assigneeId: string | null
  snoozedUntil: Date | null
  handledAt: Date | null
  handledBy: string | null
}

/** Changes an item at the version that was read, and the project's count of open ones with it; false when it moved. */
export async function updateItem(tx: Tx, before: InboxRow, change: ItemChange): Promise<boolean> {
  const step = Number(change.state === 'OPEN') - Number(before.state === 'OPEN')
  const rows = await tx.$queryRaw<{ one: number }[]>`
    WITH changed AS (
      UPDATE inbox_items SET state = ${change.state}, assignee_id = ${change.assigneeId}::uuid, snoozed_until = ${change.snoozedUntil}::timestamptz,
             handled_at = ${change.handledAt}::timestamptz, handled_by = ${change.handledBy}::uuid, version = version + 1
       WHERE project_id = ${before.projectId}::uuid AND id = ${before.id}::uuid AND version = ${before.version} RETURNING 1 AS one
    ), counted AS (
      UPDATE project_load SET inbox_open = inbox_open + ${step}::int
       WHERE ${step}::int <> 0 AND project_id = ${before.projectId}::uuid AND EXISTS (SELECT 1 FROM changed)
    )
    SELECT one FROM changed`
  return rows.length === 1
}

const projectIds = (sight: Exclude<Sight, 'all'>) => [
  ...new Set([...sight.projects, ...sight.sessions.map((session) => session.projectId)]),
]
/** The projects of a sight, as rows of `project_load l`. */
const projectsOf = (sight: Sight) =>
  sight === 'all' ? Prisma.sql`true` : Prisma.sql`l.project_id = ANY (${projectIds(sight)}::uuid[])`
/** The items `i` of such a project that the sight covers. */
const coveredBy = (sight: Sight) =>
  sight === 'all' || sight.sessions.length === 0
    ? Prisma.sql`true`
    : Prisma.sql`(i.project_id = ANY (${sight.projects}::uuid[]) OR i.session_id = ANY (${sight.sessions.map((session) => session.id)}::uuid[]))`

export interface InboxFilter {
  sight: Sight
  kinds: readonly InboxKind[] | null
  states: readonly InboxState[]
  /** Leaves out what is put off beyond this moment. */
  awakeAt: Date | null
}
/** Items `i` of the state `q` and the project `l`, in the order of their index. */
const itemsOf = (f: InboxFilter) => Prisma.sql`
  i.project_id = l.project_id AND i.state = q.state AND ${coveredBy(f.sight)}
  AND (${f.kinds ?? null}::text[] IS NULL OR i.kind = ANY (${f.kinds ?? null}::text[]))
  AND (${f.awakeAt}::timestamptz IS NULL OR i.snoozed_until IS NULL OR i.snoozed_until <= ${f.awakeAt}::timestamptz)`
/** Projects with nothing open are passed over when only that is asked for. */
const lists = (f: InboxFilter) => Prisma.sql`
  project_load l CROSS JOIN unnest(${f.states}::text[]) AS q(state)`
const worthwhile = (f: InboxFilter) =>
  Prisma.sql`${projectsOf(f.sight)} AND (q.state <> 'OPEN' OR l.inbox_open > 0)`

/**
 * A page of the inbox, newest first, in one statement: each project and state gives at most a page from its index, and
 * the newest of these make the page. One row more than asked for.
 */
export const itemPage = (
  db: Reader,
  filter: InboxFilter,
  page: { first: number; after: [at: string, id: string] | null },
): Promise<InboxRow[]> => {
  const [at, id] = page.after ?? [null, null]
  const most = page.first + 1
  return db.$queryRaw<InboxRow[]>(Prisma.sql`
    SELECT i.project_id AS "projectId", i.id, i.kind, i.state, i.title, i.why, i.session_id AS "sessionId", i.run_id AS "runId",
           i.approval_id AS "approvalId", i.since, i.deadline_at AS "deadlineAt", i.default_decision AS "defaultDecision",
           i.assignee_id AS "assigneeId", i.snoozed_until AS "snoozedUntil", i.handled_at AS "handledAt", i.handled_by AS "handledBy",
           i.version
      FROM ${lists(filter)}
     CROSS JOIN LATERAL (
       SELECT * FROM inbox_items i WHERE ${itemsOf(filter)}
          AND (${at}::timestamptz IS NULL OR (i.since, i.id) < (${at}::timestamptz, ${id}::uuid))
        ORDER BY i.since DESC, i.id DESC LIMIT ${most}
     ) i
     WHERE ${worthwhile(filter)}
     ORDER BY i.since DESC, i.id DESC LIMIT ${most}`)
}

/** How many items a list has, counted up to `most`. */
export async function countItems(db: Reader, filter: InboxFilter, most: number): Promise<number> {
  const rows = await db.$queryRaw<{ count: number }[]>(Prisma.sql`
    SELECT count(*)::int AS count FROM (
      SELECT 1 FROM ${lists(filter)}
       CROSS JOIN LATERAL (SELECT 1 FROM inbox_items i WHERE ${itemsOf(filter)} LIMIT ${most}) i
       WHERE ${worthwhile(filter)} LIMIT ${most}
    ) counted`)
  return rows[0]?.count ?? 0
}

export interface OpenItems {
  open: number
  /** Differs when the newest hundred open items differ: which they are, and each one's version. */
  mark: string
}
/** Open items, put off or not: counted from the projects' own counts, and one by one for single sessions. */
export async function openItems(db: Reader, sight: Sight): Promise<OpenItems> {
  const whole = sight === 'all' ? null : sight.projects
  const sessions = sight === 'all' ? [] : sight.sessions
  const filter: InboxFilter = { sight, kinds: null, states: ['OPEN'], awakeAt: null }
  const rows = await db.$queryRaw<OpenItems[]>(Prisma.sql`
    SELECT ((SELECT coalesce(sum(inbox_open), 0) FROM project_load
              WHERE ${whole}::uuid[] IS NULL OR project_id = ANY (${whole}::uuid[]))
          + (SELECT count(*) FROM unnest(${sessions.map((session) => session.projectId)}::uuid[], ${sessions.map((session) => session.id)}::uuid[]) AS s(project_id, id)
               JOIN inbox_items i ON i.project_id = s.project_id AND i.session_id = s.id WHERE i.state = 'OPEN'))::int AS open,
           (SELECT coalesce(md5(string_agg(newest.mark, ',')), '') FROM (
              SELECT i.id || ':' || i.version AS mark FROM ${lists(filter)}
               CROSS JOIN LATERAL (
                 SELECT i.id, i.version, i.since FROM inbox_items i WHERE ${itemsOf(filter)} ORDER BY i.since DESC, i.id DESC LIMIT 100
               ) i
               WHERE ${worthwhile(filter)} ORDER BY i.since DESC, i.id DESC LIMIT 100) newest) AS mark`)
  return rows[0] as OpenItems
}
