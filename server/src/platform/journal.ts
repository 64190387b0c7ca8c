import { Prisma } from '../generated/prisma/client.ts'
import type { Ref } from './ids.ts'
import { canonicalJson } from './strict-json.ts'
import type { Unit } from './transaction.ts'

/** The catalogue of session events. It only grows. */
export const sessionEventTypes = [
  'SESSION_CREATED',
  'SESSION_OPENED',
  'SESSION_CLOSED',
  'SESSION_RENAMED',
  'SESSION_SETTINGS_CHANGED',
  'SESSION_FORKED',
  'MESSAGE',
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
  'ACTION_REQUESTED',
  'ACTION_COMPLETED',
  'TOOL_CALL',
  'TOOL_RESULT',
  'ANSWER_DELTA',
  'REASONING_DELTA',
  'INFO',
  'USAGE_RECORDED',
  'APPROVAL_REQUESTED',
  'APPROVAL_ANSWERED',
  'APPROVAL_EXPIRED',
  'APPROVAL_WITHDRAWN',
  'RUN_OFFERED',
  'RUN_STARTED',
  'RUN_WAITING',
  'RUN_RESUMED',
  'RUN_STEERED',
  'RUN_COMPLETED',
  'RUN_FAILED',
  'RUN_CANCELLED',
  'RUN_TIMED_OUT',
  'RUN_WRITE_REJECTED',
  'GOAL_CHANGED',
  'CHECKPOINT_CREATED',
  'WORK_ITEM_LINKED',
] as const
export type SessionEventType = (typeof sessionEventTypes)[number]

/** The catalogue of project events: what a dashboard or an integrator follows. Every other session event stays in its session. */
export const projectEventTypes = [
  'PROJECT_CREATED',
  'PROJECT_UPDATED',
  'SESSION_CREATED',
  'SESSION_OPENED',
  'SESSION_CLOSED',
  'SESSION_RENAMED',
  'SESSION_SETTINGS_CHANGED',
  'SESSION_FORKED',
  'SESSION_DELETED',
  'MESSAGE',
  'RUN_OFFERED',
  'RUN_STARTED',
  'RUN_WAITING',
  'RUN_RESUMED',
  'RUN_STEERED',
  'RUN_COMPLETED',
  'RUN_FAILED',
  'RUN_CANCELLED',
  'RUN_TIMED_OUT',
  'APPROVAL_REQUESTED',
  'APPROVAL_ANSWERED',
  'APPROVAL_EXPIRED',
  'APPROVAL_WITHDRAWN',
  'RUNTIME_REGISTERED',
  'RUNTIME_CONNECTED',
  'RUNTIME_DISCONNECTED',
  'PROTOCOL_REGISTERED',
  'INBOX_CHANGED',
] as const
export type ProjectEventType = (typeof projectEventTypes)[number]
const inProjectFeed = new Set<string>(projectEventTypes)
/** Whether a session's event is told in its project's feed too. */
export const isInProjectFeed = (type: SessionEventType) => inProjectFeed.has(type)

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined }

export interface Entry {
  type: SessionEventType
  payload: { [key: string]: Json | undefined }
  /** Whether it counts in its run's own sequence. Default: it does, when the append names a run. */
  ofRun?: boolean
  /** The row it is about (an approval, a message), for the project's feed. */
  subjectId?: string
}

export interface Appended {
  /** The sequence of the last event written. */
  cursor: number
  /** The sequence of the first. */
  first: number
}

/**
 * Appends to a session's journal, in the caller's transaction, in one statement: takes the next dense sequence numbers
 * from the session's row (whose lock orders all writers of the session until they commit), the run's own numbers from
 * the run's row, writes the events, and those of the project's catalogue to the project's feed. Returns null when the
 * session is not there. Payloads must be strict JSON already. `tools` counts what a runtime's own write says of tools,
 * which is its run's sign of life too. `rows` is what the events tell of, written by the same statement: comma-separated
 * `name AS (…)`, touching neither the session nor the run.
 */
export async function append(
  unit: Unit,
  session: Ref,
  runId: string | null,
  entries: Entry[],
  tools: { calls: number; results: number; actions?: number } | null = null,
  rows: Prisma.Sql | null = null,
): Promise<Appended | null> {
  const ofRun = entries.map((entry) => runId !== null && entry.ofRun !== false)
  let runCount = 0
  const runOffsets = ofRun.map((counted) => (counted ? ++runCount : 0))
  const written = await unit.tx.$queryRaw<{ last: number }[]>(Prisma.sql`
    WITH ${rows ? Prisma.sql`${rows},` : Prisma.empty} s AS (
      UPDATE sessions SET last_sequence = last_sequence + ${entries.length}::int, last_activity_at = ${unit.now}::timestamptz
      WHERE project_id = ${session.projectId}::uuid AND id = ${session.id}::uuid
      RETURNING last_sequence - ${entries.length}::int AS base
    ), r AS (
      UPDATE runs SET last_sequence = last_sequence + ${runCount}::int,
             tool_calls_seen = tool_calls_seen + ${tools?.calls ?? 0}::int,
             tool_results_seen = tool_results_seen + ${tools?.results ?? 0}::int,
             action_count = action_count + ${tools?.actions ?? 0}::int,
             last_seen_at = CASE WHEN ${tools !== null} THEN ${unit.now}::timestamptz ELSE last_seen_at END
      WHERE ${runCount}::int > 0 AND project_id = ${session.projectId}::uuid AND id = ${runId}::uuid
      RETURNING last_sequence - ${runCount}::int AS base
    ), x AS (
      SELECT * FROM unnest(
        ${entries.map((entry) => entry.type)}::text[],
        ${entries.map((entry) => canonicalJson(entry.payload))}::text[],
        ${runOffsets}::int[],
        ${entries.map((entry) => inProjectFeed.has(entry.type))}::boolean[],
        ${entries.map((entry) => entry.subjectId ?? null)}::uuid[]
      ) WITH ORDINALITY AS t(type, payload, run_offset, in_feed, subject_id, n)
    ), e AS (
      INSERT INTO session_events (project_id, session_id, sequence, run_id, run_sequence, type, payload, at)
      SELECT ${session.projectId}::uuid, ${session.id}::uuid, s.base + x.n, ${runId}::uuid,
             CASE WHEN x.run_offset > 0 THEN r.base + x.run_offset END, x.type, x.payload::jsonb, ${unit.now}::timestamptz
      FROM x CROSS JOIN s LEFT JOIN r ON true
    ), f AS (
      INSERT INTO project_events (project_id, type, session_id, run_id, subject_id, payload, at)
      SELECT ${session.projectId}::uuid, x.type, ${session.id}::uuid, ${runId}::uuid, x.subject_id,
             x.payload::jsonb || jsonb_build_object('sequence', s.base + x.n), ${unit.now}::timestamptz
      FROM x CROSS JOIN s WHERE x.in_feed ORDER BY x.n
    )
    SELECT s.base + ${entries.length}::int AS last FROM s`)
  const last = written[0]?.last
  if (last === undefined) return null
  unit.hint({ topic: 'session', projectId: session.projectId, id: session.id })
  if (entries.some((entry) => inProjectFeed.has(entry.type)))
    unit.hint({ topic: 'project', id: session.projectId })
  return { cursor: last, first: last - entries.length + 1 }
}

/** Appends to the project's feed what belongs to no session's journal. */
export async function appendToProject(
  unit: Unit,
  projectId: string,
  event: {
    type: ProjectEventType
    payload: Entry['payload']
    sessionId?: string
    runId?: string
    subjectId?: string
  },
): Promise<void> {
  await unit.tx.$executeRaw`
    INSERT INTO project_events (project_id, type, session_id, run_id, subject_id, payload, at)
    VALUES (${projectId}::uuid, ${event.type}, ${event.sessionId ?? null}::uuid, ${event.runId ?? null}::uuid,
            ${event.subjectId ?? null}::uuid, ${canonicalJson(event.payload)}::jsonb, ${unit.now}::timestamptz)`
  unit.hint({ topic: 'project', id: projectId })
}
