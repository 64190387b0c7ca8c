import { type Call, transactOnce } from '../../../platform/idempotency.ts'
import { encodeId, type Ref } from '../../../platform/ids.ts'
import { append } from '../../../platform/journal.ts'
import { accept, notFound, Refusal } from '../../../platform/refusal.ts'
import { type Platform, transact, type Unit } from '../../../platform/transaction.ts'
import { audit } from '../../access/operations.ts'
import { addMessage, authorityOf, type LockedSession } from '../../sessions/operations.ts'
import { lockRun } from '../locks.ts'
import { end, publicId, signal } from '../operations.ts'
import * as rules from '../rules.ts'
import { lockRuntimesOf } from '../runtimes/store.ts'
import * as store from '../store.ts'

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
  // All runtimes before the project, whose row the first end takes: another order would be a deadlock.
  await lockRuntimesOf(unit.tx, session)
  const cancelled: string[] = []
  for (const id of await store.liveRunsOf(unit.tx, session)) {
    const locked = await lockRun(unit.tx, { projectId: session.projectId, id })
    if (!locked || !rules.isLive(locked.run.state)) continue
    await end(unit, locked.session, locked.run, { state: 'CANCELLED', endedBy: by, reason })
    cancelled.push(id)
  }
  return cancelled
}
