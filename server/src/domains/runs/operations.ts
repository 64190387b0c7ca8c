import { decodeId, encodeId, type Ref } from '../../platform/ids.ts'
import { append, type Entry } from '../../platform/journal.ts'
import { invalid, Refusal } from '../../platform/refusal.ts'
import { canonicalJson } from '../../platform/strict-json.ts'
import type { Platform, Unit } from '../../platform/transaction.ts'
import { openInboxItem, settleAsks } from '../delivery/operations.ts'
import { bindingOf } from '../intents/operations.ts'
import { addCheckpoint } from '../sessions/forks/operations.ts'
import type { LockedSession } from '../sessions/operations.ts'
import * as rules from './rules.ts'
import * as runtimes from './runtimes/store.ts'
import { endSegment } from './segments/operations.ts'
import * as store from './store.ts'

export type { ApprovalRow, RouteRow, RunRow, RuntimeRow } from './store.ts'

export const loadRuns = store.runsByRef
export const loadApprovals = store.approvalsByRef
export const loadApprovalsOfRuns = store.approvalsOfRuns
export const loadRuntimes = store.runtimesByRef
export const loadRuntimesOfProjects = store.runtimesOfProjects
export const loadRoutes = store.routesByRef

export const liveRunsOf = store.liveRunsOf
export const succeededAction = store.succeededAction
export const lockRuntimesOf = runtimes.lockRuntimesOf

export const publicId = (type: Parameters<typeof encodeId>[0]['type'], projectId: string, id: string) =>
  encodeId({ type, projectId, id })

/** What an event's payload takes: the bytes of its canonical form. */
export const sizeOf = (payload: unknown) => Buffer.byteLength(canonicalJson(payload))

export const tooLarge = (maxEventBytes: number, path: string[]) =>
  new Refusal('EVENT_TOO_LARGE', 'An event is larger than the project allows. Nothing was written.', {
    issues: [{ path, message: `must be at most ${maxEventBytes} bytes of canonical JSON` }],
  })

/** Refuses an event's payload of more bytes than the project allows. */
export function checkSize(payload: unknown, maxEventBytes: number, path: string[]): void {
  if (sizeOf(payload) > maxEventBytes) throw tooLarge(maxEventBytes, path)
}

// --- Ends -------------------------------------------------------------------------------------------------------------

const endEvents = {
  COMPLETED: 'RUN_COMPLETED',
  FAILED: 'RUN_FAILED',
  CANCELLED: 'RUN_CANCELLED',
  TIMED_OUT: 'RUN_TIMED_OUT',
} as const

type End = Omit<store.Ending, 'state' | 'effects' | 'headId'> & {
  state: keyof typeof endEvents
  /** Where the kind of end decides; else they follow from what was begun and what has a result. */
  effects?: rules.EffectState
  /** The runtime ended it by itself, and need not be told. */
  byRuntime?: boolean
}

/**
 * The one way a run ends: state, effects, withdrawn asks, counts and slots, events, the runtime's signal, and the
 * owner's inbox where a person should look.
 */
export async function end(
  unit: Unit,
  session: LockedSession,
  run: store.LockedRun,
  ending: End,
): Promise<void> {
  const effects = ending.effects ?? rules.effectsAtEnd(await store.effectCounts(unit.tx, run))
  const segment = await endSegment(unit, run, ending.state)
  const asks = await store.endRun(unit.tx, run, { ...ending, effects, headId: session.headId }, unit.now)
  await append(unit, session, run.id, [
    ...segment,
    ...asks.map(
      (id): Entry => ({
        type: 'APPROVAL_WITHDRAWN',
        subjectId: id,
        payload: { approvalId: publicId('Approval', run.projectId, id) },
      }),
    ),
    {
      type: endEvents[ending.state],
      payload: {
        state: ending.state,
        effects,
        completion: ending.completion,
        code: ending.failureCode,
        message: ending.failureMessage,
        reason: ending.reason,
        by: ending.endedBy && encodeId({ type: 'Principal', id: ending.endedBy }),
      },
    },
  ])
  if (ending.state === 'COMPLETED') {
    const { activeId } = await bindingOf(unit, run)
    await addCheckpoint(unit, session, {
      runId: run.id,
      label: null,
      revisionId: activeId,
      byId: run.runtimePrincipalId,
    })
  }
  await settleAsks(unit, run.projectId, asks, ending.endedBy ?? null)
  if (!ending.byRuntime) {
    await signal(unit, run, 'RUN_CANCELLED', { reason: ending.reason ?? ending.failureCode ?? ending.state })
  }
  const unsupported = ending.completion === 'UNSUPPORTED'
  if (unsupported || ending.state === 'FAILED' || ending.state === 'TIMED_OUT') {
    const failed = effects === 'UNKNOWN' ? 'EFFECTS_UNKNOWN' : 'RUN_FAILED'
    await openInboxItem(unit, {
      projectId: run.projectId,
      kind: unsupported ? 'RUN_UNSUPPORTED' : failed,
      title: session.title,
      why: unsupported
        ? 'The run completed without a single successful action of the work that its protocol governs.'
        : (ending.failureMessage ?? ending.failureCode ?? 'The run took longer than its time.'),
      sessionId: session.id,
      runId: run.id,
      approvalId: null,
      deadlineAt: null,
      defaultDecision: null,
    })
  }
}

/** Keeps a signal for the run's runtime until it is acknowledged, and nudges. */
export async function signal(
  unit: Unit,
  run: store.LockedRun,
  kind: runtimes.NewSignal['kind'],
  payload: Record<string, string | null>,
): Promise<void> {
  await runtimes.insertSignal(unit.tx, {
    projectId: run.projectId,
    id: unit.ids.next(),
    runtimeId: run.runtimeId,
    kind,
    sessionId: run.sessionId,
    runId: run.id,
    payload,
    now: unit.now,
  })
  unit.hint({ topic: 'runtime', projectId: run.projectId, id: run.runtimeId })
}

// --- Reading ----------------------------------------------------------------------------------------------------------

const maxProbes = 32

/** What has become of runs that a client knew (≤ 32): alive, ended, lost with their runtime, or not of this session. */
export async function probeRuns(platform: Platform, session: Ref, ids: readonly string[]) {
  if (ids.length > maxProbes) throw invalid('probeRunIds', `names at most ${maxProbes} runs`)
  const refs = ids.map((id) => decodeId(id))
  const wanted = refs.flatMap((ref) =>
    ref?.type === 'Run' && ref.projectId === session.projectId
      ? [{ projectId: ref.projectId, id: ref.id }]
      : [],
  )
  const rows = new Map(
    (await store.runsByRef(platform.db, wanted))
      .filter((run) => run.sessionId === session.id)
      .map((run) => [run.id, run]),
  )
  return ids.map((runId, index) => {
    const run = rows.get(refs[index]?.id ?? '') ?? null
    const status = !run
      ? 'UNKNOWN'
      : !run.endedAt
        ? 'ALIVE'
        : run.failureCode === 'RUNTIME_LOST'
          ? 'LOST'
          : 'ENDED'
    return { runId, status: status as 'ALIVE' | 'ENDED' | 'LOST' | 'UNKNOWN', run }
  })
}
