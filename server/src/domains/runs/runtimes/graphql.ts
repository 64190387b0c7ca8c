import { builder, nodeKey, unspell } from '../../../graphql/builder.ts'
import { command, type Permission } from '../../../graphql/command.ts'
import { type Context, permit, viewerOf } from '../../../graphql/context.ts'
import { input, inputObject } from '../../../graphql/fields.ts'
import { found, refOf } from '../../../graphql/found.ts'
import type { NodeRef, Ref } from '../../../platform/ids.ts'
import { PrincipalRef } from '../../access/principals/graphql.ts'
import { seesProject } from '../../access/rules.ts'
import { ProjectRef } from '../../projects/graphql.ts'
import { ToolGroup } from '../guard/plan/graphql.ts'
import type { RuntimeRow } from '../operations.ts'
import { type RuntimeState, runtimeStates, type toolGroups } from '../rules.ts'
import { acknowledgeSignals, noteLife, ownRuntime, registerRuntime } from './operations.ts'

export const RuntimeRef = builder.objectRef<RuntimeRow>('Runtime')
type Group = (typeof toolGroups)[number]

interface Tool {
  name: string
  group: Group
  action: string
  server?: string | null
}
const RuntimeTool = builder.objectRef<Tool>('RuntimeTool').implement({
  description: 'A tool that a runtime declared.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, as the agent calls it.' }),
    group: t.expose('group', { type: ToolGroup, description: 'Its family.' }),
    action: t.exposeString('action', { description: 'The action that it stands for.' }),
    server: t.string({
      nullable: true,
      description: 'The server of an MCP tool.',
      resolve: (tool) => tool.server ?? null,
    }),
  }),
})

/** A runtime is visible to whoever sees its project. */
async function runtimeNode(ref: NodeRef, context: Context): Promise<RuntimeRow | null> {
  return seesProject(viewerOf(context), ref.projectId ?? '')
    ? context.loaders.runtime.load({ projectId: ref.projectId ?? '', id: ref.id })
    : null
}

builder.node(RuntimeRef, {
  description: 'An agent runtime of a project, unique by project, name and principal.',
  id: { resolve: (runtime) => nodeKey(runtime) },
  loadWithoutCache: (key, context) => found(runtimeNode(unspell('Runtime', key), context)),
  fields: (t) => ({
    project: t.field({
      type: ProjectRef,
      description: 'Its project.',
      resolve: (r, _, { loaders }) => found(loaders.project.load(r.projectId)),
    }),
    name: t.exposeString('name', { description: 'Its name.' }),
    kinds: t.exposeStringList('kinds', { description: 'The kinds of agent it runs.' }),
    maxConcurrentRuns: t.exposeInt('maxConcurrentRuns', { description: 'How many runs it takes at once.' }),
    liveRuns: t.exposeInt('liveRuns', { description: 'How many it has.' }),
    state: t.field({
      type: builder.enumType('RuntimeState', {
        description:
          'CONNECTED while `runtimeSignals` is open or heartbeats come; DISCONNECTED after 30 seconds of silence.',
        values: runtimeStates,
      }),
      description: 'Whether it is there.',
      resolve: (r) => r.state as RuntimeState,
    }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'Its last sign of life.' }),
    tools: t.field({
      type: [RuntimeTool],
      description: 'The tools that it declared.',
      resolve: (r) => r.tools as unknown as Tool[],
    }),
    principal: t.field({
      type: PrincipalRef,
      description: 'Whose it is.',
      resolve: (r, _, { loaders }) => found(loaders.principal.load(r.principalId)),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it first registered.' }),
  }),
})

const RuntimeToolInput = inputObject('RuntimeToolInput', 'A tool that a runtime declares.', {
  name: input.text('Its name, as the agent calls it.', { max: 120 }, true),
  group: input.enum(ToolGroup, 'Its family.', true),
  action: input.text('The action that it stands for.', { max: 120 }, true),
  server: input.text('The server of an MCP tool.', { max: 120 }),
})

const runtimeSuccess = (name: string, description: string) =>
  builder.objectRef<{ projectId: string; runtimeId: string }>(name).implement({
    description,
    fields: (t) => ({
      runtime: t.field({
        type: RuntimeRef,
        description: 'The runtime.',
        resolve: ({ projectId, runtimeId: id }, _, { loaders }) =>
          found(loaders.runtime.clear({ projectId, id }).load({ projectId, id })),
      }),
    }),
  })

command('registerRuntime', {
  description:
    'Registers an agent runtime, unique by project, name and principal: again updates it and gives the same id.',
  input: {
    projectId: input.id('Project', 'The project.', true),
    name: input.text('Its name.', { max: 120 }, true),
    kinds: input.list(input.text('', { max: 64 }, true), 'String', 'The kinds of agent it runs.', [0, 32]),
    maxConcurrentRuns: input.int('How many runs it takes at once.', [1, 10_000], true),
    tools: input.objects(RuntimeToolInput, 'The tools that it has.', [0, 500]),
    idempotencyKey: input.key(),
  },
  success: runtimeSuccess('RegisterRuntimeSuccess', 'The runtime is registered and connected.'),
  permission: { capability: 'runtime.register', scope: ({ projectId }) => ({ projectId: projectId.id }) },
  run: (call, { projectId, name, kinds, maxConcurrentRuns, tools }, { app }) =>
    registerRuntime(app, call, {
      projectId: projectId.id,
      name,
      kinds: kinds ?? [],
      maxConcurrentRuns,
      tools: tools ?? [],
    }),
})

const asRuntime: Permission<{ runtimeId: Ref }> = {
  capability: 'run.execute',
  scope: ({ runtimeId }) => ({ projectId: runtimeId.projectId }),
}
const runtimeId = input.id('Runtime', 'Your runtime.', true)

command('heartbeatRuntime', {
  description: 'A sign of life, for a runtime that can’t hold `runtimeSignals` open: every 10 seconds.',
  input: { runtimeId },
  success: runtimeSuccess('HeartbeatRuntimeSuccess', 'You are heard.'),
  permission: asRuntime,
  run: async (call, args, { app }) => {
    await ownRuntime(app, call.viewer, args.runtimeId)
    await noteLife(app, args.runtimeId)
    return { projectId: args.runtimeId.projectId, runtimeId: args.runtimeId.id }
  },
})

command('acknowledgeSignals', {
  description:
    'Says that signals were heard; they are not sent again. Ids that are unknown or were acknowledged count as nothing.',
  input: {
    runtimeId,
    signalIds: input.list(input.id('RuntimeSignal', '', true), 'ID', 'The signals.', [1, 500], true),
  },
  success: builder.objectRef<{ acknowledged: number }>('AcknowledgeSignalsSuccess').implement({
    description: 'They will not come again.',
    fields: (t) => ({
      acknowledged: t.exposeInt('acknowledged', { description: 'How many were still waiting.' }),
    }),
  }),
  permission: asRuntime,
  run: async (call, args, { app }) => {
    await ownRuntime(app, call.viewer, args.runtimeId)
    return acknowledgeSignals(app, args)
  },
})

/** The caller's own runtime, for its subscription. */
export async function ownRuntimeOf(context: Context, id: string): Promise<Ref> {
  const ref = refOf('Runtime', id)
  const runtime = { projectId: ref.projectId ?? '', id: ref.id }
  await ownRuntime(context.app, permit(context, 'run.execute', { projectId: runtime.projectId }), runtime)
  return runtime
}
