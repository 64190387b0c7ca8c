import { AllowedActionRef } from '../../../graphql/allowed-action.ts'
import { builder, nodeKey, unspell } from '../../../graphql/builder.ts'
import { command } from '../../../graphql/command.ts'
import { connectionType, forwardArgs, pageCost } from '../../../graphql/connection.ts'
import { viewerOf } from '../../../graphql/context.ts'
import { input } from '../../../graphql/fields.ts'
import { found, refOf } from '../../../graphql/found.ts'
import { connectionOf, isTimeKey, pageRequest } from '../../../graphql/page.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { PrincipalRef } from '../../access/principals/graphql.ts'
import { allowedAction, authorize } from '../../access/rules.ts'
import { SessionRef } from '../../sessions/graphql.ts'
import { runId, runToken } from '../commands.ts'
import { RunRef, visible } from '../graphql.ts'
import type { ApprovalRow } from '../operations.ts'
import {
  type ApprovalKind,
  type ApprovalState,
  approvalKinds,
  approvalStates,
  decideApproval,
} from '../rules.ts'
import { listApprovals, requestApproval, resolveApproval } from './operations.ts'

const ApprovalKindRef = builder.enumType('ApprovalKind', {
  description: 'What an agent asks for.',
  values: approvalKinds,
})
const ApprovalStateRef = builder.enumType('ApprovalState', {
  description: 'Where an ask is. Whatever it is but OPEN never changes.',
  values: approvalStates,
})
export const ApprovalRef = builder.objectRef<ApprovalRow>('Approval')

builder.node(ApprovalRef, {
  description:
    'One ask of one run: a durable row with a deadline and a declared default, answered exactly once.',
  id: { resolve: (approval) => nodeKey(approval) },
  loadWithoutCache: (key, context) =>
    found(visible(context.loaders.approval, unspell('Approval', key), context)),
  fields: (t) => ({
    session: t.field({
      type: SessionRef,
      description: 'Its session.',
      resolve: (a, _, { loaders }) =>
        found(loaders.session.load({ projectId: a.projectId, id: a.sessionId })),
    }),
    run: t.field({
      type: RunRef,
      description: 'The run that waits.',
      resolve: (a, _, { loaders }) => found(loaders.run.load({ projectId: a.projectId, id: a.runId })),
    }),
    kind: t.field({
      type: ApprovalKindRef,
      description: 'What is asked for.',
      resolve: (a) => a.kind as ApprovalKind,
    }),
    title: t.exposeString('title', { description: 'The ask in a line. Untrusted text of the agent.' }),
    payload: t.field({
      type: 'JSON',
      description: 'What it is about. Untrusted.',
      resolve: (a) => a.payload,
    }),
    options: t.exposeStringList('options', { description: 'The possible decisions.' }),
    defaultDecision: t.exposeString('defaultDecision', {
      description: 'What is decided when nobody answers.',
    }),
    state: t.field({
      type: ApprovalStateRef,
      description: 'Where it is.',
      resolve: (a) => a.state as ApprovalState,
    }),
    decision: t.exposeString('decision', { nullable: true, description: 'What was decided.' }),
    note: t.exposeString('note', { nullable: true, description: 'What the one who decided added.' }),
    decidedBy: t.field({
      type: PrincipalRef,
      nullable: true,
      description: 'Who decided; null for the default.',
      resolve: (a, _, { loaders }) => (a.decidedBy ? loaders.principal.load(a.decidedBy) : null),
    }),
    decidedAt: t.expose('decidedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was decided or withdrawn.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Since when it waits.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the default decides.' }),
    allowedActions: t.field({
      type: [AllowedActionRef],
      description: 'What the caller may do with it now.',
      resolve: (a, _args, context) => {
        const facts = { ...a, state: a.state as ApprovalState }
        const decided = decideApproval(facts, 'answer', context.app.clock.now())
        const scope = { projectId: a.projectId, sessionId: a.sessionId }
        const refusal =
          authorize(viewerOf(context), 'approval.resolve', scope) ??
          (decided instanceof Refusal ? decided : null)
        return [allowedAction('resolveApproval', refusal)]
      },
    }),
  }),
})

builder.objectField(RunRef, 'approvals', (t) =>
  t.field({
    type: [ApprovalRef],
    description: 'Its asks, oldest first.',
    resolve: (run, _, { loaders }) => loaders.approvalsOfRun.load(run.id),
  }),
)
builder.objectField(SessionRef, 'approvals', (t) =>
  t.field({
    type: [ApprovalRef],
    description: 'Its asks, newest first, at most 100.',
    args: { open: t.arg.boolean({ description: 'Only those that wait, or only those that do not.' }) },
    resolve: (session, { open }, { loaders }) =>
      loaders.approvalsOfSession.load({ session, open: open ?? null }),
  }),
)

const ApprovalConnection = connectionType('Approval', ApprovalRef)
builder.queryField('approvals', (t) =>
  t.field({
    type: ApprovalConnection,
    description: 'Asks of the sessions that you can see, newest first.',
    args: {
      projectId: t.arg.id({ description: 'Of one project; of all when absent.' }),
      open: t.arg.boolean({ description: 'Only those that wait, or only those that do not.' }),
      ...forwardArgs,
    },
    complexity: pageCost,
    resolve: async (_root, args, context) => {
      const request = pageRequest(args, isTimeKey)
      const projectId = args.projectId == null ? null : refOf('Project', args.projectId).id
      const rows = await listApprovals(
        context.app.db,
        viewerOf(context),
        projectId,
        args.open ?? null,
        request,
      )
      return connectionOf(rows, request, (row) => [row.createdAt.toISOString(), row.id])
    },
  }),
)

command('requestApproval', {
  description:
    'Suspends a run with an ask. TOOL and PLAN offer `allow` and `deny`, default `deny`; a QUESTION has 1 to 8 options of its own and names its default. It always has a deadline, and then its default decides.',
  input: {
    runId,
    runToken,
    kind: input.enum(ApprovalKindRef, 'TOOL, PLAN or QUESTION; HANDOFF asks are the server’s own.', true),
    title: input.text('The ask in a line.', { max: 200 }, true),
    payload: input.payload('What it is about, as strict JSON.', true),
    options: input.list(
      input.text('', { max: 200 }, true),
      'String',
      'The decisions to choose from, for a QUESTION.',
      [1, 8],
    ),
    defaultDecision: input.text('What is decided when nobody answers.', { max: 200 }),
    expiresAt: input.date(
      'When the default decides, at most 30 days off; the project’s default when absent.',
    ),
    idempotencyKey: input.key(),
  },
  success: builder
    .objectRef<{ projectId: string; runId: string; approvalId: string }>('RequestApprovalSuccess')
    .implement({
      description: 'The run waits; the answer comes as a signal.',
      fields: (t) => ({
        approval: t.field({
          type: ApprovalRef,
          description: 'The ask.',
          resolve: ({ projectId, approvalId: id }, _, { loaders }) =>
            found(loaders.approval.clear({ projectId, id }).load({ projectId, id })),
        }),
        run: t.field({
          type: RunRef,
          description: 'The run, read after the change.',
          resolve: ({ projectId, runId: id }, _, { loaders }) =>
            found(loaders.run.clear({ projectId, id }).load({ projectId, id })),
        }),
      }),
    }),
  permission: { capability: 'run.execute', scope: ({ runId: run }) => ({ projectId: run.projectId }) },
  run: (call, args, { app }) => requestApproval(app, call, args),
})

command('resolveApproval', {
  description:
    'Answers an ask. The first answer wins; a later one is CONFLICT with what was decided, as `current`.',
  input: {
    approvalId: input.id('Approval', 'The ask.', true),
    decision: input.text('One of its options.', { max: 200, trim: false }, true),
    note: input.text('What the agent should know besides.', { max: 2_000 }),
    idempotencyKey: input.key(),
  },
  success: builder
    .objectRef<{ projectId: string; runId: string; approvalId: string }>('ResolveApprovalSuccess')
    .implement({
      description: 'The ask is answered, and the runtime told.',
      fields: (t) => ({
        approval: t.field({
          type: ApprovalRef,
          description: 'The ask.',
          resolve: ({ projectId, approvalId: id }, _, { loaders }) =>
            found(loaders.approval.clear({ projectId, id }).load({ projectId, id })),
        }),
        run: t.field({
          type: RunRef,
          description: 'The run, read after the change.',
          resolve: ({ projectId, runId: id }, _, { loaders }) =>
            found(loaders.run.clear({ projectId, id }).load({ projectId, id })),
        }),
      }),
    }),
  permission: {
    capability: 'approval.resolve',
    sight: 'session.read',
    scope: async ({ approvalId }, context) => {
      const approval = await context.loaders.approval.load({
        projectId: approvalId.projectId,
        id: approvalId.id,
      })
      return approval
        ? { projectId: approval.projectId, sessionId: approval.sessionId }
        : { projectId: 'none' }
    },
  },
  run: (call, args, { app }) => resolveApproval(app, call, args),
})
