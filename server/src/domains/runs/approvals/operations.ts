import { type Call, transactOnce } from '../../../platform/idempotency.ts'
import { encodeId, type Ref } from '../../../platform/ids.ts'
import { append, type Json } from '../../../platform/journal.ts'
import { accept, notFound, Refusal } from '../../../platform/refusal.ts'
import { jsonFlaw } from '../../../platform/strict-json.ts'
import { type Platform, transact, type Unit } from '../../../platform/transaction.ts'
import { audit } from '../../access/operations.ts'
import { seesProject, sessionsWith, type Viewer, visibleProjects } from '../../access/rules.ts'
import { settleAsks } from '../../delivery/operations.ts'
import type { LockedSession } from '../../sessions/operations.ts'
import { fencedWrite } from '../fenced.ts'
import { judgeAsked } from '../guard/asked.ts'
import { decideConfirmation } from '../guard/handoff/confirmed.ts'
import { lockRun } from '../locks.ts'
import { publicId, signal } from '../operations.ts'
import * as rules from '../rules.ts'
import * as runs from '../store.ts'
import { openAsk } from './asking.ts'
import * as store from './store.ts'

export interface RequestApproval extends rules.Ask {
  runId: Ref
  runToken: string
  title: string
  payload: Json
}

/** Suspends a run with one ask: a row with a deadline and a default, an event, and an item in the owners' inbox. */
export function requestApproval(platform: Platform, call: Call, input: RequestApproval) {
  return fencedWrite(platform, call, input, 'ask', async (unit, { session, run }) => {
    const flaw = jsonFlaw(input.payload)
    if (flaw) {
      throw new Refusal('INVALID_EVENT_PAYLOAD', 'The payload is not strict JSON.', {
        issues: [{ path: ['payload', ...flaw.path], message: flaw.message }],
      })
    }
    const ask = accept(rules.completeAsk(input, unit.now, session.approvalTtlMs))
    const approvalId = unit.ids.next()
    const { kind, title, payload } = input
    await openAsk(unit, session, run, { ...ask, id: approvalId, kind, title, payload })
    return { projectId: run.projectId, runId: run.id, approvalId }
  })
}

/** Answers an ask with one of its options. The first answer wins; a later one is CONFLICT with what was decided. */
export function resolveApproval(
  platform: Platform,
  call: Call,
  input: { approvalId: Ref; decision: string; note?: string | undefined },
) {
  return transactOnce(platform, call, async (unit) => {
    const { approval, session, run } = await lockApproval(unit, input.approvalId)
    if (!approval.options.includes(input.decision)) {
      throw new Refusal('INVALID_INPUT', 'The decision is not one of the options.', {
        issues: [{ path: ['decision'], message: `must be one of: ${approval.options.join(', ')}` }],
      })
    }
    decideOrConflict(approval, 'answer', unit.now)
    await settle(unit, session, run, approval, {
      state: 'ANSWERED',
      decision: input.decision,
      note: input.note ?? null,
      by: call.viewer.principalId,
    })
    await audit(unit, call, {
      action: 'approval.resolve',
      subject: { type: 'Approval', projectId: run.projectId, id: approval.id },
      reason: input.note,
      detail: { decision: input.decision },
    })
    return { projectId: run.projectId, approvalId: approval.id, runId: run.id }
  })
}

/** Applies the declared default of an ask whose deadline has passed. Nothing happens when it was answered meanwhile. */
export function expireApproval(platform: Platform, ref: Ref): Promise<boolean> {
  return transact(platform, async (unit) => {
    const approval = await store.approvalByRef(unit.tx, ref)
    if (!approval) return false
    const locked = await lockApproval(unit, ref)
    if (rules.decideApproval(locked.approval, 'expire', unit.now) instanceof Refusal) return false
    await settle(unit, locked.session, locked.run, locked.approval, {
      state: 'EXPIRED',
      decision: locked.approval.defaultDecision,
      note: null,
      by: null,
    })
    return true
  })
}

async function lockApproval(unit: Unit, ref: Ref) {
  const seen = await store.approvalByRef(unit.tx, ref)
  const locked = seen && (await lockRun(unit.tx, { projectId: ref.projectId, id: seen.runId }))
  // Read again under the session's lock: what was seen before it may be answered by now.
  const approval = locked && (await store.approvalByRef(unit.tx, ref))
  if (!locked || !approval) throw notFound()
  return { ...locked, approval: approval as typeof approval & { state: rules.ApprovalState } }
}

function decideOrConflict(
  approval: runs.ApprovalRow & { state: rules.ApprovalState },
  verb: rules.ApprovalVerb,
  now: Date,
): void {
  const next = rules.decideApproval(approval, verb, now)
  if (next instanceof Refusal) {
    throw new Refusal('CONFLICT', next.message, {
      current: { type: 'Approval', projectId: approval.projectId, id: approval.id },
    })
  }
}

async function settle(
  unit: Unit,
  session: LockedSession,
  run: runs.LockedRun,
  approval: runs.ApprovalRow,
  d: { state: 'ANSWERED' | 'EXPIRED'; decision: string; note: string | null; by: string | null },
): Promise<void> {
  await store.decide(unit.tx, approval, { ...d, now: unit.now })
  const judged = await judgeAsked(unit, session, run, approval, d.decision)
  // The runtime's row before the project's, as everywhere: two orders would be a deadlock.
  await signal(unit, run, 'APPROVAL_RESOLVED', {
    approvalId: approval.id,
    // An allowance that came too late is none to the agent, whatever else it reads.
    decision: judged?.actionDecision === 'DENIED' ? 'deny' : d.decision,
    code: judged?.actionCode ?? null,
    note: d.note,
  })
  const last = run.openApprovals === 1
  const deadlineAt = new Date(unit.now.getTime() + (run.remainingMs ?? session.runTimeoutMs))
  await runs.markAnswered(unit.tx, run, last, deadlineAt, unit.now)
  const approvalId = publicId('Approval', run.projectId, approval.id)
  await append(unit, session, run.id, [
    {
      type: d.state === 'ANSWERED' ? 'APPROVAL_ANSWERED' : 'APPROVAL_EXPIRED',
      subjectId: approval.id,
      payload: {
        approvalId,
        decision: d.decision,
        note: d.note,
        by: d.by && encodeId({ type: 'Principal', id: d.by }),
        ...judged,
      },
    },
    ...(last ? [{ type: 'RUN_RESUMED' as const, payload: { state: 'RUNNING' } }] : []),
  ])
  if (approval.kind === 'HANDOFF') await decideConfirmation(unit, session, run, approval, d)
  await settleAsks(unit, run.projectId, [approval.id], d.by)
}

/** The asks of sessions, newest first, at most 100 of each. */
export const loadApprovalsOfSessions = store.approvalsOfSessions
export type { AsksOfSession } from './store.ts'

/** A page of the asks of a project, or of all visible ones, that the caller can see, newest first. */
export async function listApprovals(
  db: Parameters<typeof store.approvalPage>[0],
  viewer: Viewer,
  projectId: string | null,
  open: boolean | null,
  page: { first: number; after: [string, string] | null },
) {
  const projects =
    projectId === null ? visibleProjects(viewer) : seesProject(viewer, projectId) ? [projectId] : []
  if (projectId !== null && projects.length === 0) throw notFound()
  if (projects === 'all') return store.approvalPage(db, 'all', [], open, page)
  const whole = projects.filter((id) => sessionsWith(viewer, 'session.read', id) === 'all')
  const sessions = projects.flatMap((id) => {
    const some = sessionsWith(viewer, 'session.read', id)
    return some === 'all' ? [] : some
  })
  return store.approvalPage(db, whole, sessions, open, page)
}
