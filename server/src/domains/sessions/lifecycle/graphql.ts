import { builder } from '../../../graphql/builder.ts'
import { command, type Permission } from '../../../graphql/command.ts'
import { input } from '../../../graphql/fields.ts'
import { found } from '../../../graphql/found.ts'
import type { Ref } from '../../../platform/ids.ts'
import type { Capability } from '../../access/rules.ts'
import { ThinkingLevelRef } from '../../projects/thinking-level.ts'
import { RunRef } from '../../runs/graphql.ts'
import { SessionRef } from '../graphql.ts'
import * as operations from './operations.ts'

type SessionResult = { projectId: string; sessionId: string }

const success = (name: string, description: string) =>
  builder.objectRef<SessionResult>(name).implement({
    description,
    fields: (t) => ({
      session: t.field({
        type: SessionRef,
        description: 'The session, read after the change.',
        resolve: ({ projectId, sessionId: id }, _args, { loaders }) =>
          found(loaders.session.clear({ projectId, id }).load({ projectId, id })),
      }),
    }),
  })

const on = (capability: Capability): Permission<{ sessionId: Ref }> => ({
  capability,
  sight: 'session.read',
  scope: ({ sessionId }) => ({ projectId: sessionId.projectId, sessionId: sessionId.id }),
})

const sessionId = input.id('Session', 'The session.', true)
const expectedGeneration = input.int(
  'The generation that you saw; another one is CONFLICT. Unchecked when absent.',
  [1, 2 ** 31 - 1],
)

command('createSession', {
  description: 'Creates an open session of generation 1 with the project’s default model settings.',
  input: {
    projectId: input.id('Project', 'The project.', true),
    title: input.text('Its title; taken from the first turn when absent.', { max: 120 }),
    idempotencyKey: input.key(),
  },
  success: success('CreateSessionSuccess', 'The session was created.'),
  permission: { capability: 'session.create', scope: ({ projectId }) => ({ projectId: projectId.id }) },
  run: (call, args, { app }) =>
    operations.createSession(app, call, { projectId: args.projectId.id, title: args.title }),
})

command('renameSession', {
  description: 'Changes a session’s title.',
  input: { sessionId, title: input.text('Its title.', { max: 120 }, true), expectedGeneration },
  success: success('RenameSessionSuccess', 'The session has the title.'),
  permission: on('session.rename'),
  run: (call, args, { app }) => operations.renameSession(app, call, args),
})

command('updateSessionSettings', {
  description:
    'Changes model and thinking level of later turns. A turn in progress keeps what it started with.',
  input: {
    sessionId,
    model: input.text('The model of later turns.', { max: 120 }),
    thinkingLevel: input.enum(ThinkingLevelRef, 'The thinking level of later turns.'),
    expectedGeneration,
  },
  success: success('UpdateSessionSettingsSuccess', 'The settings hold for later turns.'),
  permission: on('session.settings'),
  run: (call, args, { app }) => operations.updateSessionSettings(app, call, args),
})

command('openSession', {
  description: 'Opens a closed session, one generation on. An open one is left as it is.',
  input: { sessionId, expectedGeneration },
  success: success('OpenSessionSuccess', 'The session is open.'),
  permission: on('session.open'),
  run: (call, args, { app }) => operations.openSession(app, call, args),
})

command('closeSession', {
  description: 'Closes a session, one generation on. With a run alive it is CONFLICT, unless `cancelActive`.',
  input: {
    sessionId,
    cancelActive: input.boolean('Cancel what is alive first. Default: false.'),
    expectedGeneration,
  },
  success: builder.objectRef<SessionResult & { cancelledRunIds: string[] }>('CloseSessionSuccess').implement({
    description: 'The session is closed.',
    fields: (t) => ({
      session: t.field({
        type: SessionRef,
        description: 'The session, read after the change.',
        resolve: ({ projectId, sessionId: id }, _args, { loaders }) =>
          found(loaders.session.clear({ projectId, id }).load({ projectId, id })),
      }),
      cancelledRuns: t.field({
        type: [RunRef],
        description: 'The runs that were cancelled for it.',
        resolve: ({ projectId, cancelledRunIds }, _args, { loaders }) =>
          Promise.all(cancelledRunIds.map((id) => found(loaders.run.load({ projectId, id })))),
      }),
    }),
  }),
  permission: on('session.close'),
  run: (call, args, { app }) => operations.closeSession(app, call, args),
})

command('deleteSession', {
  description:
    'Deletes a session with its transcript, journal and search index. With a run alive it is CONFLICT. Can’t be undone.',
  input: { sessionId, reason: input.text('Why, for the audit log.', { max: 2_000 }), expectedGeneration },
  success: builder
    .objectRef<{ deletedId: string; retainedHistory: boolean; purgeFailures: string[] }>(
      'DeleteSessionSuccess',
    )
    .implement({
      description: 'The session is gone.',
      fields: (t) => ({
        deletedId: t.exposeID('deletedId', { description: 'The id that it had.' }),
        retainedHistory: t.exposeBoolean('retainedHistory', {
          description: 'True only when something could not be purged.',
        }),
        purgeFailures: t.exposeStringList('purgeFailures', { description: 'What could not be purged.' }),
      }),
    }),
  permission: on('session.delete'),
  run: (call, args, { app }) => operations.deleteSession(app, call, args),
})
