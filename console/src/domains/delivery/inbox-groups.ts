import type { MarkKind } from '../../kit/state-marks.tsx'
import type { InboxItem } from './inbox-query.ts'

export type InboxGroup = 'answer' | 'look' | 'snoozed' | 'handled'
export const groupOrder: readonly InboxGroup[] = ['answer', 'look', 'snoozed', 'handled']

const asks: ReadonlySet<InboxItem['kind']> = new Set(['TOOL_APPROVAL', 'PLAN_APPROVAL', 'QUESTION'])

/**
 * Where an item stands: what can be answered, what has to be looked at, what was put off, and what was
 * handled since midnight. Every open item is in exactly one of the first three, so that none gets lost.
 */
export function groupOf(item: InboxItem, now: number): InboxGroup {
  if (item.state !== 'OPEN') return 'handled'
  if (item.snoozedUntil !== null && Date.parse(item.snoozedUntil) > now) return 'snoozed'
  return asks.has(item.kind) ? 'answer' : 'look'
}

/** What is due first comes first; without a deadline, what has waited longest. */
export function byUrgency(a: InboxItem, b: InboxItem): number {
  const due = (item: InboxItem) =>
    item.deadline === null ? Number.POSITIVE_INFINITY : Date.parse(item.deadline)
  return due(a) - due(b) || Date.parse(a.since) - Date.parse(b.since)
}

export function byHandling(a: InboxItem, b: InboxItem): number {
  return (b.handledAt ?? b.since).localeCompare(a.handledAt ?? a.since)
}

const marks = {
  TOOL_APPROVAL: 'waiting',
  PLAN_APPROVAL: 'waiting',
  QUESTION: 'waiting',
  RUN_FAILED: 'bad',
  EFFECTS_UNKNOWN: 'ended',
  RUN_UNSUPPORTED: 'ended',
} as const satisfies Record<InboxItem['kind'], MarkKind>

export function itemMark(item: InboxItem): MarkKind {
  return item.state === 'OPEN' ? marks[item.kind] : 'ended'
}
