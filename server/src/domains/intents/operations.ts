import { encodeId, type Ref } from '../../platform/ids.ts'
import { append, type Entry } from '../../platform/journal.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Unit } from '../../platform/transaction.ts'
import { titleFrom, untitled } from '../sessions/rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export type { BindingRow, NumberedHead, RevisionRow } from './store.ts'
export {
  allBindingsOf,
  bindingsOf as loadBindings,
  headOf,
  requirementStatesOf as loadRequirementStates,
  revisionIn,
  revisionPage as listRevisions,
  revisionsByRef as loadRevisions,
} from './store.ts'

const publicId = (type: Parameters<typeof encodeId>[0]['type'], projectId: string, id: string | null) =>
  id === null ? null : encodeId({ type, projectId, id })

/** A run's binding as it is; RUN_INTENT_BINDING_REQUIRED where it has none: what it is about is never guessed. */
export async function bindingOf(unit: Unit, run: Ref): Promise<store.BindingRow> {
  const [binding] = await store.bindingsOf(unit.tx, [run])
  if (binding) return binding
  throw new Refusal(
    'RUN_INTENT_BINDING_REQUIRED',
    'The run is bound to no revision of the task. An owner can bind it with `rebindRun`.',
    { current: { type: 'Run', projectId: run.projectId, id: run.id } },
  )
}

/** What INTENT_REVISED tells: the whole revision, so that a journal alone rebuilds the history. */
export function revisedEvent(
  projectId: string,
  revision: {
    id: string
    number: number
    previousId: string | null
    change: rules.Change
    runId: string | null
    messageId: string | null
    authorId: string
    note: string | null
  },
): Entry {
  const { change } = revision
  return {
    type: 'INTENT_REVISED',
    subjectId: revision.id,
    payload: {
      revisionId: publicId('IntentRevision', projectId, revision.id),
      number: revision.number,
      previousId: publicId('IntentRevision', projectId, revision.previousId),
      taskId: change.taskId,
      protocol: change.protocol,
      text: change.text,
      requirements: change.requirements.map(({ id, text, messageId }) => ({
        id: publicId('Requirement', projectId, id),
        text,
        messageId: publicId('Message', projectId, messageId),
      })),
      changeKind: change.kind,
      runId: publicId('Run', projectId, revision.runId),
      messageId: publicId('Message', projectId, revision.messageId),
      author: encodeId({ type: 'Principal', id: revision.authorId }),
      note: revision.note,
    },
  }
}

/**
 * Writes a revision after `head` and moves the session to it, with its event. A head that has moved meanwhile is
 * SESSION_INTENT_REVISION_CONFLICT. The session must be locked. Gives the revision's id.
 */
export async function commitRevision(
  unit: Unit,
  session: Ref,
  head: { id: string } | null,
  change: rules.Change,
  by: { authorId: string; runId?: string | null; messageId?: string | null; note?: string | null },
): Promise<string> {
  const id = unit.ids.next()
  const meta = { runId: by.runId ?? null, messageId: by.messageId ?? null, note: by.note ?? null }
  const number = await store.insertRevision(unit.tx, session, {
    id,
    expectedHeadId: head?.id ?? null,
    change,
    ...meta,
    authorId: by.authorId,
    title: titleFrom(change.text),
    untitled,
    now: unit.now,
  })
  if (number === null) throw rules.headConflict()
  await append(unit, session, meta.runId, [
    {
      ...revisedEvent(session.projectId, {
        id,
        number,
        previousId: head?.id ?? null,
        change,
        ...meta,
        authorId: by.authorId,
      }),
      ofRun: false,
    },
  ])
  return id
}

/**
 * Binds a run anew, with its event: of the run while that lives, else of the session alone, for nothing follows the end
 * of a run. The session must be locked.
 */
export async function bind(
  unit: Unit,
  session: Ref,
  binding: Omit<store.NewBinding, 'now'>,
  lives = true,
): Promise<void> {
  await store.insertBinding(unit.tx, session, { ...binding, now: unit.now })
  await append(unit, session, lives ? binding.runId : null, [
    {
      type: 'INTENT_REBOUND',
      ofRun: false,
      payload: {
        runId: publicId('Run', session.projectId, binding.runId),
        base: publicId('IntentRevision', session.projectId, binding.baseId),
        active: publicId('IntentRevision', session.projectId, binding.activeId),
        relation: binding.relation,
        reason: binding.reason,
        by: encodeId({ type: 'Principal', id: binding.byId }),
      },
    },
  ])
}

/** What has become of requirements, with one event each. The session must be locked. */
export async function setRequirements(
  unit: Unit,
  session: Ref,
  changes: {
    requirementId: string
    state: rules.RequirementState
    runId?: string | null
    actionId?: string | null
    byId: string
  }[],
): Promise<void> {
  for (const change of changes) {
    const runId = change.runId ?? null
    const appended = await append(unit, session, runId, [
      {
        type: 'REQUIREMENT_CHANGED',
        ofRun: false,
        payload: {
          requirementId: publicId('Requirement', session.projectId, change.requirementId),
          state: change.state,
          actionId: publicId('Action', session.projectId, change.actionId ?? null),
          by: encodeId({ type: 'Principal', id: change.byId }),
        },
      },
    ])
    await store.insertRequirementState(unit.tx, session, {
      requirementId: change.requirementId,
      state: change.state,
      sequence: appended?.cursor ?? 0,
      runId,
      actionId: change.actionId ?? null,
      byId: change.byId,
      now: unit.now,
    })
  }
}
