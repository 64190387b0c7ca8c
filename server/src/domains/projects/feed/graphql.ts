import { builder, nodeKey, unspell } from '../../../graphql/builder.ts'
import { pageRead } from '../../../graphql/connection.ts'
import { type Context, permit, viewerOf } from '../../../graphql/context.ts'
import { input, inputObject, parse } from '../../../graphql/fields.ts'
import { found, refOf } from '../../../graphql/found.ts'
import { encodeId, type NodeRef } from '../../../platform/ids.ts'
import { projectEventTypes } from '../../../platform/journal.ts'
import { notFound } from '../../../platform/refusal.ts'
import type { EndReason } from '../../../platform/watch.ts'
import { iterate } from '../../../platform/watch.ts'
import { allows, sessionsWith } from '../../access/rules.ts'
import { ApprovalRef } from '../../runs/approvals/graphql.ts'
import { RunRef } from '../../runs/graphql.ts'
import { SessionRef } from '../../sessions/graphql.ts'
import { WatchEndReason } from '../../sessions/journal/graphql.ts'
import { ProjectRef } from '../graphql.ts'
import {
  type FeedFilter,
  loadProjectEvent,
  type ProjectEventRow,
  positionOf,
  readFeed,
  watchProject,
} from './operations.ts'

const ProjectEventTypeRef = builder.enumType('ProjectEventType', {
  description: 'What can happen in a project. The catalogue only grows.',
  values: projectEventTypes,
})
type Shown = ProjectEventRow & { cursor: string }
const ProjectEventRef = builder.objectRef<Shown>('ProjectEvent')

builder.node(ProjectEventRef, {
  description: 'One event of a project’s feed.',
  id: { resolve: (e) => nodeKey({ projectId: e.projectId, id: e.projectId, position: Number(e.position) }) },
  loadWithoutCache: (key, context) => found(eventNode(unspell('ProjectEvent', key), context)),
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'xid' in value,
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Watch or read on after it.' }),
    type: t.field({ type: ProjectEventTypeRef, description: 'What happened.', resolve: (e) => e.type }),
    session: t.field({
      type: SessionRef,
      nullable: true,
      description: 'The session that it is of, while that exists.',
      resolve: (e, _, { loaders }) =>
        e.sessionId ? loaders.session.load({ projectId: e.projectId, id: e.sessionId }) : null,
    }),
    sessionId: t.id({
      nullable: true,
      description: 'The id of that session, without loading it.',
      resolve: (e) =>
        e.sessionId ? encodeId({ type: 'Session', projectId: e.projectId, id: e.sessionId }) : null,
    }),
    run: t.field({
      type: RunRef,
      nullable: true,
      description: 'The run that it is of.',
      resolve: (e, _, { loaders }) =>
        e.runId ? loaders.run.load({ projectId: e.projectId, id: e.runId }) : null,
    }),
    approval: t.field({
      type: ApprovalRef,
      nullable: true,
      description: 'The ask that it is about.',
      resolve: (e, _, { loaders }) =>
        e.subjectId && e.type.startsWith('APPROVAL_')
          ? loaders.approval.load({ projectId: e.projectId, id: e.subjectId })
          : null,
    }),
    payload: t.field({ type: 'JSON', description: 'What was recorded.', resolve: (e) => e.payload }),
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
  }),
})

async function eventNode(ref: NodeRef, context: Context): Promise<Shown | null> {
  const projectId = ref.projectId ?? ''
  const visible = sessionsWith(viewerOf(context), 'event.read', projectId)
  if (ref.id !== projectId || (visible !== 'all' && visible.length === 0)) return null
  const found = await loadProjectEvent(context.app, projectId, BigInt(ref.position ?? 0))
  return found &&
    (visible === 'all' || (found.event.sessionId !== null && visible.includes(found.event.sessionId)))
    ? { ...found.event, cursor: found.cursor }
    : null
}

const ProjectEventFilter = inputObject(
  'ProjectEventFilter',
  'Which events: AND across the fields, OR within one.',
  {
    types: input.list(
      input.enum(ProjectEventTypeRef, '', true),
      ProjectEventTypeRef,
      'Of these types.',
      [0, 60],
    ),
    sessionIds: input.list(input.id('Session', '', true), 'ID', 'Of these sessions.', [0, 100]),
  },
)
function filterOf(projectId: string, raw: unknown): FeedFilter {
  if (raw == null) return {}
  const { types, sessionIds } = parse(ProjectEventFilter.schema, raw)
  return { types, sessionIds: sessionIds?.filter((ref) => ref.projectId === projectId).map((ref) => ref.id) }
}

/** The sessions whose events the caller may read; refuses who may read none. */
function readable(context: Context, projectId: string): 'all' | string[] {
  const visible = sessionsWith(viewerOf(context), 'event.read', projectId)
  if (visible !== 'all' && visible.length === 0) permit(context, 'event.read', { projectId })
  return visible
}

const ProjectEventPage = builder
  .objectRef<{ events: Shown[]; cursor: string; hasMore: boolean }>('ProjectEventPage')
  .implement({
    description: 'A stretch of a project’s feed.',
    fields: (t) => ({
      events: t.expose('events', { type: [ProjectEventRef], description: 'In the global order.' }),
      cursor: t.exposeString('cursor', { description: 'Where to go on.' }),
      hasMore: t.exposeBoolean('hasMore', { description: 'Whether there is more by now.' }),
    }),
  })
builder.objectField(ProjectRef, 'events', (t) =>
  t.field({
    type: ProjectEventPage,
    description:
      'The feed after a cursor, in an order in which a late commit is never skipped. Capability: `event.read`.',
    args: {
      after: t.arg.string({
        description: 'The cursor after which the page begins; absent: from where the feed is kept.',
      }),
      first: t.arg.int({ description: 'How many: 1 to 500, 100 when absent.' }),
      filter: t.arg({ type: ProjectEventFilter.ref as never, description: 'Which events.' }),
    },
    complexity: (args) => ({ field: pageRead, multiplier: Math.min(Math.max(args.first ?? 100, 1), 500) }),
    resolve: async (project, args, context) => {
      const visible = readable(context, project.id)
      const asked = filterOf(project.id, args.filter)
      const filter =
        visible === 'all'
          ? asked
          : { ...asked, sessionIds: asked.sessionIds?.filter((id) => visible.includes(id)) ?? visible }
      const page = await readFeed(context.app, project.id, { after: args.after, first: args.first, filter })
      return {
        ...page,
        events: page.events.map((event) => ({ ...event, cursor: page.cursorText(positionOf(event)) })),
      }
    },
  }),
)

interface EndShape {
  reason: EndReason
  resumeAfter: string
  earliest: string | null
}
const ProjectWatchEnd = builder.objectRef<EndShape>('ProjectWatchEnd').implement({
  description: 'The last item of every watch.',
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'resumeAfter' in value,
  fields: (t) => ({
    reason: t.field({ type: WatchEndReason, description: 'Why it ended.', resolve: (end) => end.reason }),
    resumeAfter: t.exposeString('resumeAfter', {
      description: 'The cursor from which nothing is missing and nothing comes twice.',
    }),
    earliest: t.exposeString('earliest', {
      nullable: true,
      description: 'For REPLAY_GAP: where the kept feed begins.',
    }),
  }),
})
const ProjectWatchItem = builder.unionType('ProjectWatchItem', {
  description: 'An event, or the end of the watch.',
  types: [ProjectEventRef, ProjectWatchEnd],
  resolveType: (value) => ('resumeAfter' in value ? 'ProjectWatchEnd' : 'ProjectEvent'),
})

interface WatchArgs {
  projectId: string
  after?: string | null
  filter?: unknown
}
builder.subscriptionField('projectEvents', (t) =>
  t.field({
    type: ProjectWatchItem,
    description:
      'Everything that happens in a project, replayed after the cursor and then live; `after` omitted: live only. The same contract as `sessionEvents`, in a global order in which a commit that finishes late is never skipped. Capability: `event.read`.',
    args: {
      projectId: t.arg.id({ required: true, description: 'The project.' }),
      after: t.arg.string({ description: 'The cursor after which the watch begins.' }),
      filter: t.arg({ type: ProjectEventFilter.ref as never, description: 'Which events.' }),
    },
    subscribe: async (_root: unknown, args: WatchArgs, context: Context) => {
      const { id: projectId } = refOf('Project', args.projectId)
      const visible = readable(context, projectId)
      if (!(await context.loaders.project.load(projectId))) throw notFound()
      const { watch, cursorText } = await watchProject(context.app, context.app.projects, projectId, {
        after: context.eventIds?.after ?? args.after,
        filter: filterOf(projectId, args.filter),
        visible,
      })
      const forget = context.app.openWatches.add({
        viewer: viewerOf(context),
        permitted: (now) =>
          visible === 'all'
            ? allows(now, 'event.read', { projectId })
            : visible.every((sessionId) => allows(now, 'event.read', { projectId, sessionId })),
        revoke: () => watch.end('REVOKED'),
      })
      watch.onLeave(forget)
      return shown(watch, cursorText)
    },
    resolve: (item: { cursor: string } | EndShape, _args: unknown, { eventIds }: Context) => {
      if (eventIds) eventIds.latest = 'cursor' in item ? item.cursor : item.resumeAfter
      return item as never
    },
  } as never),
)

const shown = (
  watch: Awaited<ReturnType<typeof watchProject>>['watch'],
  cursorText: (at: ReturnType<typeof positionOf>) => string,
) =>
  iterate(watch, (taken) => {
    if ('item' in taken) return { ...taken.item, cursor: cursorText(positionOf(taken.item)) }
    const { reason, resumeAfter, earliest } = taken.end
    return { reason, resumeAfter: cursorText(resumeAfter), earliest: earliest && cursorText(earliest) }
  })
