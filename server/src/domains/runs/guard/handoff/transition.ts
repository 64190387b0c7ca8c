import { encodeId } from '../../../../platform/ids.ts'
import { append, type Entry } from '../../../../platform/journal.ts'
import { accept } from '../../../../platform/refusal.ts'
import type { Unit } from '../../../../platform/transaction.ts'
import { bind, bindingOf, commitRevision, type NumberedHead } from '../../../intents/operations.ts'
import { type Change, changeOfTurn, type Relation, switchProtocol } from '../../../intents/rules.ts'
import { nameOf, type Protocol } from '../../../protocols/rules.ts'
import { type LockedSession, loadMessages } from '../../../sessions/operations.ts'
import { publicId } from '../../operations.ts'
import { endedEvent, startedEvent } from '../../segments/operations.ts'
import { decideSegment } from '../../segments/rules.ts'
import { closeSegment } from '../../segments/store.ts'
import type { LockedRun } from '../../store.ts'
import type { Stand } from '../standing.ts'
import { goalsTold, segmentConflict } from './rules.ts'
import * as store from './store.ts'

/** A proposal as its event tells it. */
export interface Proposed {
  to: string
  reason: string
  correction: boolean
  /** What an agent says is open; kept, never believed. */
  claimedGoals: string[]
  byId: string
}

const segmentId = (run: LockedRun, at: Stand) => publicId('ProtocolSegment', run.projectId, at.segmentId)
const principal = (id: string) => encodeId({ type: 'Principal', id })

export const proposedEvent = (run: LockedRun, at: Stand, proposed: Proposed): Entry => ({
  type: 'HANDOFF_PROPOSED',
  subjectId: at.segmentId,
  payload: {
    segmentId: segmentId(run, at),
    revision: at.revision,
    from: at.protocol,
    to: proposed.to,
    reason: proposed.reason,
    correction: proposed.correction,
    claimedGoals: proposed.claimedGoals,
    by: principal(proposed.byId),
  },
})

export const rejectedEvent = (
  run: LockedRun,
  at: Stand,
  to: string,
  { code, openGoals }: { code: string; openGoals: string[] },
): Entry => ({
  type: 'HANDOFF_REJECTED',
  subjectId: at.segmentId,
  payload: { segmentId: segmentId(run, at), from: at.protocol, to, code, ...goalsTold(openGoals) },
})

export interface Step {
  target: Protocol
  /** What closes the old segment and opens the new one. */
  by: 'HANDOFF' | 'OWNER' | 'CORRECTION'
  /** Null when the proposal was told before, and an owner has confirmed it. */
  proposed: Proposed | null
  byId: string
  reason: string
}

/**
 * Ends the active segment by compare-and-set and begins the next one, under another protocol. What was right until now is
 * HANDED_OFF; what should never have begun is ABORTED. A segment that has moved is a conflict. Nothing is told yet.
 */
export async function nextSegment(
  unit: Unit,
  session: LockedSession,
  run: LockedRun,
  at: Stand,
  step: { target: Protocol; by: Step['by'] | 'REROUTE' },
) {
  const { projectId } = run
  const old = { projectId, id: at.segmentId, revision: at.revision }
  const wrong = step.by === 'CORRECTION' || step.by === 'REROUTE'
  const state = decideSegment('ACTIVE', wrong ? 'abort' : 'handOff')
  const ended = state && (await closeSegment(unit.tx, old, state, step.by, unit.now))
  if (!ended) throw segmentConflict(old)
  const segment = {
    projectId,
    id: unit.ids.next(),
    sessionId: session.id,
    runId: run.id,
    number: at.segmentCount + 1,
    protocol: nameOf(step.target),
    phase: step.target.initialPhase,
    openedBy: step.by,
    now: unit.now,
  }
  await store.insertSegment(unit.tx, segment)
  return { ended, segment }
}

/**
 * The handoff itself, all of it in the caller's transaction: the old segment ends by compare-and-set, the new one begins,
 * the journal tells it, the task gets its revision, the session its head, the run its binding. Whatever has moved is a
 * conflict, and takes everything back. From a side chat, or without a task, the message of the run becomes the task.
 */
export async function transition(
  unit: Unit,
  session: LockedSession,
  run: LockedRun,
  at: Stand,
  head: NumberedHead | null,
  step: Step,
): Promise<{ segmentId: string; revisionId: string }> {
  const { projectId } = run
  const { ended, segment } = await nextSegment(unit, session, run, at, step)
  const change = { from: at.protocol, to: segment.protocol, by: principal(step.byId) }
  const ids = {
    segmentId: segmentId(run, at),
    nextSegmentId: publicId('ProtocolSegment', projectId, segment.id),
  }
  const events: Entry[] = [
    endedEvent(ended),
    { type: 'HANDOFF_ACCEPTED', subjectId: segment.id, payload: { ...ids, ...change } },
    startedEvent(segment),
  ]
  if (step.proposed) events.unshift(proposedEvent(run, at, step.proposed))
  if (step.by === 'CORRECTION') {
    const payload = { ...ids, ...change, reason: step.reason }
    events.push({ type: 'PROTOCOL_ROUTE_CORRECTED', subjectId: segment.id, payload })
  }
  await append(unit, session, run.id, events)
  const task = await taskAfter(unit, run, at, head, segment.protocol)
  const { baseId } = await bindingOf(unit, run)
  const revisionId = await commitRevision(unit, session, head, task.change, {
    authorId: step.byId,
    runId: run.id,
    messageId: run.messageId,
    note: step.reason,
  })
  await bind(unit, session, {
    runId: run.id,
    baseId,
    activeId: revisionId,
    relation: task.relation,
    reason: 'HANDOFF',
    byId: step.byId,
  })
  return { segmentId: segment.id, revisionId }
}

/** The same task under the other protocol; the run's own message, as a task, where the run had none. */
async function taskAfter(
  unit: Unit,
  run: LockedRun,
  at: Stand,
  head: NumberedHead | null,
  protocol: string,
): Promise<{ change: Change; relation: Relation }> {
  if (head && at.relation !== 'SIDE_CHAT')
    return { change: switchProtocol(head, protocol, 'HANDOFF'), relation: at.relation as Relation }
  const [message] = await loadMessages(unit.tx, [{ projectId: run.projectId, id: run.messageId }])
  if (!message) throw new Error('the message of a live run is not there')
  const turn = { relation: 'REPLACE', protocol, text: message.text, messageId: message.id } as const
  const ids = { task: unit.ids.next(), requirement: unit.ids.next() }
  const change = accept(changeOfTurn(head, turn, ids))
  if (!change) throw new Error('a new task is a change')
  return { change, relation: 'REPLACE' }
}
