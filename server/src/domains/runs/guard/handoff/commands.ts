import { builder } from '../../../../graphql/builder.ts'
import { command } from '../../../../graphql/command.ts'
import { input } from '../../../../graphql/fields.ts'
import { found } from '../../../../graphql/found.ts'
import { requirementsWanted } from '../../../intents/effective/graphql.ts'
import { SessionRef } from '../../../sessions/graphql.ts'
import { ApprovalRef } from '../../approvals/graphql.ts'
import { runId, runToken } from '../../commands.ts'
import { IntentRevisionRef, RunRef } from '../../graphql.ts'
import { ProtocolSegmentRef } from '../graphql.ts'
import { type HandedOff, handoffProtocol } from './by-owner.ts'
import { type HandoffAnswer, proposeHandoff } from './operations.ts'

const to = input.text('The protocol, as `id` or `id@version`.', { max: 120 }, true)
const reason = input.text('Why.', { max: 2_000 }, true)
const revision = (what: string) => input.int(what, [1, 2 ** 31 - 1])

command('proposeHandoff', {
  description:
    'Proposes to go on under another protocol, or with `correction` that your route was wrong. A rejection is an answer, `accepted: false` with its code, and is kept. SEGMENT_REVISION_CONFLICT and SESSION_INTENT_REVISION_CONFLICT write nothing.',
  input: {
    runId,
    runToken,
    to,
    reason,
    expectedSegmentRevision: revision(
      'The revision of the segment that you saw; another one is SEGMENT_REVISION_CONFLICT.',
    ),
    unresolvedGoals: input.list(
      input.text('', { max: 500 }, true),
      'String',
      'What you think is open; kept for the record. What counts is what the server finds.',
      [0, 100],
    ),
    correction: input.boolean(
      'Whether the route itself was wrong: only from a model’s new task, at its very beginning, towards `general-task`. Default: false.',
    ),
    idempotencyKey: input.key(),
  },
  success: builder.objectRef<HandoffAnswer>('ProposeHandoffSuccess').implement({
    description: 'The answer, and the segment and tools as they stand after it.',
    fields: (t) => ({
      accepted: t.exposeBoolean('accepted', { description: 'Whether you go on under it.' }),
      code: t.exposeString('code', {
        nullable: true,
        description:
          'Why it was rejected: STRICT_GOALS_OPEN, HANDOFF_TARGET_NOT_ALLOWED, ROUTE_CORRECTION_NOT_ALLOWED, PROTOCOL_UNKNOWN or PROTOCOL_NOT_AUTHORIZED. Null while an owner is asked.',
      }),
      openGoals: t.exposeStringList('openGoals', { description: 'What keeps you: the goals that are open.' }),
      segment: t.field({
        type: ProtocolSegmentRef,
        description: 'The segment that was active after it.',
        resolve: ({ projectId, segmentId: id }, _args, { loaders }) =>
          found(loaders.segment.clear({ projectId, id }).load({ projectId, id })),
      }),
      activeProtocol: t.exposeString('activeProtocol', { description: 'Its protocol, as `id@version`.' }),
      activePhase: t.exposeString('activePhase', { description: 'Its phase.' }),
      availableTools: t.exposeStringList('availableTools', {
        description: 'Your tools that its phase allows.',
      }),
      protocolDisabledTools: t.exposeStringList('protocolDisabledTools', {
        description: 'Your tools that it does not.',
      }),
      requirementsWanted: t.boolean({
        description:
          'Whether you are to say with `commitRequirements` what the task requires: the protocol has that extracted, and the task lists nothing.',
        resolve: async ({ projectId, segmentId: id }, _args, context) => {
          const segment = await found(context.loaders.segment.load({ projectId, id }))
          return requirementsWanted({ projectId, id: segment.runId }, context)
        },
      }),
      approval: t.field({
        type: ApprovalRef,
        nullable: true,
        description: 'The ask, where an owner has to confirm a correction.',
        resolve: ({ projectId, approvalId: id }, _args, { loaders }) =>
          id ? loaders.approval.load({ projectId, id }) : null,
      }),
    }),
  }),
  permission: { capability: 'run.execute', scope: (args) => ({ projectId: args.runId.projectId }) },
  run: (call, args, { app }) => proposeHandoff(app, call, args),
})

command('handoffProtocol', {
  description:
    'Puts a session under another protocol. While a run lives, its newest one goes on under it, by `expectedSegmentRevision`; between runs the task is switched, by `expectedHeadId`. Whatever has moved is a conflict.',
  input: {
    sessionId: input.id('Session', 'The session.', true),
    expectedSegmentRevision: revision(
      'While a run lives: the revision of its segment that you saw. Another one is SEGMENT_REVISION_CONFLICT.',
    ),
    expectedHeadId: input.id(
      'IntentRevision',
      'Between runs: the revision that you saw as the task. Another one is SESSION_INTENT_REVISION_CONFLICT.',
    ),
    to,
    reason,
    overrideStrict: input.boolean(
      'Whether to leave a strict protocol over its open goals, which is STRICT_GOALS_OPEN otherwise. Default: false.',
    ),
  },
  success: builder.objectRef<HandedOff>('HandoffProtocolSuccess').implement({
    description: 'The session is under it.',
    fields: (t) => ({
      session: t.field({
        type: SessionRef,
        description: 'The session, read after the change.',
        resolve: ({ projectId, sessionId: id }, _args, { loaders }) =>
          found(loaders.session.clear({ projectId, id }).load({ projectId, id })),
      }),
      intent: t.field({
        type: IntentRevisionRef,
        description: 'The revision that was made.',
        resolve: ({ projectId, revisionId: id }, _args, { loaders }) =>
          found(loaders.intentRevision.load({ projectId, id })),
      }),
      run: t.field({
        type: RunRef,
        nullable: true,
        description: 'The run that goes on under it; null between runs.',
        resolve: ({ projectId, runId: id }, _args, { loaders }) =>
          id ? loaders.run.clear({ projectId, id }).load({ projectId, id }) : null,
      }),
      segment: t.field({
        type: ProtocolSegmentRef,
        nullable: true,
        description: 'Its new segment; null between runs.',
        resolve: ({ projectId, segmentId: id }, _args, { loaders }) =>
          id ? loaders.segment.load({ projectId, id }) : null,
      }),
    }),
  }),
  permission: {
    capability: 'protocol.handoff',
    sight: 'session.read',
    scope: ({ sessionId }) => ({ projectId: sessionId.projectId, sessionId: sessionId.id }),
  },
  run: (call, args, { app }) => handoffProtocol(app, call, args),
})
