import type { Db } from '../../platform/database.ts'
import type { Call } from '../../platform/idempotency.ts'
import { encodeId, type Ref } from '../../platform/ids.ts'
import { appendToProject } from '../../platform/journal.ts'
import { type Channel, enqueue } from '../../platform/outbox.ts'
import { invalid, notFound, Refusal } from '../../platform/refusal.ts'
import { type Platform, transact, type Unit } from '../../platform/transaction.ts'
import { audit, loadGrantsOfPrincipals, loadPrincipals } from '../access/operations.ts'
import { allows, type PrincipalKind, type Viewer } from '../access/rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export type { InboxRow } from './store.ts'

/** Puts something in front of the owners, in the transaction that causes it. */
export async function openInboxItem(
  unit: Unit,
  item: Omit<store.NewInboxItem, 'id' | 'since'>,
): Promise<void> {
  const id = unit.ids.next()
  await store.insertItem(unit.tx, { ...item, id, since: unit.now })
  await enqueue(unit, {
    projectId: item.projectId,
    channel: 'console',
    key: id,
    payload: { kind: item.kind },
  })
  unit.hint({ topic: 'project', id: item.projectId })
}

/** The console's own channel of the outbox: a new item becomes an event of the project's feed. */
export const consoleChannel: Channel = (unit, { projectId, key, payload }) =>
  appendToProject(unit, projectId, {
    type: 'INBOX_CHANGED',
    subjectId: key,
    payload: {
      itemId: encodeId({ type: 'InboxItem', projectId, id: key }),
      state: 'OPEN',
      ...(payload as { kind: string }),
    },
  })

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

export interface UpdateInboxItem {
  itemId: Ref
  action: rules.InboxAction
  assigneeId?: string | undefined
  snoozeUntil?: Date | undefined
  expectedVersion?: number | undefined
}

/**
 * Changes an inbox item. ASSIGN without an assignee takes it back, SNOOZE without a time wakes it; ACKNOWLEDGE wakes it
 * too. Another version than the expected one, and what the item's state does not allow, are CONFLICT with the item as it
 * is. What changes nothing writes nothing.
 */
export function updateInboxItem(platform: Platform, call: Call, input: UpdateInboxItem): Promise<void> {
  return transact(platform, async (unit) => {
    const item = await store.lockItem(unit.tx, input.itemId)
    if (!item) throw notFound()
    const facts = factsOf(item)
    const current = { type: 'InboxItem' as const, projectId: item.projectId, id: item.id }
    if (input.expectedVersion !== undefined && input.expectedVersion !== item.version) {
      throw new Refusal('CONFLICT', `The item is at version ${item.version} by now.`, { current })
    }
    const next = rules.decideItem(facts, input.action)
    if (next instanceof Refusal) throw new Refusal('CONFLICT', next.message, { current })
    if (next === 'same') return
    const change = await changeOf(unit, call, item, next, input)
    if (change === null) return
    if (!(await store.updateItem(unit.tx, item, change))) throw new Error('a locked inbox item moved')
    await tell(unit, call, item, input.action, change)
  })
}

const factsOf = (item: store.InboxRow) => ({
  kind: item.kind as rules.InboxKind,
  state: item.state as rules.InboxState,
  deadlineAt: item.deadlineAt,
})

/** What the action makes of the item; null when that is what it is already. */
async function changeOf(
  unit: Unit,
  call: Call,
  item: store.InboxRow,
  state: rules.InboxState,
  input: UpdateInboxItem,
): Promise<store.ItemChange | null> {
  const { assigneeId, snoozedUntil, handledAt, handledBy } = item
  const kept = { state, assigneeId, snoozedUntil, handledAt, handledBy }
  switch (input.action) {
    case 'ACKNOWLEDGE':
      return { ...kept, snoozedUntil: null, handledAt: unit.now, handledBy: call.viewer.principalId }
    case 'REOPEN':
      return { ...kept, handledAt: null, handledBy: null }
    case 'ASSIGN': {
      const wanted = input.assigneeId ?? null
      if (wanted === assigneeId) return null
      if (wanted !== null) await mustBeAbleToAnswer(unit, wanted, item)
      return { ...kept, assigneeId: wanted }
    }
    case 'SNOOZE': {
      const until = input.snoozeUntil ?? null
      if (until?.getTime() === snoozedUntil?.getTime()) return null
      const refusal = until && rules.checkSnooze(factsOf(item), until, unit.now)
      if (refusal) throw refusal
      return { ...kept, snoozedUntil: until }
    }
    default:
      return input.action satisfies never
  }
}

/** Only who could do something about it gets an item; who that can't be is not told apart from who does not exist. */
async function mustBeAbleToAnswer(unit: Unit, principalId: string, item: store.InboxRow): Promise<void> {
  const [[principal], grants] = await Promise.all([
    loadPrincipals(unit.tx as Db, [principalId]),
    loadGrantsOfPrincipals(unit.tx as Db, [principalId]),
  ])
  const assignee: Viewer = {
    principalId,
    principalKind: (principal?.kind ?? 'SERVICE') as PrincipalKind,
    tokenId: null,
    signInId: null,
    expiresAt: null,
    channel: 'SYSTEM',
    grants: grants.map((grant) => ({
      capabilities: grant.capabilities,
      projectId: grant.projectId ?? undefined,
      sessionId: grant.sessionId ?? undefined,
    })),
    tokenGrants: null,
  }
  const scope = { projectId: item.projectId, sessionId: item.sessionId }
  if (!principal || principal.disabledAt || !allows(assignee, 'approval.resolve', scope)) {
    throw invalid('assigneeId', 'is nobody who could answer here (capability approval.resolve)')
  }
}

async function tell(
  unit: Unit,
  call: Call,
  item: store.InboxRow,
  action: rules.InboxAction,
  change: store.ItemChange,
): Promise<void> {
  const subject = { type: 'InboxItem' as const, projectId: item.projectId, id: item.id }
  const principal = (id: string | null) => id && encodeId({ type: 'Principal', id })
  const detail = {
    state: change.state,
    ...(action === 'ASSIGN' && { assignee: principal(change.assigneeId) }),
    ...(action === 'SNOOZE' && { snoozedUntil: change.snoozedUntil?.toISOString() ?? null }),
  }
  await appendToProject(unit, item.projectId, {
    type: 'INBOX_CHANGED',
    sessionId: item.sessionId,
    runId: item.runId,
    subjectId: item.id,
    payload: {
      itemId: encodeId(subject),
      action,
      version: item.version + 1,
      by: principal(call.viewer.principalId),
      ...detail,
    },
  })
  await audit(unit, call, { action: `inbox.${action.toLowerCase()}`, subject, detail })
}

export interface InboxQuery {
  sight: rules.Sight
  kinds: readonly rules.InboxKind[] | null
  /** Absent: what is open and not put off. Given: everything in these states, put off or not. */
  states: readonly rules.InboxState[] | null
}
const filterOf = (query: InboxQuery, now: Date): store.InboxFilter => ({
  sight: query.sight,
  kinds: query.kinds && [...new Set(query.kinds)],
  states: [...new Set(query.states ?? (['OPEN'] as const))],
  awakeAt: query.states ? null : now,
})

/** A page of the inbox, newest first; one row more than asked for. */
export const listInbox = (
  platform: Platform,
  query: InboxQuery,
  page: { first: number; after: [at: string, id: string] | null },
) => store.itemPage(platform.db, filterOf(query, platform.clock.now()), page)

const mostCounted = 1_000

/** How many items the list has; null for more than 1 000, which nobody counts. */
export async function countInbox(platform: Platform, query: InboxQuery): Promise<number | null> {
  const count = await store.countItems(platform.db, filterOf(query, platform.clock.now()), mostCounted + 1)
  return count > mostCounted ? null : count
}

/** How many open items a sight covers, put off or not, and a mark that differs when the newest of them differ. */
export const readOpen = (platform: Platform, sight: rules.Sight) => store.openItems(platform.db, sight)
