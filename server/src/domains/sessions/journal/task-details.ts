import { builder } from '../../../graphql/builder.ts'
import type { SessionEventType } from '../../../platform/journal.ts'
import { PrincipalRef } from '../../access/principals/graphql.ts'
import { RequirementStateRef, seenFrom } from '../../intents/graphql.ts'
import type { Relation, RequirementState } from '../../intents/rules.ts'
import { TaskRelation } from '../../routing/graphql.ts'
import { IntentRevisionRef } from '../../runs/graphql.ts'
import { ActionDecisionRef, ActionRef } from '../../runs/guard/graphql.ts'
import type { ActionDecision } from '../../runs/guard/rules.ts'
import type { EventRow } from './operations.ts'
import { byKey, byRef, fieldOf, flag, key, text, texts } from './payload.ts'

const by = {
  type: PrincipalRef,
  nullable: true as const,
  description: 'Who did it; null where the event does not say.',
}

const IntentDetail = builder.objectRef<EventRow>('IntentDetail').implement({
  description: 'The task got a revision, or a run was bound to one.',
  fields: (t) => ({
    revision: t.field({
      type: IntentRevisionRef,
      nullable: true,
      description: 'The revision; null where a run was bound to none.',
      resolve: (e, _, context) => seenFrom(e, key(e, 'revisionId') ?? key(e, 'active'), context),
    }),
    relation: t.field({
      type: TaskRelation,
      nullable: true,
      description: 'How the run that was bound relates to it.',
      resolve: (e) => text(e, 'relation') as Relation | null,
    }),
    reason: t.string({
      nullable: true,
      description: 'Why a run was bound: CORRECTION, REBIND, REFINEMENT, HANDOFF or REROUTE.',
      resolve: (e) => text(e, 'reason'),
    }),
    actor: t.field({
      ...by,
      resolve: (e, _, { loaders }) => byKey(loaders.principal, key(e, 'by') ?? key(e, 'author')),
    }),
  }),
})

const RequirementDetail = builder.objectRef<EventRow>('RequirementDetail').implement({
  description: 'A requirement was met, dropped or opened again.',
  fields: (t) => ({
    requirementId: t.id({
      description: 'Which, as the revisions list it.',
      resolve: (e) => text(e, 'requirementId') ?? '',
    }),
    state: t.field({
      type: RequirementStateRef,
      description: 'Its state after it.',
      resolve: (e) => (text(e, 'state') ?? 'OPEN') as RequirementState,
    }),
    action: t.field({
      type: ActionRef,
      nullable: true,
      description: 'The action that is the evidence, where it was met by one.',
      resolve: (e, _, { loaders }) => byRef(loaders.action, e, key(e, 'actionId')),
    }),
    actor: t.field({ ...by, resolve: (e, _, { loaders }) => byKey(loaders.principal, key(e, 'by')) }),
  }),
})

const SegmentDetail = builder.objectRef<EventRow>('SegmentDetail').implement({
  description: 'A segment began, went on to another phase, or ended.',
  fields: (t) => ({
    protocol: t.string({
      description: 'Its protocol, as `id@version`.',
      resolve: (e) => text(e, 'protocol') ?? '',
    }),
    phase: t.string({
      description: 'Its phase after it.',
      resolve: (e) => text(e, 'to') ?? text(e, 'phase') ?? '',
    }),
    from: t.string({
      nullable: true,
      description: 'The phase that it left, where it changed.',
      resolve: (e) => text(e, 'from'),
    }),
    cause: t.string({
      nullable: true,
      description: 'What opened or closed it: ROUTE, END, HANDOFF, OWNER, CORRECTION or REROUTE.',
      resolve: (e) => text(e, 'openedBy') ?? text(e, 'closedBy'),
    }),
  }),
})

const ActionDetail = builder.objectRef<EventRow>('ActionDetail').implement({
  description: 'An agent asked whether it may act, or told how an action went.',
  fields: (t) => ({
    actionId: t.id({ description: 'Its entry of the ledger.', resolve: (e) => text(e, 'actionId') ?? '' }),
    tool: t.string({ description: 'The tool.', resolve: (e) => text(e, 'tool') ?? '' }),
    action: t.string({ description: 'What the tool stands for.', resolve: (e) => text(e, 'action') ?? '' }),
    decision: t.field({
      type: ActionDecisionRef,
      nullable: true,
      description: 'What the guard said, when it was asked.',
      resolve: (e) => text(e, 'decision') as ActionDecision | null,
    }),
    code: t.string({
      nullable: true,
      description: 'Why it was refused: ACTION_NOT_ALLOWED_IN_PHASE or INTENT_STALE.',
      resolve: (e) => text(e, 'code'),
    }),
    protocol: t.string({
      nullable: true,
      description: 'The protocol under which it was asked, as `id@version`.',
      resolve: (e) => text(e, 'protocol'),
    }),
    phase: t.string({
      nullable: true,
      description: 'The phase in which it was asked.',
      resolve: (e) => text(e, 'phase'),
    }),
    ok: t.boolean({
      nullable: true,
      description: 'Whether it worked, once that was told.',
      resolve: (e) => flag(e, 'ok'),
    }),
  }),
})

const HandoffDetail = builder.objectRef<EventRow>('HandoffDetail').implement({
  description: 'A handoff to another protocol was proposed, accepted or rejected, or a route was corrected.',
  fields: (t) => ({
    from: t.string({
      description: 'The protocol that is left, as `id@version`.',
      resolve: (e) => text(e, 'from') ?? '',
    }),
    to: t.string({
      description: 'The protocol that it goes to, as it was named.',
      resolve: (e) => text(e, 'to') ?? '',
    }),
    reason: t.string({ nullable: true, description: 'Why. Untrusted.', resolve: (e) => text(e, 'reason') }),
    code: t.string({
      nullable: true,
      description: 'Why it was rejected.',
      resolve: (e) => text(e, 'code'),
    }),
    openGoals: t.stringList({
      description: 'What the server holds to be unresolved; at most 20, each cut to 200 characters.',
      resolve: (e) => texts(e, 'openGoals'),
    }),
    openGoalCount: t.int({
      description: 'How many there are in all.',
      resolve: (e) => Number(fieldOf(e, 'openGoalCount') ?? 0),
    }),
    claimedGoals: t.stringList({
      description: 'What the agent says is unresolved; kept, never believed.',
      resolve: (e) => texts(e, 'claimedGoals'),
    }),
    actor: t.field({ ...by, resolve: (e, _, { loaders }) => byKey(loaders.principal, key(e, 'by')) }),
  }),
})

export const taskDetails = [IntentDetail, RequirementDetail, SegmentDetail, ActionDetail, HandoffDetail]

export const taskDetailOf: Partial<Record<SessionEventType, string>> = {
  INTENT_REVISED: 'IntentDetail',
  INTENT_REBOUND: 'IntentDetail',
  REQUIREMENT_CHANGED: 'RequirementDetail',
  SEGMENT_STARTED: 'SegmentDetail',
  SEGMENT_PHASE_CHANGED: 'SegmentDetail',
  SEGMENT_ENDED: 'SegmentDetail',
  ACTION_REQUESTED: 'ActionDetail',
  ACTION_COMPLETED: 'ActionDetail',
  HANDOFF_PROPOSED: 'HandoffDetail',
  HANDOFF_ACCEPTED: 'HandoffDetail',
  HANDOFF_REJECTED: 'HandoffDetail',
  PROTOCOL_ROUTE_CORRECTED: 'HandoffDetail',
}
