import { builder } from '../../../../graphql/builder.ts'
import type { Context } from '../../../../graphql/context.ts'
import { found } from '../../../../graphql/found.ts'
import { planSettingsOf } from '../../../projects/operations.ts'
import { governedBy } from '../../../protocols/rules.ts'
import type { RunRow } from '../../operations.ts'
import { toolGroups } from '../../rules.ts'
import type { Tool } from '../rules.ts'
import { definitionOf } from '../standing.ts'
import { type PlanEntry, planOf } from './rules.ts'

/** Apart from the runtimes and the runs, which both use it. */
export const ToolGroup = builder.enumType('ToolGroup', {
  description: 'The family of a tool, in the order in which plans list them.',
  values: toolGroups,
})

const ToolPlanEntry = builder.objectRef<PlanEntry>('ToolPlanEntry').implement({
  description: 'A tool as it stands for a run.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    group: t.expose('group', { type: ToolGroup, description: 'Its family.' }),
    action: t.exposeString('action', { description: 'The action that it stands for.' }),
    server: t.string({
      nullable: true,
      description: 'The server of an MCP tool.',
      resolve: (tool) => tool.server ?? null,
    }),
    source: t.exposeString('source', { description: 'Who declared it.' }),
    exposed: t.exposeBoolean('exposed', { description: 'Whether the agent is shown it.' }),
    status: t.expose('status', {
      type: builder.enumType('ToolStatus', {
        description: 'Whether the protocol of the moment lets a tool be used.',
        values: ['AVAILABLE', 'PROTOCOL_DISABLED'] as const,
      }),
      description: 'Whether it can be used now.',
    }),
    reasons: t.exposeStringList('reasons', { description: 'How it came to that.' }),
    handoffTo: t.exposeString('handoffTo', {
      nullable: true,
      description: 'The protocol to which a handoff would enable it, when it is disabled.',
    }),
  }),
})
export const ToolPlanRef = builder.objectRef<{ entries: PlanEntry[] }>('ToolPlan').implement({
  description: 'The tools of a run with their reasons. It informs; it authorises nothing.',
  fields: (t) => ({
    entries: t.expose('entries', {
      type: [ToolPlanEntry],
      description: 'By family, then by name; last those that are always there.',
    }),
  }),
})

/** The tools of a run, by its runtime, its project's settings and its segment as they are now. */
export async function toolPlanOf(run: RunRow, { loaders }: Context): Promise<{ entries: PlanEntry[] }> {
  const { projectId, id } = run
  const [runtime, project, segment, protocols] = await Promise.all([
    found(loaders.runtime.load({ projectId, id: run.runtimeId })),
    found(loaders.project.load(projectId)),
    found(loaders.lastSegment.load({ projectId, id })),
    loaders.protocols.load(projectId),
  ])
  const entries = planOf(
    { name: runtime.name, tools: runtime.tools as unknown as Tool[] },
    planSettingsOf(project),
    {
      protocol: definitionOf(protocols, segment.protocol),
      phase: segment.phase,
      protocols: protocols.all,
      allowed: protocols.allowed,
      isGoverned: governedBy(protocols.all),
    },
  )
  return { entries }
}
