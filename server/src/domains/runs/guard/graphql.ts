import { builder, nodeKey, unspell } from '../../../graphql/builder.ts'
import { connectionType, forwardArgs, ownPageCost } from '../../../graphql/connection.ts'
import { found } from '../../../graphql/found.ts'
import { connectionOf, isNumberKey, isTimeKey, pageRequest } from '../../../graphql/page.ts'
import { SessionRef } from '../../sessions/graphql.ts'
import { ApprovalRef } from '../approvals/graphql.ts'
import { RunRef, runOf, visible } from '../graphql.ts'
import { type SegmentState, segmentStates } from '../segments/rules.ts'
import type { ActionRow, SegmentRow } from './operations.ts'
import { type ActionDecision, actionDecisions } from './rules.ts'

export const ActionDecisionRef = builder.enumType('ActionDecision', {
  description: 'Whether an action may be taken: yes, no, or once an owner allows it.',
  values: actionDecisions,
})

export const ProtocolSegmentRef = builder.objectRef<SegmentRow>('ProtocolSegment')
export const ActionRef = builder.objectRef<ActionRow>('Action')

builder.node(ProtocolSegmentRef, {
  description: 'A stretch of one run under one protocol. At most one of a run is ACTIVE.',
  id: { resolve: (segment) => nodeKey(segment) },
  loadWithoutCache: (key, context) =>
    found(visible(context.loaders.segment, unspell('ProtocolSegment', key), context)),
  fields: (t) => ({
    session: t.field({
      type: SessionRef,
      description: 'Its session.',
      resolve: (segment, _, { loaders }) =>
        found(loaders.session.load({ projectId: segment.projectId, id: segment.sessionId })),
    }),
    run: t.field({
      type: RunRef,
      description: 'Its run.',
      resolve: (segment, _, context) => found(Promise.resolve(runOf(segment, context))),
    }),
    number: t.exposeInt('number', { description: 'Its number in the run, from 1.' }),
    protocol: t.exposeString('protocol', { description: 'The protocol, as `id@version`.' }),
    state: t.field({
      type: builder.enumType('SegmentState', {
        description:
          'Where a segment is: in force, ended with its run, handed off, given up by a correction or a cancel, or failed.',
        values: segmentStates,
      }),
      description: 'Where it is. Whatever it is but ACTIVE never changes.',
      resolve: (segment) => segment.state as SegmentState,
    }),
    revision: t.exposeInt('revision', {
      description: 'Rises with each change of phase, facts or state; a handoff names the one that it saw.',
    }),
    phase: t.exposeString('phase', { description: 'The phase that it is in, or was in at its end.' }),
    facts: t.field({
      type: 'JSON',
      description: 'Named booleans and counts that results brought. `ok.<action>`: successes in this phase.',
      resolve: (segment) => segment.facts,
    }),
    openedBy: t.exposeString('openedBy', {
      description: 'What opened it: ROUTE, HANDOFF, OWNER, CORRECTION or REROUTE.',
    }),
    closedBy: t.exposeString('closedBy', {
      nullable: true,
      description: 'What ended it: END (of its run), HANDOFF, OWNER, CORRECTION or REROUTE.',
    }),
    openedAt: t.expose('openedAt', { type: 'DateTime', description: 'When it began.' }),
    closedAt: t.expose('closedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
  }),
})

builder.node(ActionRef, {
  description:
    'One line of the action ledger: what an agent asked to do, what it was told, and what came of it, told exactly once.',
  id: { resolve: (action) => nodeKey(action) },
  loadWithoutCache: (key, context) => found(visible(context.loaders.action, unspell('Action', key), context)),
  fields: (t) => ({
    run: t.field({
      type: RunRef,
      description: 'Its run.',
      resolve: (action, _, context) => found(Promise.resolve(runOf(action, context))),
    }),
    segment: t.field({
      type: ProtocolSegmentRef,
      description: 'The segment in which it was asked for.',
      resolve: (action, _, { loaders }) =>
        found(loaders.segment.load({ projectId: action.projectId, id: action.segmentId })),
    }),
    number: t.exposeInt('number', { description: 'Its number in the run, from 1.' }),
    tool: t.exposeString('tool', { description: 'The tool, as its runtime declared it.' }),
    action: t.exposeString('action', { description: 'The action that the tool stands for.' }),
    governedBy: t.exposeString('governedBy', {
      nullable: true,
      description: 'The protocol whose real work it is, if any.',
    }),
    argumentsDigest: t.exposeString('argumentsDigest', {
      nullable: true,
      description: 'The digest of its arguments, as the agent gave it.',
    }),
    protocol: t.exposeString('protocol', { description: 'The protocol under which it was asked for.' }),
    phase: t.exposeString('phase', { description: 'The phase in which it was asked for.' }),
    decision: t.field({
      type: ActionDecisionRef,
      description: 'Whether it may be taken.',
      resolve: (action) => action.decision as ActionDecision,
    }),
    code: t.exposeString('code', {
      nullable: true,
      description:
        'Why it was denied: ACTION_NOT_ALLOWED_IN_PHASE, INTENT_STALE, APPROVAL_DENIED, or APPROVAL_WITHDRAWN where its run ended first.',
    }),
    approval: t.field({
      type: ApprovalRef,
      nullable: true,
      description: 'The ask that decides it, where it needs one.',
      resolve: ({ projectId, approvalId: id }, _, { loaders }) =>
        id ? loaders.approval.load({ projectId, id }) : null,
    }),
    ok: t.exposeBoolean('ok', {
      nullable: true,
      description: 'Whether it succeeded; null while it has no result.',
    }),
    resultDigest: t.exposeString('resultDigest', {
      nullable: true,
      description: 'The digest of its result, as the agent gave it.',
    }),
    facts: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The facts that its result brought.',
      resolve: (action) => action.facts,
    }),
    requestedAt: t.expose('requestedAt', { type: 'DateTime', description: 'When it was asked for.' }),
    closedAt: t.expose('closedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its result was recorded.',
    }),
  }),
})

const ActionConnection = connectionType('Action', ActionRef)
const SegmentConnection = connectionType('ProtocolSegment', ProtocolSegmentRef)

builder.objectFields(RunRef, (t) => ({
  segment: t.field({
    type: ProtocolSegmentRef,
    nullable: true,
    description: 'Its active segment, or its last.',
    resolve: (run, _args, { loaders }) => loaders.lastSegment.load({ projectId: run.projectId, id: run.id }),
  }),
  segments: t.field({
    type: [ProtocolSegmentRef],
    description: 'Its segments, in order.',
    resolve: (run, _args, { loaders }) => loaders.segmentsOfRun.load(run.id),
  }),
  actions: t.field({
    type: ActionConnection,
    description: 'Its ledger of actions, oldest first.',
    args: forwardArgs,
    complexity: ownPageCost,
    resolve: async (run, args, { loaders }) => {
      const request = pageRequest(args, isNumberKey)
      const rows = await loaders.actionPage.load({
        run: { projectId: run.projectId, id: run.id },
        first: request.first,
        beyond: request.after?.[0] ?? null,
      })
      return connectionOf(rows, request, (row) => [row.number])
    },
  }),
}))

builder.objectFields(SessionRef, (t) => ({
  segment: t.field({
    type: ProtocolSegmentRef,
    nullable: true,
    description: 'The active segment of its newest run; null between runs.',
    resolve: async (session, _args, { loaders }) => {
      if (!session.lastRunId || session.liveRuns === 0) return null
      const last = await loaders.lastSegment.load({ projectId: session.projectId, id: session.lastRunId })
      return last?.state === 'ACTIVE' ? last : null
    },
  }),
  segments: t.field({
    type: SegmentConnection,
    description: 'The segments of all its runs, newest first.',
    args: forwardArgs,
    complexity: ownPageCost,
    resolve: async (session, args, { loaders }) => {
      const request = pageRequest(args, isTimeKey)
      const rows = await loaders.segmentPage.load({
        session: { projectId: session.projectId, id: session.id },
        first: request.first,
        before: request.after,
      })
      return connectionOf(rows, request, (row) => [row.openedAt.toISOString(), row.id])
    },
  }),
}))
