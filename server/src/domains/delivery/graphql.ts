import { AllowedActionRef } from '../../graphql/allowed-action.ts'
import { builder, nodeKey, unspell } from '../../graphql/builder.ts'
import { command } from '../../graphql/command.ts'
import { connectionType, forwardArgs, pageCost } from '../../graphql/connection.ts'
import { type Context, permit, viewerOf } from '../../graphql/context.ts'
import { input } from '../../graphql/fields.ts'
import { found, refOf } from '../../graphql/found.ts'
import { connectionOf, isTimeKey, pageRequest } from '../../graphql/page.ts'
import { encodeId, type NodeRef, type Ref } from '../../platform/ids.ts'
import { invalid, notFound, Refusal } from '../../platform/refusal.ts'
import { PrincipalRef } from '../access/principals/graphql.ts'
import { allowedAction, allows, authorize } from '../access/rules.ts'
import { ProjectRef } from '../projects/graphql.ts'
import { ApprovalRef } from '../runs/approvals/graphql.ts'
import { RunRef } from '../runs/graphql.ts'
import { SessionRef } from '../sessions/graphql.ts'
import type { OpenCount } from './open-counts.ts'
import { countInbox, type InboxRow, listInbox, updateInboxItem } from './operations.ts'
import {
  decideItem,
  type InboxKind,
  type InboxState,
  ifIgnored,
  inboxActions,
  type Sight,
  sightOf,
} from './rules.ts'
import './waits/graphql.ts'

const InboxKindRef = builder.enumType('InboxKind', {
  description: 'What an inbox item is about.',
  values: {
    TOOL_APPROVAL: { description: 'An agent asks before it uses a tool.' },
    PLAN_APPROVAL: { description: 'An agent asks for its plan, or to hand the session over.' },
    QUESTION: { description: 'An agent asks a question with options of its own.' },
    RUN_FAILED: { description: 'A run failed or took too long; what it did is known.' },
    EFFECTS_UNKNOWN: { description: 'A run ended, and what it did last is not known.' },
    RUN_UNSUPPORTED: { description: 'A run completed with nothing done that supports its answer.' },
  } satisfies Record<InboxKind, object>,
})
const InboxStateRef = builder.enumType('InboxState', {
  description: 'Where an inbox item stands.',
  values: {
    OPEN: { description: 'It waits for an owner.' },
    ACKNOWLEDGED: { description: 'An owner has seen it.' },
    HANDLED: { description: 'What it was about is settled.' },
  } satisfies Record<InboxState, object>,
})
const InboxActionRef = builder.enumType('InboxAction', {
  description: 'What can be done with an inbox item besides answering it.',
  values: {
    ACKNOWLEDGE: { description: 'It has been seen. An open ask can’t be acknowledged away: CONFLICT.' },
    REOPEN: { description: 'It was acknowledged too early.' },
    ASSIGN: { description: 'It is for this person; without one, for nobody in particular.' },
    SNOOZE: { description: 'It is left out of the open list until then; without a time it is back at once.' },
  } satisfies Record<(typeof inboxActions)[number], object>,
})

const sessionOf = (item: InboxRow): Ref => ({ projectId: item.projectId, id: item.sessionId })
const scopeOf = (item: InboxRow) => ({ projectId: item.projectId, sessionId: item.sessionId })
const stateOf = (item: InboxRow) => ({ kind: item.kind as InboxKind, state: item.state as InboxState })

async function inboxNode(ref: NodeRef, context: Context): Promise<InboxRow | null> {
  const viewer = viewerOf(context)
  const item = await context.loaders.inboxItem.load({ projectId: ref.projectId ?? '', id: ref.id })
  return item && allows(viewer, 'session.read', scopeOf(item)) ? item : null
}

/** The mutation itself, and each of its actions under `updateInboxItem.<ACTION>`. */
function allowedOn(context: Context, item: InboxRow) {
  const may = authorize(viewerOf(context), 'approval.resolve', scopeOf(item), 'session.read')
  const each = inboxActions.map((action) => {
    const next = decideItem(stateOf(item), action)
    const same = new Refusal('CONFLICT', 'It is so already.')
    return { action, refusal: may ?? (next instanceof Refusal ? next : next === 'same' ? same : null) }
  })
  const first = each.find(({ refusal }) => refusal === null) ? null : (each[0]?.refusal ?? null)
  return [
    allowedAction('updateInboxItem', first),
    ...each.map(({ action, refusal }) => allowedAction(`updateInboxItem.${action}`, refusal)),
  ]
}

const InboxItemRef = builder.objectRef<InboxRow>('InboxItem')

builder.node(InboxItemRef, {
  description:
    'Something that waits for an owner. It was written with what caused it and is never deleted by itself.',
  id: { resolve: ({ projectId, id }) => nodeKey({ projectId, id }) },
  loadWithoutCache: (key, context) => found(inboxNode(unspell('InboxItem', key), context)),
  fields: (t) => ({
    project: t.field({
      type: ProjectRef,
      description: 'Its project.',
      resolve: (item, _args, { loaders }) => found(loaders.project.load(item.projectId)),
    }),
    kind: t.field({
      type: InboxKindRef,
      description: 'What it is about.',
      resolve: (item) => item.kind as InboxKind,
    }),
    state: t.field({
      type: InboxStateRef,
      description: 'Where it stands.',
      resolve: (item) => item.state as InboxState,
    }),
    title: t.exposeString('title', { description: 'What is asked, or whose run it is. Untrusted text.' }),
    why: t.exposeString('why', { description: 'Why it is here. Untrusted text.' }),
    since: t.expose('since', { type: 'DateTime', description: 'Since when it waits.' }),
    ifIgnored: t.string({
      description: 'What happens when nobody does anything: one sentence.',
      resolve: (item) => ifIgnored({ ...stateOf(item), ...item } as Parameters<typeof ifIgnored>[0]),
    }),
    deadline: t.expose('deadlineAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when an ask can be answered.',
    }),
    defaultDecision: t.exposeString('defaultDecision', {
      nullable: true,
      description: 'What decides an ask at its deadline.',
    }),
    subject: t.node({
      description: 'What it is about: the ask, else the run.',
      id: ({ projectId, approvalId, runId }) =>
        approvalId
          ? encodeId({ type: 'Approval', projectId, id: approvalId })
          : encodeId({ type: 'Run', projectId, id: runId }),
    }),
    session: t.field({
      type: SessionRef,
      nullable: true,
      description: 'Its session.',
      resolve: (item, _args, { loaders }) => loaders.session.load(sessionOf(item)),
    }),
    run: t.field({
      type: RunRef,
      nullable: true,
      description: 'Its run.',
      resolve: (item, _args, { loaders }) => loaders.run.load({ projectId: item.projectId, id: item.runId }),
    }),
    approval: t.field({
      type: ApprovalRef,
      nullable: true,
      description: 'The ask.',
      resolve: ({ projectId, approvalId }, _args, { loaders }) =>
        approvalId ? loaders.approval.load({ projectId, id: approvalId }) : null,
    }),
    assignee: t.field({
      type: PrincipalRef,
      nullable: true,
      description: 'For whom it is.',
      resolve: (item, _args, { loaders }) =>
        item.assigneeId ? loaders.principal.load(item.assigneeId) : null,
    }),
    snoozedUntil: t.expose('snoozedUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when the open list leaves it out.',
    }),
    handledAt: t.expose('handledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was acknowledged or settled.',
    }),
    handledBy: t.field({
      type: PrincipalRef,
      nullable: true,
      description: 'By whom; null where a deadline or the end of the run settled it.',
      resolve: (item, _args, { loaders }) => (item.handledBy ? loaders.principal.load(item.handledBy) : null),
    }),
    version: t.exposeInt('version', { description: 'Raised by every change.' }),
    allowedActions: t.field({
      type: [AllowedActionRef],
      description:
        'What the caller may do with it now: the mutation, and each action as `updateInboxItem.<ACTION>`.',
      resolve: (item, _args, context) => allowedOn(context, item),
    }),
  }),
})

const InboxConnection = connectionType('Inbox', InboxItemRef)
builder.objectField(InboxConnection, 'totalCount', (t) =>
  t.int({
    nullable: true,
    description: 'Items in all, up to 1 000; null for more.',
    resolve: (page) => (page as unknown as { count(): Promise<number | null> }).count(),
  }),
)

/** What the caller sees of the inbox; refuses who sees nothing of a project. Null: nothing, of all projects. */
function sight(context: Context, projectIdArg: string | null | undefined): Sight | null {
  const viewer = viewerOf(context)
  const projectId = projectIdArg == null ? null : refOf('Project', projectIdArg).id
  const seen = sightOf(viewer, 'session.read', projectId)
  if (!seen && projectId !== null) throw authorize(viewer, 'session.read', { projectId }) ?? notFound()
  return seen
}

builder.queryFields((t) => ({
  inbox: t.field({
    type: InboxConnection,
    description:
      'What waits for you, newest first, in one project or in all that you can see. Without `states`: what is open, but for items that are snoozed. With `states`: everything in these states, snoozed or not. Capability: `session.read`.',
    args: {
      projectId: t.arg.id({ description: 'The project; all that you can see when absent.' }),
      kinds: t.arg({ type: [InboxKindRef], description: 'Only of these kinds.' }),
      states: t.arg({
        type: [InboxStateRef],
        description: 'In these states; open and not snoozed when absent.',
      }),
      ...forwardArgs,
    },
    complexity: pageCost,
    resolve: async (_root, args, context) => {
      const seen = sight(context, args.projectId)
      const request = pageRequest(args, isTimeKey)
      if (args.kinds?.length === 0) throw invalid('kinds', 'names no kind')
      if (args.states?.length === 0) throw invalid('states', 'names no state')
      const query = {
        sight: seen ?? { projects: [], sessions: [] },
        kinds: args.kinds ?? null,
        states: args.states ?? null,
      }
      const rows = await listInbox(context.app, query, request)
      return {
        ...connectionOf(rows, request, (row) => [row.since.toISOString(), row.id]),
        count: () => countInbox(context.app, query),
      }
    },
  }),
}))

const UpdateInboxItemSuccess = builder.objectRef<{ item: Ref }>('UpdateInboxItemSuccess').implement({
  description: 'The item is as asked.',
  fields: (t) => ({
    item: t.field({
      type: InboxItemRef,
      description: 'The item, read after the change.',
      resolve: ({ item }, _args, { loaders }) => found(loaders.inboxItem.clear(item).load(item)),
    }),
  }),
})

command('updateInboxItem', {
  description:
    'Acknowledges an item, opens it again, assigns it or puts it off. An open ask can only be answered (`resolveApproval`).',
  input: {
    itemId: input.id('InboxItem', 'The item.', true),
    action: input.enum(InboxActionRef, 'What to do.', true),
    assigneeId: input.id('Principal', 'For ASSIGN: who could answer there; nobody when absent.'),
    snoozeUntil: input.date(
      'For SNOOZE: until when, at most 30 days, before the deadline of an ask; awake at once when absent.',
    ),
    expectedVersion: input.int('The version that you saw; another one is CONFLICT. Unchecked when absent.', [
      1,
      2 ** 31 - 1,
    ]),
  },
  success: UpdateInboxItemSuccess,
  permission: {
    capability: 'approval.resolve',
    sight: 'session.read',
    scope: async ({ itemId }, context) => {
      const item = await context.loaders.inboxItem.load(itemId)
      return item ? scopeOf(item) : { projectId: itemId.projectId }
    },
  },
  run: async (call, { itemId, assigneeId, snoozeUntil, ...change }, { app }) => {
    if (assigneeId && change.action !== 'ASSIGN') throw invalid('assigneeId', 'belongs to ASSIGN')
    if (snoozeUntil && change.action !== 'SNOOZE') throw invalid('snoozeUntil', 'belongs to SNOOZE')
    await updateInboxItem(app, call, { itemId, assigneeId: assigneeId?.id, snoozeUntil, ...change })
    return { item: { projectId: itemId.projectId, id: itemId.id } }
  },
})

interface InboxChange {
  projectId: string | null
  open: number
}
const InboxChangeRef = builder.objectRef<InboxChange>('InboxChange').implement({
  description: 'The open items changed: which they are, or one of them.',
  fields: (t) => ({
    projectId: t.id({
      nullable: true,
      description: 'The project that is watched; null for all.',
      resolve: ({ projectId }) => projectId,
    }),
    open: t.exposeInt('open', { description: 'Open items, snoozed ones included.' }),
  }),
})

/** Watches the count for a caller; it follows what the caller may see, and ends when that is nothing any more. */
export function openInboxWatch(context: Context, projectIdArg: string | null | undefined): OpenCount {
  const viewer = viewerOf(context)
  const projectId = projectIdArg == null ? null : refOf('Project', projectIdArg).id
  const seen = sight(context, projectIdArg)
  if (!seen) permit(context, 'session.read', {})
  const count = context.app.inbox.watch(seen ?? { projects: [], sessions: [] })
  count.onEnd(
    context.app.openWatches.add({
      viewer,
      permitted: (now) => {
        const next = sightOf(now, 'session.read', projectId)
        if (next) count.look(next)
        return next !== null
      },
      revoke: () => count.end(),
    }),
  )
  return count
}

builder.subscriptionField('inboxChanged', (t) =>
  t.field({
    type: InboxChangeRef,
    description:
      'The number of open items, at once and whenever the open items change, in one project or in all that you can see. Ends when you lose the right. Capability: `session.read`.',
    args: { projectId: t.arg.id({ description: 'The project; all that you can see when absent.' }) },
    subscribe: (_root, args, context) => openInboxWatch(context, args.projectId),
    resolve: (open, args) => ({ projectId: args.projectId ?? null, open }),
  }),
)
