import type { Call } from '../../../platform/idempotency.ts'
import { encodeId, type Ref } from '../../../platform/ids.ts'
import { append, type Entry, type Json } from '../../../platform/journal.ts'
import { accept, notFound, Refusal } from '../../../platform/refusal.ts'
import { canonicalJson, jsonFlaw } from '../../../platform/strict-json.ts'
import { type Platform, transact, transactSingle, type Unit } from '../../../platform/transaction.ts'
import type { Viewer } from '../../access/rules.ts'
import { protocolsOf } from '../../protocols/operations.ts'
import { addMessage, type LockedSession } from '../../sessions/operations.ts'
import { fencedWrite, lockOwnRun } from '../fenced.ts'
import { outcomeOf } from '../guard/completion/gate.ts'
import { restoreSegment } from '../guard/restoring/operations.ts'
import { checkSize, end, publicId, sizeOf, tooLarge } from '../operations.ts'
import * as rules from '../rules.ts'
import { noteLifeIn } from '../runtimes/operations.ts'
import * as store from '../store.ts'
import { generationOf, runToken } from '../tokens.ts'
import { insertRunEvents } from './store.ts'

/**
 * Takes an offer. Again by the same runtime gives a new token and fences the old one, and the run goes on in the segment
 * that it was in: it is not routed anew. The clock of the run starts with the first start.
 */
export function startRun(platform: Platform, call: Call, input: { runId: Ref; runtimeId: Ref }) {
  return transact(platform, async (unit) => {
    const { session, run } = await lockOwnRun(unit, call.viewer, input.runId)
    if (run.runtimeId !== input.runtimeId.id) throw notFound()
    accept(rules.decideRun(run.state, 'start'))
    if (run.state === 'OFFERED' && run.offerExpiresAt <= unit.now) {
      throw new Refusal('CONFLICT', 'The offer has expired.')
    }
    const again = run.state !== 'OFFERED'
    const restored = again ? [await restoreSegment(unit, session, run)] : []
    const generation = run.tokenGeneration + 1
    const deadlineAt = new Date(unit.now.getTime() + session.runTimeoutMs)
    await store.markStarted(unit.tx, run, generation, deadlineAt, unit.now)
    await noteLifeIn(unit, input.runtimeId)
    await append(unit, session, run.id, [
      ...restored,
      {
        type: 'RUN_STARTED',
        payload: {
          runtimeId: publicId('Runtime', run.projectId, run.runtimeId),
          generation,
          again,
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

interface CheckedEvent {
  type: rules.RuntimeEventType
  payload: Entry['payload']
  /** The payload's canonical form, and its size. */
  json: string
  bytes: number
}

/** Checks each event of a batch against the catalogue, strict JSON and the project's size limit. */
function checkEvents(events: RunEvent[], maxEventBytes: number): CheckedEvent[] | Refusal {
  const checked: CheckedEvent[] = []
  for (const [index, { type, payload }] of events.entries()) {
    const path = ['events', String(index), 'payload']
    const flaw = jsonFlaw(payload)
    if (flaw) {
      return new Refusal('INVALID_EVENT_PAYLOAD', 'An event payload is not strict JSON.', {
        issues: [{ path: [...path, ...flaw.path], message: flaw.message }],
      })
    }
    const refusal = rules.checkRuntimeEvent(type, payload, index)
    if (refusal) return refusal
    const json = canonicalJson(payload)
    const bytes = Buffer.byteLength(json)
    if (bytes > maxEventBytes) return tooLarge(maxEventBytes, path)
    checked.push({ type: type as rules.RuntimeEventType, payload: payload as Entry['payload'], json, bytes })
  }
  return checked
}

const toolsOf = (events: readonly { type: string }[]) => ({
  calls: events.filter(({ type }) => type === 'TOOL_CALL').length,
  results: events.filter(({ type }) => type === 'TOOL_RESULT').length,
})

interface RecordRunEvents {
  runId: Ref
  runToken: string
  events: RunEvent[]
}

/** Writes a batch of at most 100 events, all or none. */
export async function recordRunEvents(
  platform: Platform,
  call: Call,
  input: RecordRunEvents,
): Promise<{ cursor: number }> {
  if (call.key === null) {
    const written = await transactSingle(platform, (unit) => writeAtOnce(platform, unit, call, input))
    if (written) return written
  }
  // Nothing was written: here it is found out why, in the order in which refusals go.
  return fencedWrite(platform, call, input, 'write', async (unit, { session, run }) => {
    const events = accept(checkEvents(input.events, session.maxEventBytes))
    const appended = await append(unit, session, run.id, events, toolsOf(events))
    return { cursor: appended?.cursor ?? session.lastSequence }
  })
}

/** The batch as one statement; null when something speaks against it. */
async function writeAtOnce(
  platform: Platform,
  unit: Unit,
  { viewer }: Call,
  input: RecordRunEvents,
): Promise<{ cursor: number } | null> {
  const generation = generationOf(platform.secret, input.runId.id, input.runToken)
  if (generation === null) return null
  const events = checkEvents(input.events, Number.POSITIVE_INFINITY)
  if (events instanceof Refusal) return null
  const written = await insertRunEvents(unit.tx, {
    run: input.runId,
    principalId: viewer.principalId,
    generation,
    states: rules.statesThatTake('write'),
    events,
    largest: Math.max(...events.map(({ bytes }) => bytes)),
    tools: toolsOf(events),
    now: unit.now,
  })
  if (!written) return null
  unit.hint({ topic: 'session', projectId: input.runId.projectId, id: written.sessionId })
  return { cursor: written.cursor }
}

/** Adds to what a run has used. What is not named stays as it was; what was never named stays null. */
export function recordUsage(
  platform: Platform,
  call: Call,
  input: { runId: Ref; runToken: string; usage: rules.Usage },
) {
  return fencedWrite(platform, call, input, 'write', async (unit, { session, run }) => {
    await useUp(unit, session, run, input.usage)
    return { projectId: run.projectId, runId: run.id }
  })
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
 * Ends a run by what its ledger says: COMPLETED, as FULL, PARTIAL when the agent says so, or UNSUPPORTED, which the owners
 * find in their inbox; or FAILED, ACTIONS_REJECTED_BY_PROTOCOL. Open goals of a strict protocol are COMPLETION_GOALS_OPEN,
 * and the run lives on. The answer becomes the message; absent, it is the joined deltas; both and unequal is
 * INVALID_INPUT.
 */
export async function completeRun(platform: Platform, call: Call, input: CompleteRun) {
  const protocols = await protocolsOf(platform.db, input.runId.projectId)
  return fencedWrite(platform, call, input, 'complete', async (unit, { session, run }) => {
    const outcome = await outcomeOf(unit, session, run, protocols, input.partial ?? false)
    const usage = accept(rules.readUsage(input.usage))
    const deltas = await store.joinedDeltas(unit.tx, run, rules.maxAnswerCharacters)
    const said = accept(rules.answerOf(input.answer, deltas))
    await useUp(unit, session, run, usage)
    const answerId = await answer(unit, session, run, said, call.viewer)
    await end(unit, session, run, { ...outcome, byRuntime: true, answerId })
    return { projectId: run.projectId, runId: run.id }
  })
}

/**
 * Makes the answer a message, if there is one, and gives its id. Its event carries the text; where that is too large for
 * one event and was streamed, the deltas before it are the text, and the event says so (`streamed`) instead of being a
 * second copy.
 */
async function answer(
  unit: Unit,
  session: LockedSession,
  run: store.LockedRun,
  { text, streamed }: rules.Answer,
  viewer: Viewer,
): Promise<string | undefined> {
  if (text === null) return undefined
  const id = unit.ids.next()
  const about = {
    messageId: publicId('Message', run.projectId, id),
    runId: publicId('Run', run.projectId, run.id),
    answers: publicId('Message', run.projectId, run.messageId),
    authority: 'AGENT',
    author: encodeId({ type: 'Principal', id: viewer.principalId }),
  }
  const whole = { ...about, text }
  const payload = streamed && sizeOf(whole) > session.maxEventBytes ? { ...about, streamed } : whole
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
  return id
}

/** The agent gives up: FAILED with its own code (`^[A-Z][A-Z0-9_]*$`, ≤ 64) and words. */
export function failRun(
  platform: Platform,
  call: Call,
  input: { runId: Ref; runToken: string; code: string; message: string; usage?: Json | undefined },
) {
  return fencedWrite(platform, call, input, 'fail', async (unit, { session, run }) => {
    await useUp(unit, session, run, accept(rules.readUsage(input.usage)))
    await end(unit, session, run, {
      state: 'FAILED',
      failureCode: input.code,
      failureMessage: input.message,
    })
    return { projectId: run.projectId, runId: run.id }
  })
}
