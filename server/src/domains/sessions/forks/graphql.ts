import { builder, nodeKey, unspell } from '../../../graphql/builder.ts'
import { connectionType, forwardArgs, ownPageCost } from '../../../graphql/connection.ts'
import { viewerOf } from '../../../graphql/context.ts'
import { found } from '../../../graphql/found.ts'
import { connectionOf, isNumberKey, isTimeKey, pageRequest } from '../../../graphql/page.ts'
import { PrincipalRef } from '../../access/principals/graphql.ts'
import { sessionsWith } from '../../access/rules.ts'
import { seenFrom } from '../../intents/graphql.ts'
import { IntentRevisionRef, RunRef, visible } from '../../runs/graphql.ts'
import { SessionConnection, SessionRef, sessionNode } from '../graphql.ts'
import type { SessionRow } from '../operations.ts'
import type { CheckpointRow } from './operations.ts'

export const CheckpointRef = builder.objectRef<CheckpointRow>('Checkpoint')

builder.node(CheckpointRef, {
  description:
    'A place in a session from which another one can start: its journal, its transcript and its task there. Each completed run leaves one. Never changes.',
  id: { resolve: (checkpoint) => nodeKey(checkpoint) },
  loadWithoutCache: (key, context) =>
    found(visible(context.loaders.checkpoint, unspell('Checkpoint', key), context)),
  fields: (t) => ({
    session: t.field({
      type: SessionRef,
      description: 'Its session.',
      resolve: (c, _args, { loaders }) =>
        found(loaders.session.load({ projectId: c.projectId, id: c.sessionId })),
    }),
    run: t.field({
      type: RunRef,
      nullable: true,
      description: 'The run that left it when it completed; null when somebody made it.',
      resolve: ({ projectId, runId: id }, _args, { loaders }) =>
        id ? loaders.run.load({ projectId, id }) : null,
    }),
    number: t.exposeInt('number', { description: 'Its number in the session, from 1.' }),
    label: t.exposeString('label', { nullable: true, description: 'What it was called, if anything.' }),
    sequence: t.exposeInt('sequence', { description: 'The last event of the journal there.' }),
    messageSequence: t.exposeInt('messageSequence', {
      description: 'The sequence of the last message there; 0 before the first.',
    }),
    intent: t.field({
      type: IntentRevisionRef,
      nullable: true,
      description:
        'The task there: what its run worked on, or what the session was at; null where there was none.',
      resolve: (checkpoint, _args, context) => seenFrom(checkpoint, checkpoint.revisionId, context),
    }),
    by: t.field({
      type: PrincipalRef,
      description: 'Who made it: the runtime of its run, or somebody else.',
      resolve: (c, _args, { loaders }) => found(loaders.principal.load(c.byId)),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was made.' }),
  }),
})

const ForkOrigin = builder.objectRef<SessionRow>('ForkOrigin').implement({
  description: 'Where a fork began. What you may not see, and what is gone with the parent, is null.',
  fields: (t) => ({
    checkpoint: t.field({
      type: CheckpointRef,
      nullable: true,
      description: 'The checkpoint at which it began.',
      resolve: ({ projectId, forkedFromCheckpointId: id }, _args, context) =>
        id ? visible(context.loaders.checkpoint, { type: 'Checkpoint', projectId, id }, context) : null,
    }),
    run: t.field({
      type: RunRef,
      nullable: true,
      description: 'The run before which it began.',
      resolve: ({ projectId, forkedFromRunId: id }, _args, context) =>
        id ? visible(context.loaders.run, { type: 'Run', projectId, id }, context) : null,
    }),
    revision: t.field({
      type: IntentRevisionRef,
      nullable: true,
      description: 'The task that it began with; null where there was none.',
      resolve: ({ projectId, id: sessionId, forkRevisionId }, _args, context) =>
        seenFrom({ projectId, sessionId }, forkRevisionId, context),
    }),
  }),
})

const CheckpointConnection = connectionType('Checkpoint', CheckpointRef)

builder.objectFields(SessionRef, (t) => ({
  parent: t.field({
    type: SessionRef,
    nullable: true,
    description:
      'The session that it is a fork of; null for any other, and where you may not see it or it is gone.',
    resolve: ({ projectId, parentId: id }, _args, context) =>
      id ? sessionNode({ projectId, id }, context) : null,
  }),
  forkedFrom: t.field({
    type: ForkOrigin,
    nullable: true,
    description: 'Where it began, when it is a fork.',
    resolve: (session) => (session.parentId ? session : null),
  }),
  forks: t.field({
    type: SessionConnection,
    description: 'Its forks that you can see, newest first.',
    args: forwardArgs,
    complexity: ownPageCost,
    resolve: async ({ projectId, id }, args, context) => {
      const request = pageRequest(args, isTimeKey)
      const rows = await context.loaders.forkPage.load({
        session: { projectId, id },
        ...request,
        visible: sessionsWith(viewerOf(context), 'session.read', projectId),
      })
      return connectionOf(rows, request, (row) => [row.createdAt.toISOString(), row.id])
    },
  }),
  checkpoints: t.field({
    type: CheckpointConnection,
    description: 'Its checkpoints, newest first.',
    args: forwardArgs,
    complexity: ownPageCost,
    resolve: async ({ projectId, id }, args, { loaders }) => {
      const request = pageRequest(args, isNumberKey)
      const rows = await loaders.checkpointPage.load({
        session: { projectId, id },
        first: request.first,
        below: request.after?.[0] ?? null,
      })
      return connectionOf(rows, request, (row) => [row.number])
    },
  }),
}))
