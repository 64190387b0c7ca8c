import type { SessionEventType } from './session-event.ts'

/** The kinds a person filters the timeline by, each a set of event types. */
export const eventGroups = {
  messages: ['MESSAGE', 'RUN_STEERED'],
  runs: [
    'RUN_OFFERED',
    'RUN_STARTED',
    'RUN_WAITING',
    'RUN_RESUMED',
    'RUN_COMPLETED',
    'RUN_FAILED',
    'RUN_CANCELLED',
    'RUN_TIMED_OUT',
    'RUN_WRITE_REJECTED',
  ],
  tools: ['TOOL_CALL', 'TOOL_RESULT', 'ACTION_REQUESTED', 'ACTION_COMPLETED'],
  approvals: ['APPROVAL_REQUESTED', 'APPROVAL_ANSWERED', 'APPROVAL_EXPIRED', 'APPROVAL_WITHDRAWN'],
  text: ['ANSWER_DELTA', 'REASONING_DELTA', 'INFO'],
  task: [
    'ROUTE_DECIDED',
    'INTENT_REVISED',
    'INTENT_REBOUND',
    'REQUIREMENT_CHANGED',
    'SEGMENT_STARTED',
    'SEGMENT_PHASE_CHANGED',
    'SEGMENT_ENDED',
    'HANDOFF_PROPOSED',
    'HANDOFF_ACCEPTED',
    'HANDOFF_REJECTED',
    'PROTOCOL_ROUTE_CORRECTED',
  ],
  session: [
    'SESSION_CREATED',
    'SESSION_OPENED',
    'SESSION_CLOSED',
    'SESSION_RENAMED',
    'SESSION_SETTINGS_CHANGED',
    'SESSION_FORKED',
    'GOAL_CHANGED',
    'CHECKPOINT_CREATED',
    'WORK_ITEM_LINKED',
  ],
  usage: ['USAGE_RECORDED'],
} as const satisfies Record<string, readonly SessionEventType[]>

export type EventGroup = keyof typeof eventGroups
export const groupNames = Object.keys(eventGroups) as EventGroup[]

// Every type belongs to a group: a type that is added without one does not compile.
type Grouped = (typeof eventGroups)[EventGroup][number]
const everyTypeIsGrouped: Exclude<SessionEventType, Grouped> extends never ? true : false = true
void everyTypeIsGrouped

/** The types of the groups that an address names; unknown names are ignored, none means all. */
export function typesOf(groups: readonly string[] | undefined): SessionEventType[] {
  return (groups ?? []).flatMap((group) => [...(eventGroups[group as EventGroup] ?? [])])
}
