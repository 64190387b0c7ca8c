import type { Call } from '../../../platform/idempotency.ts'
import type { Ref } from '../../../platform/ids.ts'
import { append, type Entry, type Json } from '../../../platform/journal.ts'
import { accept, notFound, Refusal } from '../../../platform/refusal.ts'
import type { Platform, Unit } from '../../../platform/transaction.ts'
import { protocolsOf } from '../../protocols/operations.ts'
import { allowedActions, governedBy } from '../../protocols/rules.ts'
import type { LockedSession } from '../../sessions/operations.ts'
import { openAsk } from '../approvals/asking.ts'
import { fencedWrite } from '../fenced.ts'
import { publicId } from '../operations.ts'
import { completeAsk, decideRun } from '../rules.ts'
import type { LockedRun } from '../store.ts'
import * as rules from './rules.ts'
import { definitionOf, type Stand, standOf } from './standing.ts'
import * as store from './store.ts'

export type { ActionPage, ActionRow, SegmentPage, SegmentRow } from './store.ts'
export {
  actionPages as loadActionPages,
  actionsByRef as loadActions,
  lastSegments as loadLastSegments,
  segmentPages as loadSegmentPages,
  segmentsByRef as loadSegments,
  segmentsOfRuns as loadSegmentsOfRuns,
} from './store.ts'

const actionsOf = (tools: readonly rules.Tool[]) => tools.map(({ action }) => action)

export interface RequestAction {
  runId: Ref
  runToken: string
  tool: string
  argumentsDigest?: string | undefined
}
/** What is stored for a replay: the first answer, whatever has become of the action since. */
export interface Requested {
  projectId: string
  actionId: string
  decision: string
  code: string | null
  approvalId: string | null
  allowedActions: string[]
}

/**
 * The only authority over what an agent may do. Maps a declared tool to its action, decides by the phase of the active
 * segment and by the task, and appends to the ledger: ALLOWED, DENIED with a code, or NEEDS_APPROVAL with an ask. A tool
 * that the runtime did not declare is TOOL_UNKNOWN and leaves no row. No model is asked.
 */
export async function requestAction(
  platform: Platform,
  call: Call,
  input: RequestAction,
): Promise<Requested> {
  const protocols = await protocolsOf(platform.db, input.runId.projectId)
  const isGoverned = governedBy(protocols.all)
  return fencedWrite(platform, call, input, 'write', async (unit, { session, run }) => {
    const at = await standOf(unit, run, protocols)
    const tool = at.tools.find(({ name }) => name === input.tool)
    if (!tool) throw rules.toolUnknown(input.tool)
    const standing = {
      protocol: at.definition,
      phase: at.phase,
      activeId: at.activeId,
      headId: session.headId,
    }
    const decided = rules.decideRequest(standing, tool.action, isGoverned)
    const asks = decided.decision === 'NEEDS_APPROVAL'
    if (asks) accept(decideRun(run.state, 'ask'))
    const action = {
      projectId: run.projectId,
      id: unit.ids.next(),
      sessionId: session.id,
      runId: run.id,
      segmentId: at.segmentId,
      number: at.actionCount + 1,
      tool: tool.name,
      action: tool.action,
      governedBy: rules.governorOf(tool.action, at.definition, protocols.all),
      argumentsDigest: input.argumentsDigest ?? null,
      protocol: at.protocol,
      phase: at.phase,
      ...decided,
      approvalId: asks ? unit.ids.next() : null,
      now: unit.now,
    }
    await append(
      unit,
      session,
      run.id,
      [requestedEvent(action)],
      { calls: 0, results: 0, actions: 1 },
      store.newAction(action),
    )
    if (action.approvalId) await ask(unit, session, run, action, action.approvalId)
    return {
      projectId: run.projectId,
      actionId: action.id,
      decision: action.decision,
      code: action.code,
      approvalId: action.approvalId,
      allowedActions: allowedActions(at.definition, at.phase, actionsOf(at.tools), isGoverned),
    }
  })
}

const requestedEvent = (action: store.NewAction): Entry => ({
  type: 'ACTION_REQUESTED',
  subjectId: action.id,
  payload: {
    actionId: publicId('Action', action.projectId, action.id),
    number: action.number,
    tool: action.tool,
    action: action.action,
    governedBy: action.governedBy,
    segmentId: publicId('ProtocolSegment', action.projectId, action.segmentId),
    protocol: action.protocol,
    phase: action.phase,
    decision: action.decision,
    code: action.code,
    approvalId: action.approvalId && publicId('Approval', action.projectId, action.approvalId),
    argumentsDigest: action.argumentsDigest,
  },
})

async function ask(
  unit: Unit,
  session: LockedSession,
  run: LockedRun,
  action: store.NewAction,
  approvalId: string,
): Promise<void> {
  const completed = accept(completeAsk({ kind: 'TOOL' }, unit.now, session.approvalTtlMs))
  await openAsk(unit, session, run, {
    ...completed,
    id: approvalId,
    kind: 'TOOL',
    title: `Allow ${action.tool}?`,
    payload: {
      actionId: publicId('Action', action.projectId, action.id),
      tool: action.tool,
      action: action.action,
      protocol: action.protocol,
      phase: action.phase,
      argumentsDigest: action.argumentsDigest,
    },
  })
}

export interface RecordActionResult {
  actionId: Ref
  runToken: string
  ok: boolean
  resultDigest?: string | undefined
  facts?: Json | undefined
}

/**
 * Closes an allowed action, exactly once: another result is CONFLICT. Its facts are merged into the segment, which moves on
 * as its protocol says. The result of an action of an earlier segment moves nothing: that one has ended.
 */
export async function recordActionResult(platform: Platform, call: Call, input: RecordActionResult) {
  const { projectId } = input.actionId
  const asked = await store.actionByRef(platform.db, input.actionId)
  if (!asked) throw notFound()
  const protocols = await protocolsOf(platform.db, projectId)
  const runRef = { projectId, id: asked.runId }
  return fencedWrite(
    platform,
    call,
    { runId: runRef, runToken: input.runToken },
    'write',
    async (unit, { session, run }) => {
      const action = await store.actionByRef(unit.tx, input.actionId)
      if (!action) throw notFound()
      const refusal = rules.decideResult(action)
      if (refusal) {
        const current = { type: 'Action' as const, projectId, id: action.id }
        throw new Refusal(refusal.code, refusal.message, { current })
      }
      const facts = accept(rules.readFacts(input.facts))
      const at = await standOf(unit, run, protocols)
      const result = { action: action.action, ok: input.ok, facts }
      const moved =
        action.segmentId === at.segmentId ? accept(rules.applyResult(at.definition, at, result)) : null
      const closed = { ok: input.ok, resultDigest: input.resultDigest ?? null, facts, now: unit.now }
      const rows = [store.actionResult(action, closed)]
      const segment = { projectId, id: at.segmentId, revision: at.revision }
      if (moved?.changed) rows.push(store.segmentMoved(segment, moved))
      await append(
        unit,
        session,
        run.id,
        [completedEvent(action, closed, at, moved), ...phaseEvents(at, projectId, moved)],
        { calls: 0, results: 0 },
        store.together(rows),
      )
      const definition = definitionOf(protocols, at.protocol)
      return {
        projectId,
        actionId: action.id,
        segmentId: at.segmentId,
        allowedActions: allowedActions(
          definition,
          moved?.phase ?? at.phase,
          actionsOf(at.tools),
          governedBy(protocols.all),
        ),
      }
    },
  )
}

/** Tells the whole of the segment when it moved: so a journal alone rebuilds it. */
const completedEvent = (
  action: store.ActionRow,
  result: { ok: boolean; resultDigest: string | null; facts: Record<string, boolean | number> },
  at: Stand,
  moved: rules.Moved | null,
): Entry => ({
  type: 'ACTION_COMPLETED',
  subjectId: action.id,
  payload: {
    actionId: publicId('Action', action.projectId, action.id),
    number: action.number,
    tool: action.tool,
    action: action.action,
    ok: result.ok,
    resultDigest: result.resultDigest,
    facts: result.facts,
    segmentId: publicId('ProtocolSegment', action.projectId, action.segmentId),
    ...(moved?.changed && {
      segment: { revision: at.revision + 1, phase: moved.phase, facts: moved.facts },
    }),
  },
})

const phaseEvents = (at: Stand, projectId: string, moved: rules.Moved | null): Entry[] =>
  (moved?.entered ?? []).map((to, index) => ({
    type: 'SEGMENT_PHASE_CHANGED',
    subjectId: at.segmentId,
    payload: {
      segmentId: publicId('ProtocolSegment', projectId, at.segmentId),
      protocol: at.protocol,
      from: index === 0 ? at.phase : (moved?.entered[index - 1] ?? at.phase),
      to,
      revision: at.revision + 1,
    },
  }))
