import { builder } from '../../../graphql/builder.ts'
import { command, type Permission } from '../../../graphql/command.ts'
import { input } from '../../../graphql/fields.ts'
import { found } from '../../../graphql/found.ts'
import type { Ref } from '../../../platform/ids.ts'
import { SessionRef } from '../graphql.ts'
import { CheckpointRef } from './graphql.ts'
import * as operations from './operations.ts'

const onSession: Permission<{ sessionId: Ref }> = {
  capability: 'session.fork',
  sight: 'session.read',
  scope: ({ sessionId }) => ({ projectId: sessionId.projectId, sessionId: sessionId.id }),
}

command('createCheckpoint', {
  description: 'Marks where a session is now, so that another one can start from there.',
  input: {
    sessionId: input.id('Session', 'The session.', true),
    label: input.text('What to call it.', { max: 120 }),
    idempotencyKey: input.key(),
  },
  success: builder
    .objectRef<{ projectId: string; sessionId: string; checkpointId: string }>('CreateCheckpointSuccess')
    .implement({
      description: 'The place is marked.',
      fields: (t) => ({
        checkpoint: t.field({
          type: CheckpointRef,
          description: 'The mark.',
          resolve: ({ projectId, checkpointId: id }, _args, { loaders }) =>
            found(loaders.checkpoint.load({ projectId, id })),
        }),
        session: t.field({
          type: SessionRef,
          description: 'The session, read after the change.',
          resolve: ({ projectId, sessionId: id }, _args, { loaders }) =>
            found(loaders.session.clear({ projectId, id }).load({ projectId, id })),
        }),
      }),
    }),
  permission: onSession,
  run: (call, args, { app }) => operations.createCheckpoint(app, call, args),
})

command('forkSession', {
  description:
    'Makes a session that goes on from a place of another one, with a copy of its transcript up to there and with its task there. From a checkpoint, or from before a run, to say that anew: exactly one of the two. What the parent does afterwards never reaches it, and it never writes to the parent.',
  input: {
    sessionId: input.id('Session', 'The session to fork.', true),
    checkpointId: input.id('Checkpoint', 'The checkpoint at which the fork begins.'),
    runId: input.id('Run', 'The run before which the fork begins.'),
    title: input.text('Its title; its parent’s when absent.', { max: 120 }),
    idempotencyKey: input.key(),
  },
  success: builder.objectRef<{ projectId: string; sessionId: string }>('ForkSessionSuccess').implement({
    description: 'The fork is there.',
    fields: (t) => ({
      session: t.field({
        type: SessionRef,
        description: 'The fork.',
        resolve: ({ projectId, sessionId: id }, _args, { loaders }) =>
          found(loaders.session.clear({ projectId, id }).load({ projectId, id })),
      }),
    }),
  }),
  // Whoever may see the parent only doesn't see the fork.
  permission: { ...onSession, answers: ({ sessionId }) => ({ projectId: sessionId.projectId }) },
  run: (call, args, { app }) => operations.forkSession(app, call, args),
})
