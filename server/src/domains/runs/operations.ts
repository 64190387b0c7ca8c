import { type Call, transactOnce } from '../../platform/idempotency.ts'
import { decodeId, encodeId, type Ref } from '../../platform/ids.ts'
import { append, type Entry, type Json } from '../../platform/journal.ts'
import { accept, invalid, notFound, Refusal } from '../../platform/refusal.ts'
import { canonicalJson, jsonFlaw } from '../../platform/strict-json.ts'
import { type Platform, transact, type Unit } from '../../platform/transaction.ts'
import { audit } from '../access/operations.ts'
import type { Viewer } from '../access/rules.ts'
import { openInboxItem, settleAsks } from '../delivery/operations.ts'
import { addMessage, authorityOf, type LockedSession, lockSession } from '../sessions/operations.ts'
import { decideSession, titleFrom, untitled } from '../sessions/rules.ts'
import { wordsOf } from '../sessions/words.ts'
import { lockRun } from './locks.ts'
import * as rules from './rules.ts'
import * as runtimes from './runtimes/store.ts'
import * as store from './store.ts'
import { generationOf, runToken } from './tokens.ts'

export type { ApprovalRow, RouteRow, RunRow, RuntimeRow } from './store.ts'

export const loadRuns = store.runsByRef
export const loadApprovals = store.approvalsByRef
export const loadApprovalsOfRuns = store.approvalsOfRuns
export const loadRuntimes = store.runtimesByRef
export const loadRuntimesOfProjects = store.runtimesOfProjects
export const loadRoutes = store.routesByRef

export const publicId = (type: Parameters<typeof encodeId>[0]['type'], projectId: string, id: string) =>
  encodeId({ type, projectId, id })

// --- Submitting -------------------------------------------------------------------------------------------------------

export interface SubmitTurn {
  sessionId: Ref
  text: string
  protocol?: string | undefined
  runtimeId?: Ref | undefined
  expectedGeneration?: number | undefined
}

/**
 * Takes a turn, or refuses it: the receipt comes only after the run holds a slot of its project and of a connected
 * runtime and all of it is committed. Refusals: SESSION_CLOSED, CONFLICT (generation), PROTOCOL_UNKNOWN, SESSION_BUSY,
 * CAPACITY, RUNTIME_UNAVAILABLE.
 */
export function submitTurn(platform: Platform, call: Call, turn: SubmitTurn) {
  return transactOnce(platform, call, async (unit) => {
    const session = await lockSession(unit, turn.sessionId)
    accept(rules.routeByDefault(turn.protocol))
    accept(decideSession(session, 'submit', turn.expectedGeneration))
    const refusal = rules.admitTurn({
      liveRunsOfSession: session.liveRuns,
      maxLiveRunsPerSession: session.maxLiveRunsPerSession,
      liveRunsOfProject: session.projectLiveRuns,
      maxConcurrentRuns: session.maxConcurrentRuns,
    })
    if (refusal) throw refusal
    if (turn.runtimeId && turn.runtimeId.projectId !== session.projectId) throw rules.noRuntime()

    const { projectId } = session
    const [runId, routeId, messageId] = [unit.ids.next(), unit.ids.next(), unit.ids.next()]
    const authority = authorityOf(call.viewer, session)
    const ids = {
      run: publicId('Run', projectId, runId),
      route: publicId('RouteDecision', projectId, routeId),
      message: publicId('Message', projectId, messageId),
    }
    const offerExpiresAt = new Date(unit.now.getTime() + session.offerTimeoutMs)
    const result = await store.insertTurn(unit.tx, {
      session,
      runId,
      routeId,
      messageId,
      signalId: unit.ids.next(),
      authorId: call.viewer.principalId,
      authority,
      text: turn.text,
      words: wordsOf(turn.text).join(' '),
      title: session.title === untitled ? titleFrom(turn.text) : null,
      protocol: rules.generalTask,
      model: session.model,
      thinkingLevel: session.thinkingLevel,
      runtimeId: turn.runtimeId?.id ?? null,
      now: unit.now,
      seenSince: new Date(unit.now.getTime() - rules.runtimeSilenceMs),
      offerExpiresAt,
      maxConcurrentRuns: session.maxConcurrentRuns,
      messagePayload: {
        messageId: ids.message,
        runId: ids.run,
        authority,
        author: encodeId({ type: 'Principal', id: call.viewer.principalId }),
        text: turn.text,
      },
      routePayload: {
        routeId: ids.route,
        target: 'AGENT',
        relation: 'SIDE_CHAT',
        protocol: rules.generalTask,
        source: 'DEFAULT',
        reasons: [],
        warnings: [],
      },
      offerPayload: { runId: ids.run, expiresAt: offerExpiresAt.toISOString() },
    })
    if (!result.tookRuntime) throw rules.noRuntime()
    if (!result.tookSlot || result.cursor === null || result.runtimeId === null) throw rules.atCapacity()
    unit.hint({ topic: 'session', projectId, id: session.id })
    unit.hint({ topic: 'project', id: projectId })
    unit.hint({ topic: 'runtime', projectId, id: result.runtimeId })
    return { projectId, runId, routeId, cursor: result.cursor }
  })
}

// --- The runtime's side -----------------------------------------------------------------------------------------------

/** Locks a run for its own runtime: another principal's runtime gets NOT_FOUND. */
async function lockOwnRun(unit: Unit, viewer: Viewer, ref: Ref) {
  const locked = await lockRun(unit.tx, ref)
  if (!locked || locked.run.runtimePrincipalId !== viewer.principalId) throw notFound()
  return locked
}

/** Locks a run and checks that the token is its present one; a stale one is RUN_FENCED. */
export async function lockFenced(
  platform: Platform,
  unit: Unit,
  viewer: Viewer,
  ref: Ref,
  token: string,
  verb: rules.RunVerb,
) {
  const locked = await lockOwnRun(unit, viewer, ref)
  if (generationOf(platform.secret, ref.id, token) !== locked.run.tokenGeneration) {
    throw new Refusal('RUN_FENCED', 'This run token is not valid any more. Nothing was written.', {
      current: { type: 'Run', projectId: ref.projectId, id: ref.id },
    })
  }
  accept(rules.decideRun(locked.run.state, verb))
  return locked
}

const maxRecordedRejections = 20

/** Runs a fenced write; a stale token of this run's own leaves a RUN_WRITE_REJECTED event (the first 20 of a run). */
export async function recordingStaleWrites<T>(
  platform: Platform,
  call: Call,
  ref: Ref,
  token: string,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (
      error instanceof Refusal &&
      error.code === 'RUN_FENCED' &&
      generationOf(platform.secret, ref.id, token) !== null
    ) {
      await transact(platform, async (unit) => {
        const locked = await lockRun(unit.tx, ref)
        if (!locked || locked.run.rejectedWrites >= maxRecordedRejections) return
        await store.noteRejectedWrite(unit.tx, ref)
        await append(unit, locked.session, ref.id, [
          { type: 'RUN_WRITE_REJECTED', payload: { operation: call.operation, code: 'RUN_FENCED' } },
        ])
      })
    }
    throw error
  }
}

/**
 * Takes an offer. Again by the same runtime gives a new token and fences the old one. The clock of the run starts with
 * the first start.
 */
export function startRun(platform: Platform, call: Call, input: { runId: Ref; runtimeId: Ref }) {
  return transact(platform, async (unit) => {
    const { session, run } = await lockOwnRun(unit, call.viewer, input.runId)
    if (run.runtimeId !== input.runtimeId.id) throw notFound()
    accept(rules.decideRun(run.state, 'start'))
    if (run.state === 'OFFERED' && run.offerExpiresAt <= unit.now) {
      throw new Refusal('CONFLICT', 'The offer has expired.')
    }
    const generation = run.tokenGeneration + 1
    const deadlineAt = new Date(unit.now.getTime() + session.runTimeoutMs)
    await store.markStarted(unit.tx, run, generation, deadlineAt, unit.now)
    await runtimes.touchRuntime(unit.tx, input.runtimeId, unit.now)
    await append(unit, session, run.id, [
      {
        type: 'RUN_STARTED',
        payload: {
          runtimeId: publicId('Runtime', run.projectId, run.runtimeId),
          generation,
          again: run.state !== 'OFFERED',
        },
      },
    ])
    return {
      projectId: run.projectId,
      runId: run.id,
      generation,
      leaseUntil: new Date(unit.now.getTime() + session.runtimeGraceMs),
    }
  }).then((result) => ({ ...result, runToken: runToken(platform.secret, result.runId, result.generation) }))
}

export interface RunEvent {
  type: string
  payload: Json
}

/** Checks each event of a batch against the catalogue, strict JSON and the project's size limit. */
function checkEvents(events: RunEvent[], maxEventBytes: number): Entry[] {
  return events.map((event, index) => {
    const flaw = jsonFlaw(event.payload)
    if (flaw) {
      throw new Refusal('INVALID_EVENT_PAYLOAD', 'An event payload is not strict JSON.', {
        issues: [{ path: ['events', String(index), 'payload', ...flaw.path], message: flaw.message }],
      })
    }
    const refusal = rules.checkRuntimeEvent(event.type, event.payload, index)
    if (refusal) throw refusal
    checkSize(event.payload, maxEventBytes, ['events', String(index), 'payload'])
    return { type: event.type as rules.RuntimeEventType, payload: event.payload as Entry['payload'] }
  })
}

export function checkSize(payload: unknown, maxEventBytes: number, path: string[]): void {
  if (Buffer.byteLength(canonicalJson(payload)) > maxEventBytes) {
    throw new Refusal('EVENT_TOO_LARGE', 'An event is larger than the project allows. Nothing was written.', {
      issues: [{ path, message: `must be at most ${maxEventBytes} bytes of canonical JSON` }],
    })
  }
}

/** Writes a batch of at most 100 events, all or none. */
export function recordRunEvents(
  platform: Platform,
  call: Call,
  input: { runId: Ref; runToken: string; events: RunEvent[] },
) {
  return recordingStaleWrites(platform, call, input.runId, input.runToken, () =>
    transactOnce(platform, call, async (unit) => {
      const { session, run } = await lockFenced(
        platform,
        unit,
        call.viewer,
        input.runId,
        input.runToken,
        'write',
      )
      const entries = checkEvents(input.events, session.maxEventBytes)
      const count = (type: string) => entries.filter((entry) => entry.type === type).length
      await store.noteWrite(unit.tx, run, count('TOOL_CALL'), count('TOOL_RESULT'), unit.now)
      const appended = await append(unit, session, run.id, entries)
      return { cursor: appended?.cursor ?? session.lastSequence }
    }),
  )
}

/** Adds to what a run has used. What is not named stays as it was; what was never named stays null. */
export function recordUsage(
  platform: Platform,
  call: Call,
  input: { runId: Ref; runToken: string; usage: rules.Usage },
) {
  return recordingStaleWrites(platform, call, input.runId, input.runToken, () =>
    transactOnce(platform, call, async (unit) => {
      const { session, run } = await lockFenced(
        platform,
        unit,
        call.viewer,
        input.runId,
        input.runToken,
        'write',
      )
      await useUp(unit, session, run, input.usage)
      return { projectId: run.projectId, runId: run.id }
    }),
  )
}

async function useUp(
  unit: Unit,
  session: LockedSession,
  run: store.LockedRun,
  usage: rules.Usage,
): Promise<void> {
  if (Object.keys(usage).length === 0) return
  if (!(await store.usageFits(unit.tx, run, usage))) {
    throw new Refusal('INVALID_INPUT', 'The usage is not valid.', {
      issues: [{ path: ['usage'], message: `the session's total would pass ${rules.maxCount}` }],
    })
  }
  await store.addUsage(unit.tx, run, usage)
  await append(unit, session, run.id, [{ type: 'USAGE_RECORDED', payload: { ...usage } }])
}

export interface CompleteRun {
  runId: Ref
  runToken: string
  answer?: string | undefined
  usage?: Json | undefined
  partial?: boolean | undefined
}

/**
 * Ends a run as COMPLETED: FULL, or PARTIAL when the agent says so. The answer becomes the message; absent, it is the
 * joined deltas; both and unequal is INVALID_INPUT.
 */
export function completeRun(platform: Platform, call: Call, input: CompleteRun) {
  return recordingStaleWrites(platform, call, input.runId, input.runToken, () =>
    transactOnce(platform, call, async (unit) => {
      const { session, run } = await lockFenced(
        platform,
        unit,
        call.viewer,
        input.runId,
        input.runToken,
        'complete',
      )
      const usage = accept(rules.readUsage(input.usage))
      const streamed = await store.joinedDeltas(unit.tx, run)
      if (input.answer !== undefined && streamed !== null && streamed !== input.answer) {
        throw new Refusal('INVALID_INPUT', 'The answer is not what was streamed.', {
          issues: [{ path: ['answer'], message: 'must equal the joined ANSWER_DELTA texts, or be left out' }],
        })
      }
      const text = input.answer ?? streamed
      await useUp(unit, session, run, usage)
      const answerId = text === null || text === '' ? null : unit.ids.next()
      if (answerId !== null && text !== null) await answer(unit, session, run, answerId, text, call.viewer)
      await end(unit, session, run, {
        state: 'COMPLETED',
        byRuntime: true,
        completion: input.partial ? 'PARTIAL' : 'FULL',
        answerId: answerId ?? undefined,
      })
      return { projectId: run.projectId, runId: run.id }
    }),
  )
}

async function answer(
  unit: Unit,
  session: LockedSession,
  run: store.LockedRun,
  id: string,
  text: string,
  viewer: Viewer,
): Promise<void> {
  const payload = {
    messageId: publicId('Message', run.projectId, id),
    runId: publicId('Run', run.projectId, run.id),
    answers: publicId('Message', run.projectId, run.messageId),
    authority: 'AGENT',
    author: encodeId({ type: 'Principal', id: viewer.principalId }),
    text,
  }
  checkSize(payload, session.maxEventBytes, ['answer'])
  const appended = await append(unit, session, run.id, [{ type: 'MESSAGE', subjectId: id, payload }])
  await addMessage(unit, {
    projectId: run.projectId,
    id,
    sessionId: session.id,
    sequence: appended?.first ?? 0,
    authorId: viewer.principalId,
    authority: 'AGENT',
    runId: run.id,
    answersId: run.messageId,
    text,
  })
}

/** The agent gives up: FAILED with its own code (`^[A-Z][A-Z0-9_]*$`, ≤ 64) and words. */
export function failRun(
  platform: Platform,
  call: Call,
  input: { runId: Ref; runToken: string; code: string; message: string; usage?: Json | undefined },
) {
  return recordingStaleWrites(platform, call, input.runId, input.runToken, () =>
    transactOnce(platform, call, async (unit) => {
      const { session, run } = await lockFenced(
        platform,
        unit,
        call.viewer,
        input.runId,
        input.runToken,
        'fail',
      )
      await useUp(unit, session, run, accept(rules.readUsage(input.usage)))
      await end(unit, session, run, {
        state: 'FAILED',
        failureCode: input.code,
        failureMessage: input.message,
      })
      return { projectId: run.projectId, runId: run.id }
    }),
  )
}

// --- The owner's side -------------------------------------------------------------------------------------------------

/** Guidance for a run in progress: a message of the transcript, and a signal to its runtime, in order. */
export function steerRun(platform: Platform, call: Call, input: { runId: Ref; text: string }) {
  return transactOnce(platform, call, async (unit) => {
    const locked = await lockRun(unit.tx, input.runId)
    if (!locked) throw notFound()
    const { session, run } = locked
    accept(rules.decideRun(run.state, 'steer'))
    const messageId = unit.ids.next()
    const ids = {
      messageId: publicId('Message', run.projectId, messageId),
      runId: publicId('Run', run.projectId, run.id),
    }
    const author = encodeId({ type: 'Principal', id: call.viewer.principalId })
    const authority = authorityOf(call.viewer, session)
    const appended = await append(unit, session, run.id, [
      { type: 'MESSAGE', subjectId: messageId, payload: { ...ids, authority, author, text: input.text } },
      { type: 'RUN_STEERED', payload: { ...ids, text: input.text, by: author } },
    ])
    await addMessage(unit, {
      projectId: run.projectId,
      id: messageId,
      sessionId: session.id,
      sequence: appended?.first ?? 0,
      authorId: call.viewer.principalId,
      authority,
      runId: run.id,
      answersId: null,
      text: input.text,
    })
    await signal(unit, run, 'RUN_STEERED', { text: input.text })
    return { projectId: run.projectId, runId: run.id, cursor: appended?.cursor ?? session.lastSequence }
  })
}

/** Ends a run's record at once, whether its runtime can be reached or not, and fences its token. */
export function cancelRun(
  platform: Platform,
  call: Call,
  input: { runId: Ref; reason: string; expectedState?: rules.RunState | undefined },
) {
  return transact(platform, async (unit) => {
    const locked = await lockRun(unit.tx, input.runId)
    if (!locked) throw notFound()
    const { session, run } = locked
    if (input.expectedState && input.expectedState !== run.state) {
      throw new Refusal('CONFLICT', `The run is ${run.state} by now.`, {
        current: { type: 'Run', projectId: run.projectId, id: run.id },
      })
    }
    accept(rules.decideRun(run.state, 'cancel'))
    await end(unit, session, run, {
      state: 'CANCELLED',
      endedBy: call.viewer.principalId,
      reason: input.reason,
    })
    await audit(unit, call, {
      action: 'run.cancel',
      subject: { type: 'Run', projectId: run.projectId, id: run.id },
      reason: input.reason,
    })
    return { projectId: run.projectId, runId: run.id }
  })
}

/** Cancels every live run of a locked session, for its closing. */
export async function cancelRunsOf(
  unit: Unit,
  session: LockedSession,
  by: string,
  reason: string,
): Promise<string[]> {
  const cancelled: string[] = []
  for (const id of await store.liveRunsOf(unit.tx, session)) {
    const locked = await lockRun(unit.tx, { projectId: session.projectId, id })
    if (!locked || !rules.isLive(locked.run.state)) continue
    await end(unit, locked.session, locked.run, { state: 'CANCELLED', endedBy: by, reason })
    cancelled.push(id)
  }
  return cancelled
}

// --- Ends -------------------------------------------------------------------------------------------------------------

const endEvents = {
  COMPLETED: 'RUN_COMPLETED',
  FAILED: 'RUN_FAILED',
  CANCELLED: 'RUN_CANCELLED',
  TIMED_OUT: 'RUN_TIMED_OUT',
} as const

type End = Omit<store.Ending, 'state' | 'effects'> & {
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
  const asks = await store.endRun(unit.tx, run, { ...ending, effects }, unit.now)
  await append(unit, session, run.id, [
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
  await settleAsks(unit, run.projectId, asks, ending.endedBy ?? null)
  if (!ending.byRuntime) {
    await signal(unit, run, 'RUN_CANCELLED', { reason: ending.reason ?? ending.failureCode ?? ending.state })
  }
  if (ending.state === 'FAILED' || ending.state === 'TIMED_OUT') {
    await openInboxItem(unit, {
      projectId: run.projectId,
      kind: effects === 'UNKNOWN' ? 'EFFECTS_UNKNOWN' : 'RUN_FAILED',
      title: session.title,
      why: ending.failureMessage ?? ending.failureCode ?? 'The run took longer than its time.',
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

/** A session's runs, newest first, below a number. */
export const listRuns = store.runPage

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
