import { builder } from '../../../graphql/builder.ts'
import { command, type Permission } from '../../../graphql/command.ts'
import { input } from '../../../graphql/fields.ts'
import { found } from '../../../graphql/found.ts'
import { encodeId, type Ref } from '../../../platform/ids.ts'
import { ApprovalRef } from '../approvals/graphql.ts'
import { runId, runToken } from '../commands.ts'
import { ActionDecisionRef, ActionRef, ProtocolSegmentRef } from './graphql.ts'
import { type Requested, recordActionResult, requestAction } from './operations.ts'
import { type ActionDecision, maxFacts, maxFactsOfResult } from './rules.ts'

const digest = (what: string) => input.text(`The digest of its ${what}, of a kind of your own.`, { max: 200 })

const allowedNow = 'Of the actions of your declared tools, those that the phase of the moment allows.'

command('requestAction', {
  description:
    'Asks whether an action may be taken, and is the only answer that counts. A tool that you did not declare is TOOL_UNKNOWN. A denial is an answer like any other, and is kept.',
  input: {
    runId,
    runToken,
    tool: input.text('The tool, as you declared it.', { max: 120 }, true),
    argumentsDigest: digest('arguments'),
    idempotencyKey: input.key(),
  },
  success: builder.objectRef<Requested>('RequestActionSuccess').implement({
    description: 'The answer. Only ALLOWED lets you go on.',
    fields: (t) => ({
      decision: t.field({
        type: ActionDecisionRef,
        description: 'Whether it may be taken.',
        resolve: ({ decision }) => decision as ActionDecision,
      }),
      actionId: t.id({
        description: 'Its line in the ledger, for `recordActionResult`.',
        resolve: ({ projectId, actionId: id }) => encodeId({ type: 'Action', projectId, id }),
      }),
      code: t.exposeString('code', {
        nullable: true,
        description: 'Why it was denied: ACTION_NOT_ALLOWED_IN_PHASE or INTENT_STALE.',
      }),
      allowedActions: t.exposeStringList('allowedActions', { description: allowedNow }),
      approval: t.field({
        type: ApprovalRef,
        nullable: true,
        description: 'The ask that will decide, for NEEDS_APPROVAL.',
        resolve: ({ projectId, approvalId: id }, _args, { loaders }) =>
          id ? loaders.approval.load({ projectId, id }) : null,
      }),
    }),
  }),
  permission: { capability: 'run.execute', scope: (args) => ({ projectId: args.runId.projectId }) },
  run: (call, args, { app }) => requestAction(app, call, args),
})

const asRuntime: Permission<{ actionId: Ref }> = {
  capability: 'run.execute',
  scope: ({ actionId }) => ({ projectId: actionId.projectId }),
}

command('recordActionResult', {
  description:
    'Says what came of an allowed action, exactly once: after that, and for one that was not allowed, CONFLICT. Its facts and its success move the segment on, as the protocol says.',
  input: {
    actionId: input.id('Action', 'The action.', true),
    runToken,
    ok: input.boolean('Whether it succeeded.', true),
    resultDigest: digest('result'),
    facts: input.json(
      `What it found: an object of at most ${maxFactsOfResult} named booleans and counts. A segment keeps at most ${maxFacts}.`,
    ),
  },
  success: builder
    .objectRef<{ projectId: string; actionId: string; segmentId: string; allowedActions: string[] }>(
      'RecordActionResultSuccess',
    )
    .implement({
      description: 'The action is closed.',
      fields: (t) => ({
        action: t.field({
          type: ActionRef,
          description: 'The action, read after the change.',
          resolve: ({ projectId, actionId: id }, _args, { loaders }) =>
            found(loaders.action.clear({ projectId, id }).load({ projectId, id })),
        }),
        segment: t.field({
          type: ProtocolSegmentRef,
          description: 'The active segment of its run, read after the change.',
          resolve: ({ projectId, segmentId: id }, _args, { loaders }) =>
            found(loaders.segment.clear({ projectId, id }).load({ projectId, id })),
        }),
        allowedActions: t.exposeStringList('allowedActions', { description: allowedNow }),
      }),
    }),
  permission: asRuntime,
  run: (call, args, { app }) => recordActionResult(app, call, args),
})
