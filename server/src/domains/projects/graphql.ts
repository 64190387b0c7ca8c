import './saved-views/graphql.ts'
import { AllowedActionRef } from '../../graphql/allowed-action.ts'
import { builder, nodeKey, unspell } from '../../graphql/builder.ts'
import { command } from '../../graphql/command.ts'
import { connectionType, forwardArgs, pageCost } from '../../graphql/connection.ts'
import { type Context, permit, viewerOf } from '../../graphql/context.ts'
import { input, inputObject } from '../../graphql/fields.ts'
import { found, refOf } from '../../graphql/found.ts'
import { connectionOf, isTimeKey, pageRequest } from '../../graphql/page.ts'
import { invalid } from '../../platform/refusal.ts'
import { allowedAction, authorize, seesProject } from '../access/rules.ts'
import { RuntimeRef } from '../runs/graphql.ts'
import {
  createProject,
  findProject,
  limitsOf,
  listProjects,
  type ProjectLoadRow,
  type ProjectRow,
  planSettingsOf,
  updateProject,
  updateProjectLimits,
} from './operations.ts'
import {
  type LimitName,
  type Limits,
  limitNames,
  limits,
  type McpAllow,
  maxNameLength,
  maxSlugLength,
  type RouteCorrection,
  routeCorrections,
  slugPattern,
  type ThinkingLevel,
} from './rules.ts'
import { ThinkingLevelRef } from './thinking-level.ts'

const limitsField = (name: LimitName) =>
  `${limits[name].description} ${limits[name].min} to ${limits[name].max}, ${limits[name].default} at first.`

const ProjectLimitsRef = builder.objectRef<Limits>('ProjectLimits').implement({
  description: 'What a project may use.',
  fields: (t) =>
    Object.fromEntries(
      limitNames.map((name) => [name, t.exposeInt(name, { description: limitsField(name) })]),
    ) as Record<LimitName, ReturnType<typeof t.exposeInt>>,
})

const RouteCorrectionRef = builder.enumType('RouteCorrection', {
  description: 'Who may undo the route of a run: its agent, its agent once an owner confirms, or nobody.',
  values: routeCorrections,
})
const McpAllowRef = builder.objectRef<McpAllow>('McpAllow').implement({
  description: 'Of an MCP server, the tools that agents are shown.',
  fields: (t) => ({
    server: t.exposeString('server', { description: 'The server.' }),
    tools: t.exposeStringList('tools', { description: 'Its tools, by name or `prefix*`.' }),
  }),
})

const ProjectCountsRef = builder.objectRef<ProjectLoadRow>('ProjectCounts').implement({
  description: 'What there is in a project now.',
  fields: (t) => ({
    sessions: t.exposeInt('sessions', { description: 'Sessions, open and closed.' }),
    openSessions: t.exposeInt('openSessions', { description: 'Open sessions.' }),
    liveRuns: t.exposeInt('liveRuns', { description: 'Runs that have not ended.' }),
    openApprovals: t.exposeInt('openApprovals', { description: 'Asks that wait for an answer.' }),
    inboxOpen: t.exposeInt('inboxOpen', { description: 'Open items of the inbox.' }),
  }),
})

/** The project that an id names, for a caller that can see it; else null. */
export async function projectNode(ref: { id: string }, context: Context): Promise<ProjectRow | null> {
  return seesProject(viewerOf(context), ref.id) ? context.loaders.project.load(ref.id) : null
}

export const ProjectRef = builder.objectRef<ProjectRow>('Project')

builder.node(ProjectRef, {
  description: 'The isolation boundary: no project sees anything of another.',
  id: { resolve: ({ id }) => nodeKey({ id }) },
  loadWithoutCache: (key, context) => found(projectNode(unspell('Project', key), context)),
  fields: (t) => ({
    slug: t.exposeString('slug', { description: 'Its address in URLs.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    version: t.exposeInt('version', { description: 'Raised by every change of the project itself.' }),
    defaultModel: t.exposeString('defaultModel', {
      nullable: true,
      description: 'The model of new sessions; null leaves it to the runtime.',
    }),
    defaultThinkingLevel: t.field({
      type: ThinkingLevelRef,
      nullable: true,
      description: 'The thinking level of new sessions; null leaves it to the runtime.',
      resolve: (project) => project.defaultThinkingLevel as ThinkingLevel | null,
    }),
    routeCorrection: t.field({
      type: RouteCorrectionRef,
      description: 'Who may undo the route of a run.',
      resolve: (project) => project.routeCorrection as RouteCorrection,
    }),
    skillDeny: t.exposeStringList('skillDeny', { description: 'Skills that no agent is shown.' }),
    skillAllow: t.exposeStringList('skillAllow', {
      description: 'The only skills that agents are shown; all when it names none.',
    }),
    mcpAllow: t.field({
      type: [McpAllowRef],
      description: 'Of MCP servers, the only tools that agents are shown; of others all.',
      resolve: (project) => planSettingsOf(project).mcpAllow,
    }),
    allowedProtocols: t.stringList({
      nullable: true,
      description: 'The ids of the protocols that it allows; null: all.',
      resolve: ({ allowedProtocols }) => (allowedProtocols.length === 0 ? null : allowedProtocols),
    }),
    limits: t.field({
      type: ProjectLimitsRef,
      description: 'What it may use. Capability: `project.read`.',
      resolve: (project, _args, context) => {
        permit(context, 'project.read', { projectId: project.id })
        return limitsOf(project)
      },
    }),
    counts: t.field({
      type: ProjectCountsRef,
      description: 'What there is in it now. Capability: `project.read`.',
      resolve: (project, _args, context) => {
        permit(context, 'project.read', { projectId: project.id })
        return found(context.loaders.projectLoad.load(project.id))
      },
    }),
    runtimes: t.field({
      type: [RuntimeRef],
      description: 'The runtimes that registered in it. Capability: `project.read`.',
      resolve: (project, _args, context) => {
        permit(context, 'project.read', { projectId: project.id })
        return context.loaders.runtimesOfProject.load(project.id)
      },
    }),
    allowedActions: t.field({
      type: [AllowedActionRef],
      description: 'What the caller may do with it now.',
      resolve: (project, _args, context) => {
        const may = (
          action: string,
          capability: 'project.settings' | 'session.create' | 'runtime.register',
        ) => allowedAction(action, authorize(viewerOf(context), capability, { projectId: project.id }))
        return [
          may('updateProject', 'project.settings'),
          may('updateProjectLimits', 'project.settings'),
          may('createSession', 'session.create'),
          may('registerRuntime', 'runtime.register'),
        ]
      },
    }),
  }),
})

const ProjectConnection = connectionType('Project', ProjectRef)

builder.queryFields((t) => ({
  projects: t.field({
    type: ProjectConnection,
    description: 'The projects that you can see, newest first.',
    args: forwardArgs,
    complexity: pageCost,
    resolve: async (_root, args, context) => {
      const request = pageRequest(args, isTimeKey)
      const rows = await listProjects(context.app.db, viewerOf(context), request)
      return connectionOf(rows, request, (row) => [row.createdAt.toISOString(), row.id])
    },
  }),
  project: t.field({
    type: ProjectRef,
    nullable: true,
    description: 'One project, by its id or by its slug.',
    args: {
      id: t.arg.id({ description: 'Its id.' }),
      slug: t.arg.string({ description: 'Its slug.' }),
    },
    resolve: (_root, { id, slug }, context) => {
      const viewer = viewerOf(context)
      if ((id == null) === (slug == null)) throw invalid('id', 'give either the id or the slug')
      if (slug != null) {
        return found(
          slugPattern.test(slug) ? findProject(context.app.db, viewer, slug) : Promise.resolve(null),
        )
      }
      return found(projectNode(refOf('Project', id ?? ''), context))
    },
  }),
}))

const slugField = (description: string) =>
  input.text(`${description} Lower-case Latin letters and digits, in words joined by \`-\`.`, {
    max: maxSlugLength,
    pattern: slugPattern,
    hint: 'must be lower-case letters and digits, in words joined by -',
  })

const projectSuccess = (name: string, description: string) =>
  builder.objectRef<{ projectId: string }>(name).implement({
    description,
    fields: (t) => ({
      project: t.field({
        type: ProjectRef,
        description: 'The project, read after the change.',
        resolve: ({ projectId }, _args, context) =>
          found(context.loaders.project.clear(projectId).load(projectId)),
      }),
    }),
  })

command('createProject', {
  description: 'Creates a project with default limits; you own it.',
  input: {
    name: input.text('Its name.', { max: maxNameLength }, true),
    slug: slugField('Its address in URLs; made from the name when absent. One that is taken is CONFLICT.'),
    idempotencyKey: input.key(),
  },
  success: projectSuccess('CreateProjectSuccess', 'The project was created.'),
  permission: { capability: 'project.create', scope: () => ({}) },
  run: (call, { name, slug }, { app }) => createProject(app, call, { name, slug }),
})

const expectedVersion = input.int(
  'The version that you saw; another one is CONFLICT. Unchecked when absent.',
  [1, 2 ** 31 - 1],
)

const patterns = (description: string) =>
  input.list(input.text('', { max: 120 }, true), 'String', `${description} By name or \`prefix*\`.`, [0, 200])
const McpAllowInput = inputObject('McpAllowInput', 'Of an MCP server, the tools that agents are shown.', {
  server: input.text('The server.', { max: 120 }, true),
  tools: input.list(
    input.text('', { max: 120 }, true),
    'String',
    'Its tools, by name or `prefix*`.',
    [0, 200],
    true,
  ),
})

command('updateProject', {
  description:
    'Changes a project’s name, slug, the defaults of sessions that are created from then on, the protocols that it allows, and what its agents may and are shown.',
  input: {
    projectId: input.id('Project', 'The project.', true),
    name: input.text('Its new name.', { max: maxNameLength }),
    slug: slugField('Its new address in URLs. One that is taken is CONFLICT.'),
    defaultModel: input.text('The model of new sessions; an empty text leaves it to the runtime.', {
      min: 0,
      max: 120,
    }),
    defaultThinkingLevel: input.enum(ThinkingLevelRef, 'The thinking level of new sessions.'),
    routeCorrection: input.enum(RouteCorrectionRef, 'Who may undo the route of a run.'),
    skillDeny: patterns('Skills that no agent is shown.'),
    skillAllow: patterns('The only skills that agents are shown; none: all.'),
    mcpAllow: input.objects(
      McpAllowInput,
      'Of MCP servers, the only tools that agents are shown; of a server that is not named all.',
      [0, 50],
    ),
    allowedProtocols: input.list(
      input.text(
        'The id of a protocol.',
        { max: 64, pattern: slugPattern, hint: 'must be the id of a protocol, without a version' },
        true,
      ),
      'String',
      'The ids of the protocols that it allows, registered or to be; an empty list allows all. `general-task` always is.',
      [0, 100],
    ),
    expectedVersion,
  },
  success: projectSuccess('UpdateProjectSuccess', 'The project is as asked.'),
  permission: { capability: 'project.settings', scope: ({ projectId }) => ({ projectId: projectId.id }) },
  run: async (call, { projectId, ...change }, { app }) => {
    await updateProject(app, call, { projectId: projectId.id, ...change })
    return { projectId: projectId.id }
  },
})

const ProjectLimitsInput = inputObject(
  'ProjectLimitsInput',
  'The limits to change; what is absent stays.',
  Object.fromEntries(
    limitNames.map((name) => [
      name,
      input.int(limits[name].description, [limits[name].min, limits[name].max]),
    ]),
  ) as Record<LimitName, ReturnType<typeof input.int>>,
)

command('updateProjectLimits', {
  description:
    'Changes what a project may use, from then on. Nothing that is alive is ended by a lower limit.',
  input: {
    projectId: input.id('Project', 'The project.', true),
    limits: input.object(ProjectLimitsInput, 'The limits to change.'),
    reason: input.text('Why, for the audit log.', { max: 2_000 }),
    expectedVersion,
  },
  success: projectSuccess('UpdateProjectLimitsSuccess', 'The limits are as asked.'),
  permission: { capability: 'project.settings', scope: ({ projectId }) => ({ projectId: projectId.id }) },
  run: async (call, { projectId, ...change }, { app }) => {
    await updateProjectLimits(app, call, { projectId: projectId.id, ...change })
    return { projectId: projectId.id }
  },
})
