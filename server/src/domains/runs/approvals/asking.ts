import type { Ref } from '../../../platform/ids.ts'
import { append, type Json } from '../../../platform/journal.ts'
import type { Unit } from '../../../platform/transaction.ts'
import { openInboxItem } from '../../delivery/operations.ts'
import type { LockedSession } from '../../sessions/operations.ts'
import { checkSize, publicId } from '../operations.ts'
import type { ApprovalKind } from '../rules.ts'
import * as runs from '../store.ts'
import * as store from './store.ts'

const inboxKinds = {
  TOOL: 'TOOL_APPROVAL',
  PLAN: 'PLAN_APPROVAL',
  HANDOFF: 'PLAN_APPROVAL',
  QUESTION: 'QUESTION',
} as const

export interface NewAsk extends Pick<Ref, 'id'> {
  kind: ApprovalKind
  title: string
  payload: Json
  options: string[]
  defaultDecision: string
  expiresAt: Date
}

/** Suspends a locked run that takes asks with one more: its row, its events, an item in the owners' inbox. */
export async function openAsk(
  unit: Unit,
  session: LockedSession,
  run: runs.LockedRun,
  ask: NewAsk,
): Promise<void> {
  const payload = {
    approvalId: publicId('Approval', run.projectId, ask.id),
    kind: ask.kind,
    title: ask.title,
    payload: ask.payload,
    options: ask.options,
    defaultDecision: ask.defaultDecision,
    expiresAt: ask.expiresAt.toISOString(),
  }
  checkSize(payload, session.maxEventBytes, ['payload'])
  await store.insertApproval(unit.tx, {
    ...ask,
    projectId: run.projectId,
    sessionId: session.id,
    runId: run.id,
    now: unit.now,
  })
  const remaining = run.deadlineAt ? Math.max(0, run.deadlineAt.getTime() - unit.now.getTime()) : null
  await runs.markWaiting(unit.tx, run, remaining)
  await append(unit, session, run.id, [
    { type: 'APPROVAL_REQUESTED', subjectId: ask.id, payload },
    ...(run.state === 'RUNNING'
      ? [{ type: 'RUN_WAITING' as const, payload: { state: 'WAITING_APPROVAL' } }]
      : []),
  ])
  await openInboxItem(unit, {
    projectId: run.projectId,
    kind: inboxKinds[ask.kind],
    title: ask.title,
    why: session.title,
    sessionId: session.id,
    runId: run.id,
    approvalId: ask.id,
    deadlineAt: ask.expiresAt,
    defaultDecision: ask.defaultDecision,
  })
}
