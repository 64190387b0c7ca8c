import { type Call, transactOnce } from '../../../platform/idempotency.ts'
import { encodeId, type Ref } from '../../../platform/ids.ts'
import { append } from '../../../platform/journal.ts'
import { accept, notFound } from '../../../platform/refusal.ts'
import type { Platform, Unit } from '../../../platform/transaction.ts'
import { audit } from '../../access/operations.ts'
import { lockSession } from '../operations.ts'
import { noRoom } from '../rules.ts'
import { type ForkPoint, forkPoint } from './rules.ts'
import * as store from './store.ts'

export type { CheckpointPage, CheckpointRow, ForkPage } from './store.ts'
export {
  checkpointPages as loadCheckpointPages,
  checkpointsByRef as loadCheckpoints,
  forkPages as loadForkPages,
} from './store.ts'

/** Marks the place where a session is, with its event, and gives the mark's id. The session must be locked. */
export async function addCheckpoint(
  unit: Unit,
  session: Ref,
  checkpoint: { runId: string | null; label: string | null; revisionId: string | null; byId: string },
): Promise<string> {
  const id = unit.ids.next()
  const at = await store.insertCheckpoint(unit.tx, session, { ...checkpoint, id, now: unit.now })
  const { projectId } = session
  // Of the session and not of the run: nothing of a run follows its end.
  await append(unit, session, null, [
    {
      type: 'CHECKPOINT_CREATED',
      subjectId: id,
      payload: {
        checkpointId: encodeId({ type: 'Checkpoint', projectId, id }),
        runId: checkpoint.runId && encodeId({ type: 'Run', projectId, id: checkpoint.runId }),
        number: at.number,
        sequence: at.sequence,
        messageSequence: at.messageSequence,
        label: checkpoint.label,
        revisionId:
          checkpoint.revisionId && encodeId({ type: 'IntentRevision', projectId, id: checkpoint.revisionId }),
        by: encodeId({ type: 'Principal', id: checkpoint.byId }),
      },
    },
  ])
  return id
}

/** Marks where a session is now, open or closed, with its task as it is. */
export function createCheckpoint(
  platform: Platform,
  call: Call,
  input: { sessionId: Ref; label?: string | undefined },
) {
  return transactOnce(platform, call, async (unit) => {
    const session = await lockSession(unit, input.sessionId)
    const checkpointId = await addCheckpoint(unit, session, {
      runId: null,
      label: input.label ?? null,
      revisionId: session.headId,
      byId: call.viewer.principalId,
    })
    return { projectId: session.projectId, sessionId: session.id, checkpointId }
  })
}

const placeOf = {
  CHECKPOINT: store.placeOfCheckpoint,
  RUN: store.placeBeforeRun,
} satisfies Record<ForkPoint['kind'], unknown>

/**
 * Makes a session that goes on from a place of another one: from a checkpoint (its transcript and task up to there), or
 * from before a run (the transcript before its message, the task that it was routed on). It gets a copy of the transcript
 * and of what had become of the requirements, and is OPEN, generation 1, with the parent's model settings. The parent,
 * open or closed, is only read. Refusals: NOT_FOUND for a place that is not the session's, CAPACITY at the project's
 * limit of open sessions. Audited.
 */
export function forkSession(
  platform: Platform,
  call: Call,
  input: {
    sessionId: Ref
    checkpointId?: Ref | undefined
    runId?: Ref | undefined
    title?: string | undefined
  },
) {
  return transactOnce(platform, call, async (unit) => {
    const { kind, ref } = accept(forkPoint(input))
    // A parent that is being deleted has no forks, and one that is forked is not deleted meanwhile. It may be written to:
    // what lies before the place is committed, and never changes.
    const parent = await lockSession(unit, input.sessionId, 'KEEP')
    const { projectId } = parent
    const place = ref.projectId === projectId ? await placeOf[kind](unit.tx, parent, ref.id) : null
    if (!place) throw notFound()
    const child = { projectId, id: unit.ids.next() }
    const title = input.title ?? parent.title
    const inserted = await store.insertFork(unit.tx, {
      id: child.id,
      parent,
      title,
      checkpointId: kind === 'CHECKPOINT' ? ref.id : null,
      runId: kind === 'RUN' ? ref.id : null,
      revisionId: place.revisionId,
      createdBy: call.viewer.principalId,
      now: unit.now,
    })
    if (!inserted) throw noRoom()
    const transcript = await store.transcriptUpTo(unit.tx, parent, place.sequence)
    const state = {
      state: 'OPEN',
      generation: 1,
      title,
      by: encodeId({ type: 'Principal', id: call.viewer.principalId }),
    }
    const from = {
      parentId: encodeId({ type: 'Session', projectId, id: parent.id }),
      checkpointId: kind === 'CHECKPOINT' ? encodeId({ type: 'Checkpoint', projectId, id: ref.id }) : null,
      runId: kind === 'RUN' ? encodeId({ type: 'Run', projectId, id: ref.id }) : null,
      revisionId: place.revisionId && encodeId({ type: 'IntentRevision', projectId, id: place.revisionId }),
      messages: transcript.ids.length,
    }
    const told = await append(unit, child, null, [
      { type: 'SESSION_CREATED', payload: state },
      { type: 'SESSION_FORKED', payload: { ...state, ...from } },
    ])
    const begun = told?.cursor ?? 0
    await store.copyRequirementStates(unit.tx, parent, place.sequence, child, begun)
    if (transcript.ids.length > 0) {
      await store.copyMessages(unit.tx, child, {
        after: begun,
        messages: transcript.ids.map((id) => copyOf(projectId, id, unit.ids.next())),
        authors: transcript.authorIds.map((id) => ({ id, publicId: encodeId({ type: 'Principal', id }) })),
        maxEventBytes: parent.maxEventBytes,
        now: unit.now,
      })
    }
    if (!(await store.takeRoom(unit.tx, projectId))) throw noRoom()
    await audit(unit, call, {
      action: 'session.fork',
      subject: { type: 'Session', ...child },
      detail: from,
    })
    return { projectId, sessionId: child.id }
  })
}

const copyOf = (projectId: string, id: string, newId: string): store.Copy => ({
  id,
  publicId: encodeId({ type: 'Message', projectId, id }),
  newId,
  newPublicId: encodeId({ type: 'Message', projectId, id: newId }),
})
