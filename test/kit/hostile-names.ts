import type { NodeType } from '@wheelhouse/server/platform/ids'
import type { Side } from './hostile-world.ts'

/** Values for the arguments of queries, watches and fields, by their names; ids by the type that they name. */
export const validArguments: Record<string, (side: Side) => unknown> = {
  slug: (side) => side.slug,
  screen: () => 'sessions',
  text: () => 'turn',
  sequence: () => 1,
  probeRunIds: (side) => [side.ids.Run],
  projectId: (side) => side.ids.Project,
  sessionId: (side) => side.ids.Session,
  runtimeId: (side) => side.ids.Runtime,
}

/** Which node an id in an input names, by the name of its field. */
export const nodeOfField: Record<string, NodeType | null> = {
  projectId: 'Project',
  sessionId: 'Session',
  sessionIds: 'Session',
  checkpointId: 'Checkpoint',
  expectedHeadId: 'IntentRevision',
  expectedRouteId: 'RouteDecision',
  toRevisionId: 'IntentRevision',
  revisionId: 'IntentRevision',
  requirementId: 'Requirement',
  actionId: 'Action',
  runId: 'Run',
  runIds: 'Run',
  probeRunIds: 'Run',
  runtimeId: 'Runtime',
  signalIds: 'RuntimeSignal',
  approvalId: 'Approval',
  principalId: 'Principal',
  assigneeId: 'Principal',
  actorId: 'Principal',
  tokenId: 'Token',
  grantId: 'Grant',
  itemId: 'InboxItem',
  viewId: 'SavedView',
  // Anything.
  subjectId: null,
}
/** The id that `id` means, by the query that has it. */
export const nodeOfQuery: Record<string, NodeType | null> = {
  node: null,
  project: 'Project',
  session: 'Session',
  run: 'Run',
}
