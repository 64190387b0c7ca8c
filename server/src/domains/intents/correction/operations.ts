import type { Call } from '../../../platform/idempotency.ts'
import { encodeId, type Ref } from '../../../platform/ids.ts'
import { accept, invalid, notFound, Refusal } from '../../../platform/refusal.ts'
import { type Platform, transact, type Unit } from '../../../platform/transaction.ts'
import { audit } from '../../access/operations.ts'
import { protocolNamed } from '../../protocols/operations.ts'
import { nameOf } from '../../protocols/rules.ts'
import { lockRun } from '../../runs/locks.ts'
import { liveRunsOf, lockRuntimesOf, publicId, signal } from '../../runs/operations.ts'
import { isLive } from '../../runs/rules.ts'
import { type LockedSession, lockSession } from '../../sessions/operations.ts'
import { bind, commitRevision, headOf, loadBindings, type NumberedHead, revisionIn } from '../operations.ts'
import * as rules from '../rules.ts'

const generalTask = 'general-task'

export interface Scoped {
  sessionId: Ref
  /** The revision that the caller saw; null: that the session had no task. Anything else by now is a conflict. */
  expectedHeadId: Ref | null
  note: string
  applyTo?: 'LIVE_RUN' | 'NEXT_TURN' | undefined
}

const subject = (session: Ref) => ({ type: 'Session', projectId: session.projectId, id: session.id }) as const

/** A conflict that shows the task as it is. */
function moved(head: NumberedHead | null, session: Ref): Refusal {
  const { code, message } = rules.headConflict()
  const current = head && ({ type: 'IntentRevision', projectId: session.projectId, id: head.id } as const)
  return new Refusal(code, message, { current: current ?? subject(session) })
}

/** Locks the session and requires its task to be the one that the caller saw. */
async function lockAt(unit: Unit, input: Scoped) {
  const session = await lockSession(unit, input.sessionId)
  const head = await headOf(unit.tx, session)
  if ((head?.id ?? null) !== (input.expectedHeadId?.id ?? null)) throw moved(head, session)
  return { session, head }
}

/** Writes what an owner says the task is, and binds the live runs to it unless it is for the next turn only. */
async function commit(
  unit: Unit,
  call: Call,
  input: Scoped,
  at: { session: LockedSession; head: NumberedHead | null },
  change: rules.Change,
  action: string,
) {
  const { session, head } = at
  const by = call.viewer.principalId
  // All runtimes before whatever a signal takes: another order would be a deadlock.
  if (input.applyTo !== 'NEXT_TURN') await lockRuntimesOf(unit.tx, session)
  const revisionId = await commitRevision(unit, session, head, change, { authorId: by, note: input.note })
  const runIds = input.applyTo === 'NEXT_TURN' ? [] : await liveRunsOf(unit.tx, session)
  for (const id of runIds) await rebind(unit, session, id, revisionId, 'CORRECTION', by, input.note)
  await audit(unit, call, {
    action,
    subject: subject(session),
    reason: input.note,
    detail: {
      revisionId: encodeId({ type: 'IntentRevision', projectId: session.projectId, id: revisionId }),
      reboundRuns: runIds.length,
    },
  })
  return { projectId: session.projectId, sessionId: session.id, revisionId, runIds }
}

async function rebind(
  unit: Unit,
  session: Ref,
  runId: string,
  revisionId: string,
  reason: 'CORRECTION' | 'REBIND',
  by: string,
  note: string,
): Promise<void> {
  const locked = await lockRun(unit.tx, { projectId: session.projectId, id: runId })
  if (!locked) return
  const [before] = await loadBindings(unit.tx, [locked.run])
  await bind(unit, session, {
    runId,
    baseId: before?.baseId ?? null,
    activeId: revisionId,
    relation: (before?.relation as rules.Relation | undefined) ?? 'CONTINUE',
    reason,
    byId: by,
  })
  await signal(unit, locked.run, 'INTENT_CORRECTED', { revisionId, note })
}

/**
 * An owner says what the task is: other words, another list of requirements (one whose text is unchanged keeps its id and
 * state), another protocol, or another task altogether. By default the live runs are bound to it in the same transaction
 * and told; with NEXT_TURN they keep the revision that they act under. A task that has moved since the caller saw it is
 * SESSION_INTENT_REVISION_CONFLICT. Audited.
 */
export function correctIntent(
  platform: Platform,
  call: Call,
  input: Scoped & {
    text?: string | undefined
    requirements?: string[] | undefined
    protocol?: string | undefined
    newTask?: boolean | undefined
  },
) {
  return transact(platform, async (unit) => {
    const at = await lockAt(unit, input)
    const { projectId } = at.session
    const named =
      input.protocol === undefined && at.head
        ? at.head.protocol
        : nameOf(await protocolNamed(unit.tx, projectId, input.protocol ?? generalTask))
    const { text, requirements, newTask } = input
    const change = accept(
      rules.correct(
        at.head,
        { text, requirements, protocol: named, newTask: newTask ?? false },
        unit.ids.next,
      ),
    )
    return commit(unit, call, input, at, change, 'intent.correct')
  })
}

/** Back to an earlier revision of the session, as a new one. Otherwise as `correctIntent`. */
export function revertIntent(platform: Platform, call: Call, input: Scoped & { toRevisionId: Ref }) {
  return transact(platform, async (unit) => {
    const at = await lockAt(unit, input)
    const { session, head } = at
    const target = await revisionIn(unit.tx, session, input.toRevisionId.id)
    if (!target || input.toRevisionId.projectId !== session.projectId) throw notFound()
    if (target.id === head?.id) throw invalid('toRevisionId', 'is what the session is at')
    return commit(unit, call, input, at, rules.revertTo(target), 'intent.revert')
  })
}

/**
 * Binds one live run to a revision of its session, whatever it was bound to, even to nothing: so that a run which the
 * system would have to guess about can go on. Its runtime is told. Audited.
 */
export function rebindRun(
  platform: Platform,
  call: Call,
  input: { runId: Ref; revisionId: Ref; note: string },
) {
  return transact(platform, async (unit) => {
    const locked = await lockRun(unit.tx, input.runId)
    if (!locked) throw notFound()
    const { session, run } = locked
    if (!isLive(run.state)) {
      throw new Refusal('CONFLICT', `The run has ended (${run.state}).`, {
        current: { type: 'Run', projectId: run.projectId, id: run.id },
      })
    }
    const revision = await revisionIn(unit.tx, session, input.revisionId.id)
    if (!revision || input.revisionId.projectId !== run.projectId) throw notFound()
    await rebind(unit, session, run.id, revision.id, 'REBIND', call.viewer.principalId, input.note)
    await audit(unit, call, {
      action: 'run.rebind',
      subject: { type: 'Run', projectId: run.projectId, id: run.id },
      reason: input.note,
      detail: { revisionId: publicId('IntentRevision', run.projectId, revision.id) },
    })
    return { projectId: run.projectId, runId: run.id }
  })
}
