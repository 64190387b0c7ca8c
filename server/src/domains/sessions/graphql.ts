import { AllowedActionRef } from '../../graphql/allowed-action.ts'
import { builder, nodeKey, unspell } from '../../graphql/builder.ts'
import { connectionType, forwardArgs, ownPageCost, pageCost } from '../../graphql/connection.ts'
import { type Context, permit, viewerOf } from '../../graphql/context.ts'
import { input, inputObject, parse } from '../../graphql/fields.ts'
import { found, refOf } from '../../graphql/found.ts'
import {
  connectionOf,
  isNumberKey,
  isTimeKey,
  maxPage,
  pageRequest,
  readCursor,
  writeCursor,
} from '../../graphql/page.ts'
import type { NodeRef, Ref } from '../../platform/ids.ts'
import { invalid, Refusal } from '../../platform/refusal.ts'
import { PrincipalRef } from '../access/principals/graphql.ts'
import { allowedAction, allows, authorize, type Capability, sessionsWith } from '../access/rules.ts'
import { ProjectRef } from '../projects/graphql.ts'
import type { ThinkingLevel } from '../projects/rules.ts'
import { ThinkingLevelRef } from '../projects/thinking-level.ts'
import { listSessions, type MessageRow, type SessionRow } from './operations.ts'
import {
  decideSession,
  type SessionFacts,
  type SessionState,
  type SessionVerb,
  sessionStates,
} from './rules.ts'

export const SessionStateRef = builder.enumType('SessionState', {
  description: 'Whether a session takes turns.',
  values: sessionStates,
})

/** What a caller may see of a session or of anything in it. */
export const seesSession = (context: Context, ref: Ref) =>
  allows(viewerOf(context), 'session.read', { projectId: ref.projectId, sessionId: ref.id })

export async function sessionNode(ref: NodeRef | Ref, context: Context): Promise<SessionRow | null> {
  const session = { projectId: ref.projectId ?? '', id: ref.id }
  return seesSession(context, session) ? context.loaders.session.load(session) : null
}

export const SessionRef = builder.objectRef<SessionRow>('Session')
export const MessageRef = builder.objectRef<MessageRow>('Message')

const facts = (session: SessionRow): SessionFacts => ({ ...session, state: session.state as SessionState })

/** The verbs of a session that an owner sees, each with its capability. */
const verbs: [mutation: string, capability: Capability, verb: SessionVerb][] = [
  ['submitTurn', 'turn.submit', 'submit'],
  ['renameSession', 'session.rename', 'rename'],
  ['updateSessionSettings', 'session.settings', 'configure'],
  ['closeSession', 'session.close', 'closeAndCancel'],
  ['openSession', 'session.open', 'open'],
  ['deleteSession', 'session.delete', 'delete'],
]

/** What a verb would meet as things are now; null when nothing stands in its way. */
function obstacle(session: SessionRow, verb: SessionVerb, maxLiveRunsPerSession: number): Refusal | null {
  const change = decideSession(facts(session), verb)
  if (change instanceof Refusal) return change
  if (change.kind === 'keep') return new Refusal('CONFLICT', `The session is ${session.state} already.`)
  // Whether the project has a slot free may be another answer a moment later; a busy session is known.
  return verb === 'submit'
    ? admitSession({ liveRunsOfSession: session.liveRuns, maxLiveRunsPerSession })
    : null
}

async function allowedOn(context: Context, session: SessionRow) {
  const scope = { projectId: session.projectId, sessionId: session.id }
  const project = await found(context.loaders.project.load(session.projectId))
  const actions = verbs.map(([mutation, capability, verb]) =>
    allowedAction(
      mutation,
      authorize(viewerOf(context), capability, scope) ??
        obstacle(session, verb, project.maxLiveRunsPerSession),
    ),
  )
  const atAnyTime = (
    [
      ['exportSession', 'session.export'],
      ['createCheckpoint', 'session.fork'],
      ['forkSession', 'session.fork'],
      ['correctIntent', 'intent.correct'],
    ] as const
  ).map(([action, capability]) => allowedAction(action, authorize(viewerOf(context), capability, scope)))
  const noTask =
    (session.intentHeadId ?? session.forkRevisionId) === null
      ? new Refusal('CONFLICT', 'The session has no task yet.')
      : null
  const ofTask = [
    allowedAction('revertIntent', authorize(viewerOf(context), 'intent.correct', scope) ?? noTask),
    allowedAction(
      'handoffProtocol',
      authorize(viewerOf(context), 'protocol.handoff', scope) ?? (session.liveRuns > 0 ? null : noTask),
    ),
  ]
  return [...actions, ...atAnyTime, ...ofTask]
}

builder.node(SessionRef, {
  description: 'One conversation: what it is about, what runs in it, and everything that happened, in order.',
  id: { resolve: (session) => nodeKey(session) },
  loadWithoutCache: (key, context) => found(sessionNode(unspell('Session', key), context)),
  fields: (t) => ({
    project: t.field({
      type: ProjectRef,
      description: 'Its project.',
      resolve: (s, _, { loaders }) => found(loaders.project.load(s.projectId)),
    }),
    title: t.exposeString('title', { description: 'At most 120 characters.' }),
    summary: t.exposeString('summary', {
      nullable: true,
      description: 'A short account of it, where one was made.',
    }),
    state: t.field({
      type: SessionStateRef,
      description: 'Whether it takes turns.',
      resolve: (s) => s.state as SessionState,
    }),
    generation: t.exposeInt('generation', {
      description: 'Rises at each open and close; fences commands meant for an earlier one.',
    }),
    model: t.exposeString('model', {
      nullable: true,
      description: 'The model of later turns; null leaves it to the runtime.',
    }),
    thinkingLevel: t.field({
      type: ThinkingLevelRef,
      nullable: true,
      description: 'The thinking level of later turns; null leaves it to the runtime.',
      resolve: (s) => s.thinkingLevel as ThinkingLevel | null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    lastActivityAt: t.expose('lastActivityAt', {
      type: 'DateTime',
      description: 'When its last event was written.',
    }),
    closedAt: t.expose('closedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was closed, while it is.',
    }),
    runCount: t.exposeInt('runCount', { description: 'Runs so far; also the number of the newest.' }),
    messageCount: t.exposeInt('messageCount', { description: 'Messages of the transcript.' }),
    eventCount: t.exposeInt('lastSequence', { description: 'The sequence of the latest event.' }),
    openApprovals: t.exposeInt('openApprovals', { description: 'Asks that wait for an answer.' }),
    liveRuns: t.exposeInt('liveRuns', { description: 'Runs that have not ended.' }),
    messages: t.connection(
      {
        type: MessageRef,
        description:
          'The transcript, oldest first, from either end: `first`/`after` or `last`/`before`, 1 to 100.',
        complexity: ownPageCost,
        resolve: async (session, args, context) => {
          const { rows, more } = await readMessages(context, session, args)
          const edges = rows.map((node) => ({ cursor: writeCursor([node.sequence]), node }))
          return {
            edges,
            pageInfo: {
              startCursor: edges[0]?.cursor ?? null,
              endCursor: edges.at(-1)?.cursor ?? null,
              hasNextPage: args.last == null ? more : args.before != null,
              hasPreviousPage: args.last == null ? args.after != null : more,
            },
            totalCount: session.messageCount,
          }
        },
      },
      {
        name: 'MessageConnection',
        description: 'A page of a transcript.',
        fields: (c) => ({
          totalCount: c.int({
            nullable: true,
            description: 'Messages in all.',
            resolve: (page) => (page as unknown as { totalCount: number }).totalCount,
          }),
        }),
      },
      { name: 'MessageEdge', description: 'One message of a transcript, with its cursor.' },
    ),
    allowedActions: t.field({
      type: [AllowedActionRef],
      description: 'What the caller may do with it now.',
      resolve: (session, _args, context) => allowedOn(context, session),
    }),
  }),
})

interface BothWays {
  first?: number | null | undefined
  after?: string | null | undefined
  last?: number | null | undefined
  before?: string | null | undefined
}
async function readMessages(context: Context, session: SessionRow, args: BothWays) {
  const backwards = args.last != null
  const take = (backwards ? args.last : args.first) ?? 20
  if (take < 1 || take > maxPage) throw invalid(backwards ? 'last' : 'first', `must be 1 to ${maxPage}`)
  if (backwards && args.first != null) throw invalid('first', 'give either `first` or `last`')
  const after = args.after == null ? undefined : readCursor(args.after, isNumberKey, 'after')[0]
  const before = args.before == null ? undefined : readCursor(args.before, isNumberKey, 'before')[0]
  return context.loaders.messagePage.load({
    session: { projectId: session.projectId, id: session.id },
    take,
    after,
    before,
    newestFirst: backwards,
  })
}

const authorities = ['OWNER', 'MEMBER', 'AGENT', 'CHANNEL', 'SYSTEM'] as const
const MessageAuthority = builder.enumType('MessageAuthority', {
  description:
    'Whose word a message is: an owner’s, another member’s, an agent’s, a channel’s, or the server’s own.',
  values: authorities,
})

builder.node(MessageRef, {
  description:
    'One message of a transcript. What an agent or a channel wrote is untrusted text. Never changes.',
  id: { resolve: (message) => nodeKey(message) },
  loadWithoutCache: (key, context) => found(messageNode(unspell('Message', key), context)),
  fields: (t) => ({
    session: t.field({
      type: SessionRef,
      description: 'Its session.',
      resolve: (m, _, { loaders }) =>
        found(loaders.session.load({ projectId: m.projectId, id: m.sessionId })),
    }),
    author: t.field({
      type: PrincipalRef,
      description: 'Who wrote it.',
      resolve: (m, _, { loaders }) => found(loaders.principal.load(m.authorId)),
    }),
    authority: t.field({
      type: MessageAuthority,
      description: 'Whose word it is.',
      resolve: (m) => m.authority as (typeof authorities)[number],
    }),
    answers: t.field({
      type: MessageRef,
      nullable: true,
      description: 'The message that it answers.',
      resolve: (m, _, { loaders }) =>
        m.answersId ? loaders.message.load({ projectId: m.projectId, id: m.answersId }) : null,
    }),
    text: t.exposeString('text', { description: 'What was written.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    sequence: t.exposeInt('sequence', { description: 'The sequence of its event in the journal.' }),
  }),
})

async function messageNode(ref: NodeRef, context: Context): Promise<MessageRow | null> {
  const message = await context.loaders.message.load({ projectId: ref.projectId ?? '', id: ref.id })
  return message && seesSession(context, { projectId: message.projectId, id: message.sessionId })
    ? message
    : null
}

const SessionOrder = builder.enumType('SessionOrder', {
  description: 'How a list of sessions is sorted.',
  values: ['LAST_ACTIVITY_DESC', 'LAST_ACTIVITY_ASC', 'CREATED_DESC', 'CREATED_ASC'] as const,
})

/** The run states, for filters; the runs domain declares the enum. */
import { admitSession } from '../runs/rules.ts'
import { RunStateRef } from '../runs/run-state.ts'

const SessionFilter = inputObject('SessionFilter', 'Which sessions of a list. Fields are joined by AND.', {
  states: input.list(input.enum(SessionStateRef, '', true), SessionStateRef, 'One of these states.', [1, 2]),
  text: input.text('Part of the title or summary, any case.', { max: 120 }),
  model: input.text('This model exactly.', { max: 120 }),
  protocol: input.text('Under this protocol.', { max: 120 }),
  runStates: input.list(
    input.enum(RunStateRef, '', true),
    RunStateRef,
    'Whose newest run is in one of these states.',
    [1, 7],
  ),
  pendingApproval: input.boolean('Whether an ask waits for an answer.'),
  activeAfter: input.date('Last active at or after.'),
  activeBefore: input.date('Last active before.'),
})

export const SessionConnection = connectionType('Session', SessionRef)
builder.objectField(SessionConnection, 'totalCount', (t) =>
  t.int({
    nullable: true,
    description: 'Sessions in all, when no filter is set.',
    resolve: (page) => (page as unknown as { totalCount?: number | null }).totalCount ?? null,
  }),
)

builder.queryFields((t) => ({
  session: t.field({
    type: SessionRef,
    nullable: true,
    description: 'One session.',
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_root, { id }, context) => found(sessionNode(refOf('Session', id), context)),
  }),
  sessions: t.field({
    type: SessionConnection,
    description: 'The sessions of a project that you can see.',
    args: {
      projectId: t.arg.id({ required: true, description: 'The project.' }),
      filter: t.arg({ type: SessionFilter.ref as never, description: 'Which ones.' }),
      orderBy: t.arg({
        type: SessionOrder,
        description: 'How sorted; the most recently active first when absent.',
      }),
      ...forwardArgs,
    },
    complexity: pageCost,
    resolve: async (_root, args, context) => {
      const project = refOf('Project', args.projectId)
      const visible = sessionsWith(viewerOf(context), 'session.read', project.id)
      if (visible !== 'all' && visible.length === 0)
        permit(context, 'session.read', { projectId: project.id })
      const request = pageRequest(args, isTimeKey)
      const filter = args.filter ? parse(SessionFilter.schema, args.filter) : {}
      const order = args.orderBy ?? 'LAST_ACTIVITY_DESC'
      const rows = await listSessions(context.app.db, project.id, visible, filter, order, request)
      const key = order.startsWith('CREATED') ? 'createdAt' : 'lastActivityAt'
      const load =
        args.filter || visible !== 'all' ? null : await context.loaders.projectLoad.load(project.id)
      return {
        ...connectionOf(rows, request, (row) => [row[key].toISOString(), row.id]),
        totalCount: load?.sessions ?? null,
      }
    },
  }),
}))
