import { builder } from '../../../../graphql/builder.ts'
import { command } from '../../../../graphql/command.ts'
import { input } from '../../../../graphql/fields.ts'
import { found } from '../../../../graphql/found.ts'
import { seenFrom } from '../../../intents/graphql.ts'
import { RouteDecisionRef, TaskRelation } from '../../../routing/graphql.ts'
import { SessionRef } from '../../../sessions/graphql.ts'
import { runId } from '../../commands.ts'
import { IntentRevisionRef, RunRef, runScope } from '../../graphql.ts'
import { type RoutedAnew, rerouteRun } from './operations.ts'

command('rerouteRun', {
  description:
    'Changes how the message of a run relates to the task, or the protocol that it belongs under, as a new decision of an owner. What the former decision wrote is undone by a revision of its own. A live run goes on by it, an ended one too: a side chat becomes the refinement that it should have been. SESSION_INTENT_REVISION_CONFLICT when the task has moved since the run; CONFLICT when nothing changes, or there is no task to go back to.',
  input: {
    runId,
    relation: input.enum(
      TaskRelation,
      'How the message relates to the task; unchanged when absent. Say this, `protocol`, or both.',
    ),
    protocol: input.text(
      'The protocol, as `id` or `id@version`. When absent: that of the task for CONTINUE and REFINE, else the present one.',
      { max: 120 },
    ),
    expectedRouteId: input.id('RouteDecision', 'The decision that you saw; another one by now is CONFLICT.'),
    reason: input.text('Why.', { max: 2_000 }, true),
    idempotencyKey: input.key(),
  },
  success: builder.objectRef<RoutedAnew>('RerouteRunSuccess').implement({
    description: 'The run is routed anew.',
    fields: (t) => ({
      route: t.field({
        type: RouteDecisionRef,
        description: 'The decision that holds now; `corrects` is the former one.',
        resolve: ({ projectId, routeId: id }, _args, { loaders }) =>
          found(loaders.route.load({ projectId, id })),
      }),
      run: t.field({
        type: RunRef,
        description: 'The run, read after the change.',
        resolve: ({ projectId, runId: id }, _args, { loaders }) =>
          found(loaders.run.clear({ projectId, id }).load({ projectId, id })),
      }),
      session: t.field({
        type: SessionRef,
        description: 'The session, read after the change.',
        resolve: ({ projectId, sessionId: id }, _args, { loaders }) =>
          found(loaders.session.clear({ projectId, id }).load({ projectId, id })),
      }),
      intent: t.field({
        type: IntentRevisionRef,
        nullable: true,
        description: 'The revision that the session is at by it; null where the task was left as it was.',
        resolve: ({ projectId, sessionId, revisionId }, _args, context) =>
          seenFrom({ projectId, sessionId }, revisionId, context),
      }),
    }),
  }),
  permission: {
    capability: 'intent.correct',
    sight: 'session.read',
    scope: (args, context) => runScope(args.runId, context),
  },
  run: (call, args, { app }) => rerouteRun(app, call, args),
})
