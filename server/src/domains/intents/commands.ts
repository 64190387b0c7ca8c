import { builder } from '../../graphql/builder.ts'
import { command, type Permission } from '../../graphql/command.ts'
import { input } from '../../graphql/fields.ts'
import { found } from '../../graphql/found.ts'
import type { Ref } from '../../platform/ids.ts'
import { runId, runToken } from '../runs/commands.ts'
import { IntentRevisionRef, RunRef, runScope } from '../runs/graphql.ts'
import { SessionRef } from '../sessions/graphql.ts'
import * as correction from './correction/operations.ts'
import { RequirementRef, requirementsOf } from './graphql.ts'
import * as requirements from './requirements/operations.ts'

const CorrectionScope = builder.enumType('CorrectionScope', {
  description:
    'Whom a correction concerns: LIVE_RUN binds the runs that are alive to it at once and tells them; NEXT_TURN leaves them under the revision that they act under.',
  values: ['LIVE_RUN', 'NEXT_TURN'] as const,
})

interface Corrected {
  projectId: string
  sessionId: string
  revisionId: string
  runIds: string[]
}
const corrected = (name: string) =>
  builder.objectRef<Corrected>(name).implement({
    description: 'The session is at the revision.',
    fields: (t) => ({
      intent: t.field({
        type: IntentRevisionRef,
        description: 'The revision that was made.',
        resolve: ({ projectId, revisionId: id }, _args, { loaders }) =>
          found(loaders.intentRevision.load({ projectId, id })),
      }),
      session: t.field({
        type: SessionRef,
        description: 'The session, read after the change.',
        resolve: ({ projectId, sessionId: id }, _args, { loaders }) =>
          found(loaders.session.clear({ projectId, id }).load({ projectId, id })),
      }),
      reboundRuns: t.field({
        type: [RunRef],
        description: 'The live runs that were bound to it.',
        resolve: ({ projectId, runIds }, _args, { loaders }) =>
          Promise.all(
            runIds.map((id) => found(loaders.run.clear({ projectId, id }).load({ projectId, id }))),
          ),
      }),
    }),
  })

const onSession: Permission<{ sessionId: Ref }> = {
  capability: 'intent.correct',
  sight: 'session.read',
  scope: ({ sessionId }) => ({ projectId: sessionId.projectId, sessionId: sessionId.id }),
}
const scoped = {
  sessionId: input.id('Session', 'The session.', true),
  expectedHeadId: input.id(
    'IntentRevision',
    'The revision that you saw as its task; absent or null: that you saw none. Anything else by now is SESSION_INTENT_REVISION_CONFLICT.',
  ),
  note: input.text('Why.', { max: 2_000 }, true),
  applyTo: input.enum(CorrectionScope, 'Whom it concerns. Default: LIVE_RUN.'),
}

command('correctIntent', {
  description:
    'Says what the session’s task is, as a CORRECTION revision: words, requirements, protocol; the same task unless `newTask`.',
  input: {
    ...scoped,
    text: input.text('The task in words; unchanged when absent.', { max: 2_000 }),
    requirements: input.list(
      input.text('', { max: 2_000 }, true),
      'String',
      'What it requires, in place of the list that it has; one whose text is unchanged keeps its id and its state.',
      [0, 100],
    ),
    protocol: input.text('The protocol of the task, as `id` or `id@version`; unchanged when absent.', {
      max: 120,
    }),
    newTask: input.boolean('Whether it is another task from here on. Default: false.'),
  },
  success: corrected('CorrectIntentSuccess'),
  permission: onSession,
  run: (call, { expectedHeadId, ...args }, { app }) =>
    correction.correctIntent(app, call, { ...args, expectedHeadId: expectedHeadId ?? null }),
})

command('revertIntent', {
  description: 'Goes back to an earlier revision of the session’s task, as a new CORRECTION revision.',
  input: { ...scoped, toRevisionId: input.id('IntentRevision', 'The revision to go back to.', true) },
  success: corrected('RevertIntentSuccess'),
  permission: onSession,
  run: (call, { expectedHeadId, ...args }, { app }) =>
    correction.revertIntent(app, call, { ...args, expectedHeadId: expectedHeadId ?? null }),
})

command('rebindRun', {
  description:
    'Binds a live run to a revision of its session’s task, and tells its runtime. For a run that is bound to nothing (RUN_INTENT_BINDING_REQUIRED), or to the wrong thing.',
  input: {
    runId,
    revisionId: input.id('IntentRevision', 'The revision.', true),
    note: input.text('Why.', { max: 2_000 }, true),
  },
  success: builder.objectRef<{ projectId: string; runId: string }>('RebindRunSuccess').implement({
    description: 'The run is bound to the revision.',
    fields: (t) => ({
      run: t.field({
        type: RunRef,
        description: 'The run, read after the change.',
        resolve: ({ projectId, runId: id }, _args, { loaders }) =>
          found(loaders.run.clear({ projectId, id }).load({ projectId, id })),
      }),
    }),
  }),
  permission: {
    capability: 'intent.correct',
    sight: 'session.read',
    scope: (args, context) => runScope(args.runId, context),
  },
  run: (call, args, { app }) => correction.rebindRun(app, call, args),
})

const asRuntime: Permission<{ runId: Ref }> = {
  capability: 'run.execute',
  scope: (args) => ({ projectId: args.runId.projectId }),
}
const listed = {
  type: IntentRevisionRef,
  description: 'The revision that the run is bound to.',
} as const

command('commitRequirements', {
  description:
    'Adds requirements to the task of your run, as a REFINE revision to which the run is bound. Those that it lists already stay as they are. INTENT_FULL beyond 100 open ones.',
  input: {
    runId,
    runToken,
    requirements: input.list(
      input.text('', { max: 2_000 }, true),
      'String',
      'What the task requires.',
      [1, requirements.maxCommitted],
      true,
    ),
    idempotencyKey: input.key(),
  },
  success: builder
    .objectRef<{ projectId: string; sessionId: string; revisionId: string; requirementIds: string[] }>(
      'CommitRequirementsSuccess',
    )
    .implement({
      description: 'The task lists them.',
      fields: (t) => ({
        intent: t.field({
          ...listed,
          resolve: async ({ projectId, sessionId, revisionId: id }, _args, { loaders }) => ({
            ...(await found(loaders.intentRevision.load({ projectId, id }))),
            viewedIn: sessionId,
          }),
        }),
        requirements: t.field({
          type: [RequirementRef],
          description: 'Those of the call, in its order.',
          resolve: async ({ projectId, sessionId, revisionId: id, requirementIds }, _args, { loaders }) => {
            const row = await found(loaders.intentRevision.load({ projectId, id }))
            const all = new Map(
              requirementsOf({ ...row, viewedIn: sessionId }).map((each) => [each.id, each]),
            )
            return requirementIds.flatMap((each) => all.get(each) ?? [])
          },
        }),
      }),
    }),
  permission: asRuntime,
  run: (call, args, { app }) => requirements.commitRequirements(app, call, args),
})

command('meetRequirement', {
  description:
    'Says that a requirement of your run’s task is met, with the action of this run that is its evidence. CONFLICT when it is not open, or the action did not succeed.',
  input: {
    runId,
    runToken,
    requirementId: input.id('Requirement', 'The requirement.', true),
    actionId: input.id('Action', 'The action that is its evidence.', true),
  },
  success: builder
    .objectRef<{ projectId: string; sessionId: string; revisionId: string; requirementId: string }>(
      'MeetRequirementSuccess',
    )
    .implement({
      description: 'It is met.',
      fields: (t) => ({
        requirement: t.field({
          type: RequirementRef,
          description: 'The requirement, read after the change.',
          resolve: async ({ projectId, sessionId, revisionId: id, requirementId }, _args, { loaders }) => {
            const row = await found(loaders.intentRevision.load({ projectId, id }))
            const all = requirementsOf({ ...row, viewedIn: sessionId })
            return found(all.find((each) => each.id === requirementId) ?? null)
          },
        }),
      }),
    }),
  permission: asRuntime,
  run: (call, args, { app }) => requirements.meetRequirement(app, call, args),
})
