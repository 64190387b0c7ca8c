import { builder } from '../../../graphql/builder.ts'
import type { SessionEventType } from '../../../platform/journal.ts'
import { PrincipalRef } from '../../access/principals/graphql.ts'
import { seenFrom } from '../../intents/graphql.ts'
import { RouteDecisionRef } from '../../routing/graphql.ts'
import { ApprovalRef } from '../../runs/approvals/graphql.ts'
import {
  CompletionKindRef,
  EffectStateRef,
  IntentRevisionRef,
  RuntimeRef,
  UsageRef,
} from '../../runs/graphql.ts'
import type { EffectState, RunState, Usage } from '../../runs/rules.ts'
import { RunStateRef } from '../../runs/run-state.ts'
import { MessageRef, SessionStateRef } from '../graphql.ts'
import type { SessionState } from '../rules.ts'
import type { EventRow } from './operations.ts'
import { byKey, byRef, flag, key, text } from './payload.ts'
import { taskDetailOf, taskDetails } from './task-details.ts'

const actor = { nullable: true as const, description: 'Who did it.' }

const SessionStateDetail = builder.objectRef<EventRow>('SessionStateDetail').implement({
  description: 'A session was created, forked, opened, closed, renamed or set up otherwise.',
  fields: (t) => ({
    state: t.field({
      type: SessionStateRef,
      description: 'Its state after it.',
      resolve: (e) => (text(e, 'state') ?? 'OPEN') as SessionState,
    }),
    generation: t.int({
      description: 'Its generation after it.',
      resolve: (e) => Number((e.payload as { generation?: unknown }).generation ?? 1),
    }),
    title: t.string({
      nullable: true,
      description: 'Its title, where that was said.',
      resolve: (e) => text(e, 'title'),
    }),
    actor: t.field({
      ...actor,
      type: PrincipalRef,
      resolve: (e, _, { loaders }) => byKey(loaders.principal, key(e, 'by')),
    }),
  }),
})

const MessageDetail = builder.objectRef<EventRow>('MessageDetail').implement({
  description: 'A message was added to the transcript.',
  fields: (t) => ({
    message: t.field({
      type: MessageRef,
      nullable: true,
      description: 'The message.',
      resolve: (e, _, { loaders }) => byRef(loaders.message, e, key(e, 'messageId')),
    }),
  }),
})

const RouteDetail = builder.objectRef<EventRow>('RouteDetail').implement({
  description: 'It was decided where a message goes.',
  fields: (t) => ({
    route: t.field({
      type: RouteDecisionRef,
      nullable: true,
      description: 'The decision.',
      resolve: (e, _, { loaders }) => byRef(loaders.route, e, key(e, 'routeId')),
    }),
    task: t.field({
      type: IntentRevisionRef,
      nullable: true,
      description:
        'The task that the run was bound to by it; null where there is none, and where an event of its own tells it.',
      resolve: (e, _, context) => seenFrom(e, key(e, 'active'), context),
    }),
  }),
})

const runStateOf: Partial<Record<SessionEventType, RunState>> = {
  RUN_OFFERED: 'OFFERED',
  RUN_STARTED: 'RUNNING',
  RUN_WAITING: 'WAITING_APPROVAL',
  RUN_RESUMED: 'RUNNING',
  RUN_COMPLETED: 'COMPLETED',
  RUN_FAILED: 'FAILED',
  RUN_CANCELLED: 'CANCELLED',
  RUN_TIMED_OUT: 'TIMED_OUT',
}

const RunStateDetail = builder.objectRef<EventRow>('RunStateDetail').implement({
  description: 'A run changed its state.',
  fields: (t) => ({
    state: t.field({
      type: RunStateRef,
      description: 'Its state after it.',
      resolve: (e) => runStateOf[e.type] ?? 'RUNNING',
    }),
    failureCode: t.string({ nullable: true, description: 'Why it failed.', resolve: (e) => text(e, 'code') }),
    failureMessage: t.string({
      nullable: true,
      description: 'The same in words.',
      resolve: (e) => text(e, 'message'),
    }),
    completion: t.field({
      type: CompletionKindRef,
      nullable: true,
      description: 'How it completed, where it did. What the agent says of itself; never a proof.',
      resolve: (e) => text(e, 'completion') as 'FULL' | 'PARTIAL' | 'UNSUPPORTED' | null,
    }),
    effects: t.field({
      type: EffectStateRef,
      nullable: true,
      description: 'What is known of its effects, at its end.',
      resolve: (e) => text(e, 'effects') as EffectState | null,
    }),
    runtime: t.field({
      type: RuntimeRef,
      nullable: true,
      description: 'The runtime that took it.',
      resolve: (e, _, { loaders }) => byRef(loaders.runtime, e, key(e, 'runtimeId')),
    }),
    actor: t.field({
      ...actor,
      type: PrincipalRef,
      resolve: (e, _, { loaders }) => byKey(loaders.principal, key(e, 'by')),
    }),
    reason: t.string({
      nullable: true,
      description: 'The reason that was given.',
      resolve: (e) => text(e, 'reason'),
    }),
  }),
})

const ApprovalDetail = builder.objectRef<EventRow>('ApprovalDetail').implement({
  description: 'An ask was opened, answered, expired or withdrawn.',
  fields: (t) => ({
    approval: t.field({
      type: ApprovalRef,
      nullable: true,
      description: 'The ask, as it is now: a replay never brings back a question that was answered.',
      resolve: (e, _, { loaders }) => byRef(loaders.approval, e, key(e, 'approvalId')),
    }),
    decision: t.string({
      nullable: true,
      description: 'What was decided then.',
      resolve: (e) => text(e, 'decision'),
    }),
  }),
})

const SteerDetail = builder.objectRef<EventRow>('SteerDetail').implement({
  description: 'Guidance was given to a run.',
  fields: (t) => ({
    text: t.string({ description: 'The guidance.', resolve: (e) => text(e, 'text') ?? '' }),
    actor: t.field({
      ...actor,
      type: PrincipalRef,
      resolve: (e, _, { loaders }) => byKey(loaders.principal, key(e, 'by')),
    }),
  }),
})

const ToolDetail = builder.objectRef<EventRow>('ToolDetail').implement({
  description: 'A tool was called, or gave its result, as the runtime tells it.',
  fields: (t) => ({
    tool: t.string({ nullable: true, description: 'Its name.', resolve: (e) => text(e, 'tool') }),
    callId: t.string({
      nullable: true,
      description: 'What ties a result to its call.',
      resolve: (e) => text(e, 'callId'),
    }),
    ok: t.boolean({
      nullable: true,
      description: 'Whether it worked.',
      resolve: (e) => flag(e, 'ok'),
    }),
    summary: t.string({
      nullable: true,
      description: 'A line about it.',
      resolve: (e) => text(e, 'summary'),
    }),
  }),
})

const TextDetail = builder.objectRef<EventRow>('TextDetail').implement({
  description: 'A piece of text.',
  fields: (t) => ({ text: t.string({ description: 'The text.', resolve: (e) => text(e, 'text') ?? '' }) }),
})

const UsageDetail = builder.objectRef<EventRow>('UsageDetail').implement({
  description: 'What was used since the last report.',
  fields: (t) => ({
    usage: t.field({ type: UsageRef, description: 'The counts.', resolve: (e) => e.payload as Usage }),
  }),
})

const detailOf: Partial<Record<SessionEventType, string>> = {
  SESSION_CREATED: 'SessionStateDetail',
  SESSION_OPENED: 'SessionStateDetail',
  SESSION_CLOSED: 'SessionStateDetail',
  SESSION_RENAMED: 'SessionStateDetail',
  SESSION_SETTINGS_CHANGED: 'SessionStateDetail',
  SESSION_FORKED: 'SessionStateDetail',
  MESSAGE: 'MessageDetail',
  ROUTE_DECIDED: 'RouteDetail',
  ...Object.fromEntries(Object.keys(runStateOf).map((type) => [type, 'RunStateDetail'])),
  APPROVAL_REQUESTED: 'ApprovalDetail',
  APPROVAL_ANSWERED: 'ApprovalDetail',
  APPROVAL_EXPIRED: 'ApprovalDetail',
  APPROVAL_WITHDRAWN: 'ApprovalDetail',
  RUN_STEERED: 'SteerDetail',
  TOOL_CALL: 'ToolDetail',
  TOOL_RESULT: 'ToolDetail',
  ANSWER_DELTA: 'TextDetail',
  REASONING_DELTA: 'TextDetail',
  INFO: 'TextDetail',
  USAGE_RECORDED: 'UsageDetail',
  ...taskDetailOf,
}
/** Whether events of this type have a typed detail. */
export const hasDetail = (type: SessionEventType) => detailOf[type] !== undefined

export const SessionEventDetail = builder.unionType('SessionEventDetail', {
  description: 'The typed reading of an event.',
  types: [
    SessionStateDetail,
    MessageDetail,
    RouteDetail,
    RunStateDetail,
    ApprovalDetail,
    SteerDetail,
    ToolDetail,
    TextDetail,
    UsageDetail,
    ...taskDetails,
  ],
  resolveType: (event) => detailOf[(event as EventRow).type] as never,
})
