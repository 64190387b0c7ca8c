import { builder, nodeKey, unspell } from '../../../graphql/builder.ts'
import { pageRead } from '../../../graphql/connection.ts'
import { type Context, permit, viewerOf } from '../../../graphql/context.ts'
import { input, inputObject, parse } from '../../../graphql/fields.ts'
import { found, refOf } from '../../../graphql/found.ts'
import { encodeId, type NodeRef, type Ref } from '../../../platform/ids.ts'
import { sessionEventTypes } from '../../../platform/journal.ts'
import { type EndReason, iterate } from '../../../platform/watch.ts'
import { allows } from '../../access/rules.ts'
import { RunRef } from '../../runs/graphql.ts'
import { SessionRef } from '../graphql.ts'
import { hasDetail, SessionEventDetail } from './details.ts'
import {
  type EventFilter,
  type EventPage,
  type EventRow,
  pageLimits,
  queueLimits,
  readEvent,
  readEvents,
  readEventsBefore,
  type SessionWatch,
  watchSession,
} from './operations.ts'

export const SessionEventTypeRef = builder.enumType('SessionEventType', {
  description: 'What can happen in a session. The catalogue only grows.',
  values: sessionEventTypes,
})

export const SessionEventRef = builder.objectRef<EventRow>('SessionEvent')

const eventScope = (ref: Ref) => ({ projectId: ref.projectId, sessionId: ref.id })

builder.node(SessionEventRef, {
  description:
    'One event of a session’s journal. Append-only; written in the transaction of the state that it tells of.',
  id: { resolve: (e) => nodeKey({ projectId: e.projectId, id: e.sessionId, position: e.sequence }) },
  loadWithoutCache: (key, context) => found(eventNode(unspell('SessionEvent', key), context)),
  isTypeOf: (value) =>
    typeof value === 'object' &&
    value !== null &&
    'sequence' in value &&
    'payload' in value &&
    'runSequence' in value,
  fields: (t) => ({
    sequence: t.exposeInt('sequence', { description: 'From 1, dense, in the order of commits.' }),
    runSequence: t.exposeInt('runSequence', {
      nullable: true,
      description: 'Its number among the events of its run.',
    }),
    run: t.field({
      type: RunRef,
      nullable: true,
      description: 'The run that it belongs to.',
      resolve: (e, _, { loaders }) =>
        e.runId ? loaders.run.load({ projectId: e.projectId, id: e.runId }) : null,
    }),
    runId: t.id({
      nullable: true,
      description: 'The id of that run, without loading it.',
      resolve: (e) => (e.runId ? runIdOf(e.projectId, e.runId) : null),
    }),
    type: t.field({ type: SessionEventTypeRef, description: 'What happened.', resolve: (e) => e.type }),
    payload: t.field({
      type: 'JSON',
      description: 'What was recorded, whole. Texts of agents and channels are untrusted.',
      resolve: (e) => e.payload,
    }),
    detail: t.field({
      type: SessionEventDetail,
      nullable: true,
      description: 'The same, typed, for the types that have a detail.',
      resolve: (e) => (hasDetail(e.type) ? (e as never) : null),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
  }),
})

const runIdOf = (projectId: string, id: string) => encodeId({ type: 'Run', projectId, id })

async function eventNode(ref: NodeRef, context: Context): Promise<EventRow | null> {
  const session = { projectId: ref.projectId ?? '', id: ref.id }
  if (!allows(viewerOf(context), 'event.read', eventScope(session))) return null
  return readEvent(context.app, session, ref.position ?? 0)
}

export const SessionEventFilter = inputObject(
  'SessionEventFilter',
  'Which events: AND across the fields, OR within one.',
  {
    types: input.list(
      input.enum(SessionEventTypeRef, '', true),
      SessionEventTypeRef,
      'Of these types.',
      [0, 60],
    ),
    runIds: input.list(input.id('Run', '', true), 'ID', 'Of these runs.', [0, 100]),
  },
)

function filterOf(session: Ref, raw: unknown): EventFilter {
  if (raw == null) return {}
  const { types, runIds } = parse(SessionEventFilter.schema, raw)
  // A run of another project can't be told from one that is not there: it simply matches nothing.
  return { types, runIds: runIds?.filter((run) => run.projectId === session.projectId).map((run) => run.id) }
}

const EventPageRef = builder.objectRef<EventPage>('EventPage').implement({
  description: 'A stretch of a journal.',
  fields: (t) => ({
    events: t.field({ type: [SessionEventRef], description: 'Ascending.', resolve: (page) => page.events }),
    cursor: t.exposeInt('cursor', {
      description: 'Where to go on. It always moves past what was looked at, hits or not.',
    }),
    scannedThrough: t.exposeInt('scannedThrough', { description: 'How far was looked.' }),
    hasMore: t.exposeBoolean('hasMore', { description: 'Whether there are events in that direction.' }),
    latest: t.exposeInt('latest', { description: 'The latest sequence when the page was read.' }),
    earliest: t.exposeInt('earliest', { description: 'Where the kept journal begins: the retention floor.' }),
  }),
})

const permitted = (context: Context, session: Ref) =>
  permit(context, 'event.read', eventScope(session), 'session.read')
const scanLimit = {
  description: `How many positions to look at, at most: 1 to ${pageLimits.scan}, the default.`,
}

builder.objectFields(SessionRef, (t) => ({
  events: t.field({
    type: EventPageRef,
    description:
      'The journal after a cursor. What it costs depends on the page, not on the history. Capability: `event.read`.',
    args: {
      after: t.arg.int({
        defaultValue: 0,
        description: 'The sequence after which the page begins; 0 for the start.',
      }),
      first: t.arg.int({ defaultValue: 100, description: `How many: 1 to ${pageLimits.first}.` }),
      filter: t.arg({ type: SessionEventFilter.ref as never, description: 'Which events.' }),
      scanLimit: t.arg.int(scanLimit),
    },
    complexity: (args) => ({
      field: pageRead,
      multiplier: Math.min(Math.max(args.first ?? 100, 1), pageLimits.first),
    }),
    resolve: (session, args, context) => {
      permitted(context, session)
      return readEvents(context.app, session, {
        after: args.after ?? 0,
        first: args.first ?? 100,
        filter: filterOf(session, args.filter),
        scanLimit: args.scanLimit,
      })
    },
  }),
  eventsBefore: t.field({
    type: EventPageRef,
    description:
      'The journal read from its other end: the last events before a position. Capability: `event.read`.',
    args: {
      before: t.arg.int({
        description: 'The sequence before which the page ends; absent: the end of the journal.',
      }),
      last: t.arg.int({ defaultValue: 100, description: `How many: 1 to ${pageLimits.first}.` }),
      filter: t.arg({ type: SessionEventFilter.ref as never, description: 'Which events.' }),
      scanLimit: t.arg.int(scanLimit),
    },
    complexity: (args) => ({
      field: pageRead,
      multiplier: Math.min(Math.max(args.last ?? 100, 1), pageLimits.first),
    }),
    resolve: (session, args, context) => {
      permitted(context, session)
      return readEventsBefore(context.app, session, {
        before: args.before,
        last: args.last ?? 100,
        filter: filterOf(session, args.filter),
        scanLimit: args.scanLimit,
      })
    },
  }),
  event: t.field({
    type: SessionEventRef,
    nullable: true,
    description: 'One event by its sequence. Capability: `event.read`.',
    args: { sequence: t.arg.int({ required: true, description: 'Its sequence.' }) },
    resolve: (session, { sequence }, context) => {
      permitted(context, session)
      return found(readEvent(context.app, session, sequence))
    },
  }),
}))

// --- Watching ---------------------------------------------------------------------------------------------------------

export const endReasons = [
  'REPLAY_GAP',
  'OVERFLOW',
  'SESSION_CLOSED',
  'SESSION_DELETED',
  'REVOKED',
  'SHUTTING_DOWN',
] as const satisfies EndReason[]
export const WatchEndReason = builder.enumType('WatchEndReason', {
  description: 'Why a watch ended.',
  values: {
    REPLAY_GAP: { description: 'The cursor is older than what is kept; `earliest` says where that begins.' },
    OVERFLOW: {
      description: 'The reader was too slow. Nothing after this was delivered; resume after `resumeAfter`.',
    },
    SESSION_CLOSED: { description: 'The session was closed; everything before that was delivered.' },
    SESSION_DELETED: { description: 'The session is gone.' },
    REVOKED: { description: 'The token or grant was withdrawn.' },
    SHUTTING_DOWN: { description: 'The server is going; resume at once, elsewhere or here.' },
  } as Record<EndReason, { description: string }>,
})

export interface WatchEndShape {
  reason: EndReason
  resumeAfter: number
  earliest: number | null
}
const WatchEnd = builder.objectRef<WatchEndShape>('WatchEnd').implement({
  description: 'The last item of every watch.',
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'resumeAfter' in value,
  fields: (t) => ({
    reason: t.field({ type: WatchEndReason, description: 'Why it ended.', resolve: (end) => end.reason }),
    resumeAfter: t.exposeInt('resumeAfter', {
      description: 'The cursor from which nothing is missing and nothing comes twice.',
    }),
    earliest: t.exposeInt('earliest', {
      nullable: true,
      description: 'For REPLAY_GAP: where the kept journal begins.',
    }),
  }),
})

const SessionWatchItem = builder.unionType('SessionWatchItem', {
  description: 'An event, or the end of the watch.',
  types: [SessionEventRef, WatchEnd],
  resolveType: (value) => ('resumeAfter' in value ? 'WatchEnd' : 'SessionEvent'),
})

export interface SessionEventsArgs {
  sessionId: string
  after?: number | null
  filter?: unknown
  queueSize?: number | null
}

/** Opens a watch for a caller; it ends by itself when the caller loses the right. */
export async function openSessionWatch(context: Context, args: SessionEventsArgs): Promise<SessionWatch> {
  const ref = refOf('Session', args.sessionId)
  const session = { projectId: ref.projectId ?? '', id: ref.id }
  const viewer = permitted(context, session)
  const watch = await watchSession(context.app, context.app.sessions, session, {
    after: args.after,
    queueSize: args.queueSize,
    filter: filterOf(session, args.filter),
  })
  const forget = context.app.openWatches.add({
    viewer,
    permitted: (now) => allows(now, 'event.read', eventScope(session)),
    revoke: () => watch.end('REVOKED'),
  })
  watch.onLeave(forget)
  return watch
}

builder.subscriptionField('sessionEvents', (t) =>
  t.field({
    type: SessionWatchItem,
    description:
      'A session’s events, replayed after the cursor and then live, through one ordered path: no gap, no repeat. `after` omitted: live only; 0: everything; below 0 or beyond the latest: INVALID_CURSOR. Ends with exactly one WatchEnd. Capability: `event.read`.',
    args: {
      sessionId: t.arg.id({ required: true, description: 'The session.' }),
      after: t.arg.int({ description: 'The sequence after which the watch begins.' }),
      filter: t.arg({ type: SessionEventFilter.ref as never, description: 'Which events.' }),
      queueSize: t.arg.int({
        description: `How many items may wait for a slow reader: 1 to ${queueLimits.most}, default ${queueLimits.default}.`,
      }),
    },
    subscribe: async (_root: unknown, args: SessionEventsArgs, context: Context) =>
      iterate(await openSessionWatch(context, args), (taken) => taken),
    resolve: (taken: { item?: unknown; end?: unknown }) => (taken.item ?? taken.end) as never,
  } as never),
)
