import { encodeId, type Ref } from '../../../platform/ids.ts'
import { append } from '../../../platform/journal.ts'
import type { Unit } from '../../../platform/transaction.ts'
import * as store from './store.ts'

export type { CheckpointRow } from './store.ts'

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
