import { builder, nodeKey, unspell } from '../../graphql/builder.ts'
import { connectionType, forwardArgs, ownPageCost } from '../../graphql/connection.ts'
import type { Context } from '../../graphql/context.ts'
import { found } from '../../graphql/found.ts'
import { connectionOf, isNumberKey, pageRequest } from '../../graphql/page.ts'
import { encodeId, type Ref } from '../../platform/ids.ts'
import { PrincipalRef } from '../access/principals/graphql.ts'
import { TaskRelation } from '../routing/graphql.ts'
import { IntentRevisionRef, RunIntentBindingRef, RunRef, visible } from '../runs/graphql.ts'
import { MessageRef, SessionRef, seesSession, sessionNode } from '../sessions/graphql.ts'
import { listRevisions, type RevisionRow } from './operations.ts'
import {
  type ChangeKind,
  changeKinds,
  type Relation,
  type Requirement,
  type RequirementState,
  render,
  requirementStates,
} from './rules.ts'

/** A requirement as one session sees it: a fork may have met what its parent has not. */
interface RequirementView extends Requirement {
  projectId: string
  sessionId: string
}

/**
 * A revision as the session sees it in which it is named: what its parent has met since a fork began is none of its.
 */
export async function seenFrom(
  { projectId, sessionId, viewedIn }: { projectId: string; sessionId: string; viewedIn?: string },
  id: string | null,
  { loaders }: Context,
) {
  const row = id ? await loaders.intentRevision.load({ projectId, id }) : null
  return row && { ...row, viewedIn: viewedIn ?? sessionId }
}

/**
 * The revision before one. A fork goes on from one revision of its parent's, which whoever sees the fork sees; what was
 * before that one is only for who sees the session that it was made in.
 */
async function before(revision: RevisionRow & { viewedIn?: string }, context: Context) {
  const row = await seenFrom(revision, revision.previousId, context)
  if (!row || seesSession(context, { projectId: row.projectId, id: row.sessionId })) return row
  const session = await context.loaders.session.load({ projectId: row.projectId, id: row.viewedIn })
  return session?.forkRevisionId === row.id ? row : null
}

/** The session in which a revision is looked at: its own, or the fork that goes on from it. */
const viewedIn = (row: RevisionRow & { viewedIn?: string }): Ref => ({
  projectId: row.projectId,
  id: row.viewedIn ?? row.sessionId,
})

export const RequirementStateRef = builder.enumType('RequirementState', {
  description: 'What has become of a requirement: still to be met, met with evidence, or dropped.',
  values: requirementStates,
})

export const RequirementRef = builder.objectRef<RequirementView>('Requirement').implement({
  description:
    'One thing that the task requires. Its text never changes; its state is kept apart, per session.',
  fields: (t) => ({
    id: t.id({
      description: 'Its id, the same in every revision that lists it.',
      resolve: ({ projectId, id }) => encodeId({ type: 'Requirement', projectId, id }),
    }),
    text: t.exposeString('text', { description: 'What is required, at most 2 000 characters.' }),
    message: t.field({
      type: MessageRef,
      nullable: true,
      description: 'The message that said it; null when it was written by hand, or with its session gone.',
      resolve: ({ projectId, messageId: id }, _args, context) =>
        id ? visible(context.loaders.message, { type: 'Message', projectId, id }, context) : null,
    }),
    state: t.field({
      type: RequirementStateRef,
      description: 'What has become of it.',
      resolve: async (requirement, _args, { loaders }): Promise<RequirementState> =>
        (await loaders.requirementState.load(requirement))?.state ?? 'OPEN',
    }),
  }),
})

export const requirementsOf = (row: RevisionRow & { viewedIn?: string }): RequirementView[] => {
  const { projectId, id: sessionId } = viewedIn(row)
  return (row.requirements as unknown as Requirement[]).map((each) => ({ ...each, projectId, sessionId }))
}

builder.node(IntentRevisionRef, {
  description:
    'A revision of a session’s task. It never changes; the session moves from one to the next by compare-and-set.',
  id: { resolve: (revision) => nodeKey(revision) },
  loadWithoutCache: (key, context) =>
    found(visible(context.loaders.intentRevision, unspell('IntentRevision', key), context)),
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'r1, r2, … in its session.' }),
    taskId: t.exposeID('taskId', { description: 'The identity of the task; another one is another task.' }),
    previous: t.field({
      type: IntentRevisionRef,
      nullable: true,
      description:
        'The revision before it; null for the first, and where that was made in a session that you may not see or that is gone.',
      resolve: (revision, _args, context) => before(revision, context),
    }),
    protocol: t.exposeString('protocol', { description: 'The protocol, as `id@version`.' }),
    text: t.exposeString('text', { description: 'The task in words, at most 2 000 characters.' }),
    requirements: t.field({
      type: [RequirementRef],
      description: 'What the task requires, in the order in which it was said.',
      resolve: requirementsOf,
    }),
    rendering: t.string({
      description:
        'Text and requirements as one text for a model, at most 2 000 characters; what does not fit is counted in its last line.',
      resolve: async (row, _args, { loaders }) => {
        const requirements = await Promise.all(
          requirementsOf(row).map(async (each) => ({
            ...each,
            state: (await loaders.requirementState.load(each))?.state ?? ('OPEN' as const),
          })),
        )
        return render({ text: row.text, requirements })
      },
    }),
    changeKind: t.field({
      type: builder.enumType('IntentChangeKind', {
        description: 'What kind of change made a revision.',
        values: changeKinds,
      }),
      description: 'What kind of change made it.',
      resolve: (row) => row.changeKind as ChangeKind,
    }),
    run: t.field({
      type: RunRef,
      nullable: true,
      description: 'The run that brought it; null when an owner did.',
      resolve: ({ projectId, runId: id }, _args, context) =>
        id ? visible(context.loaders.run, { type: 'Run', projectId, id }, context) : null,
    }),
    message: t.field({
      type: MessageRef,
      nullable: true,
      description: 'The message that brought it.',
      resolve: ({ projectId, messageId: id }, _args, context) =>
        id ? visible(context.loaders.message, { type: 'Message', projectId, id }, context) : null,
    }),
    author: t.field({
      type: PrincipalRef,
      description: 'Who made it.',
      resolve: (row, _args, { loaders }) => found(loaders.principal.load(row.authorId)),
    }),
    note: t.exposeString('note', { nullable: true, description: 'Why, where somebody said it.' }),
    session: t.field({
      type: SessionRef,
      nullable: true,
      description:
        'The session that it was made in; null when that is gone or not for you, and a fork goes on from it.',
      resolve: (row, _args, context) => sessionNode({ projectId: row.projectId, id: row.sessionId }, context),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was made.' }),
  }),
})

RunIntentBindingRef.implement({
  description:
    'The task that a run was bound to before and after it was routed. Both null for a side chat without a task. A later binding is appended; this is the one that holds.',
  fields: (t) => ({
    base: t.field({
      type: IntentRevisionRef,
      nullable: true,
      description: 'Before.',
      resolve: (binding, _args, context) => seenFrom(binding, binding.baseId, context),
    }),
    active: t.field({
      type: IntentRevisionRef,
      nullable: true,
      description: 'After: what the run works on.',
      resolve: (binding, _args, context) => seenFrom(binding, binding.activeId, context),
    }),
    relation: t.field({
      type: TaskRelation,
      description: 'How its message relates to the task.',
      resolve: (binding) => binding.relation as Relation,
    }),
    number: t.exposeInt('number', { description: 'How often it was bound, from 1.' }),
    reason: t.exposeString('reason', {
      description: 'What bound it: TURN, REFINEMENT, HANDOFF, CORRECTION, REBIND or REROUTE.',
    }),
  }),
})

builder.objectFields(RunRef, (t) => ({
  binding: t.field({
    type: RunIntentBindingRef,
    description: 'The task that it is bound to.',
    resolve: (run, _args, { loaders }) => found(loaders.binding.load(run)),
  }),
  headAtEnd: t.field({
    type: IntentRevisionRef,
    nullable: true,
    description: 'The session’s task when the run ended; null while it lives, and where there was none.',
    resolve: (run, _args, context) => seenFrom(run, run.headAtEndId, context),
  }),
}))

const IntentConnection = connectionType('IntentRevision', IntentRevisionRef)

builder.objectFields(SessionRef, (t) => ({
  intent: t.field({
    type: IntentRevisionRef,
    nullable: true,
    description:
      'Its task; null while it has none. A fork without one of its own is at the revision that it was forked at.',
    resolve: ({ projectId, id: sessionId, ...session }, _args, context) =>
      seenFrom({ projectId, sessionId }, session.intentHeadId ?? session.forkRevisionId, context),
  }),
  intentHistory: t.field({
    type: IntentConnection,
    description: 'Its own revisions, newest first.',
    args: forwardArgs,
    complexity: ownPageCost,
    resolve: async (session, args, { app }) => {
      const request = pageRequest(args, isNumberKey)
      const rows = await listRevisions(app.db, session, request.first, request.after?.[0] ?? null)
      return connectionOf(rows, request, (row) => [row.number])
    },
  }),
}))
