import type { Unit } from '../../platform/transaction.ts'
import * as store from './store.ts'

export type { InboxRow } from './store.ts'

/** Puts something in front of the owners, in the transaction that causes it. */
export async function openInboxItem(
  unit: Unit,
  item: Omit<store.NewInboxItem, 'id' | 'since'>,
): Promise<void> {
  await store.insertItem(unit.tx, { ...item, id: unit.ids.next(), since: unit.now })
  unit.hint({ topic: 'project', id: item.projectId })
}

/** The asks are settled; so are their inbox items. */
export async function settleAsks(
  unit: Unit,
  projectId: string,
  approvalIds: string[],
  by: string | null,
): Promise<void> {
  if (approvalIds.length === 0) return
  await store.handleItemsOf(unit.tx, projectId, approvalIds, by, unit.now)
}

export const loadInboxItems = store.itemsByRef
