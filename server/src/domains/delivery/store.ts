import type { Db, Prisma, Tx } from '../../platform/database.ts'
import type { Ref } from '../../platform/ids.ts'
import type { InboxKind } from './rules.ts'

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
