import { type Db, Prisma, rowsOf, type Tx } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'
import type { Entry } from '../../../platform/journal.ts'
import { canonicalJson } from '../../../platform/strict-json.ts'
import type { Change, Relation } from '../../intents/rules.ts'

type Reader = Db | Tx

/** Where a message goes, as its decision row keeps it. */
export interface RouteFacts {
  target: 'DIRECT' | 'AGENT'
  relation: Relation
  protocol: string
  source: string
  reasons: string[]
  warnings: string[]
  confidence: number | null
  confidences: object | null
  classifierMs: number | null
  classifierTokens: number | null
  candidates: object[]
  evidence: object
}

export interface NewTurn {
  session: Ref
  expectedGeneration: number | null
  /** The task that was routed on; the turn is taken only while the session is still at it. */
  baseId: string | null
  /** The revision that the turn makes, if any, with the session's next title. */
  revision: {
    id: string
    number: number
    messageId: string
    change: Change
    title: string
    untitled: string
  } | null
  route: RouteFacts
  segment: { id: string; protocol: string; phase: string; openedBy: string }
  runId: string
  routeId: string
  messageId: string
  signalId: string
  authorId: string
  authority: string
  text: string
  words: string
  runtimeId: string | null
  now: Date
  seenSince: Date
  /** In order; the offer comes last, and gets its `expiresAt` here. */
  events: (Entry & { inFeed: boolean })[]
}
export interface TurnWritten {
  cursor: number
  runtimeId: string
}

/**
 * Takes a turn, in one statement that writes all of it or nothing: the session's row (open, at the expected generation
 * and task, with room for a run), then a slot of a runtime (the one asked for, or the connected one with the fewest live
 * runs; one of the kind `sample` only where no other has a slot), then a slot of the project; then the revision of the
 * task and the head, route, binding, segment, message, run, the events and the offer. The rows are locked in that order,
 * as everywhere. Null when something was not to be had; `rules.ts` says what.
 */
export async function insertTurn(db: Reader, t: NewTurn): Promise<TurnWritten | null> {
  const p = t.session.projectId
  const count = t.events.length
  const { revision: v, route: r } = t
  const json = (value: object | null) => (value === null ? null : JSON.stringify(value))
  const rows = await rowsOf<TurnWritten>(
    db,
    Prisma.sql`
    WITH open AS MATERIALIZED (
      SELECT s.project_id, s.id, s.model, s.thinking_level, p.max_concurrent_runs,
             ${t.now}::timestamptz + make_interval(secs => p.offer_timeout_ms / 1000.0) AS expires_at
        FROM sessions s JOIN projects p ON p.id = s.project_id
       WHERE s.project_id = ${p}::uuid AND s.id = ${t.session.id}::uuid AND s.state = 'OPEN'
         AND (${t.expectedGeneration}::int IS NULL OR s.generation = ${t.expectedGeneration}::int)
         AND coalesce(s.intent_head_id, s.fork_revision_id) IS NOT DISTINCT FROM ${t.baseId}::uuid
         AND s.live_runs < p.max_live_runs_per_session
         FOR NO KEY UPDATE OF s
    ), free AS MATERIALIZED (
      SELECT r.id FROM runtimes r, open
       WHERE r.project_id = open.project_id AND (${t.runtimeId}::uuid IS NULL OR r.id = ${t.runtimeId}::uuid)
         AND r.state = 'CONNECTED' AND r.last_seen_at > ${t.seenSince}::timestamptz AND r.live_runs < r.max_concurrent_runs
       ORDER BY r.kinds @> '{sample}', r.live_runs, r.id LIMIT 1 FOR UPDATE OF r
    ), slot AS MATERIALIZED (
      SELECT l.project_id FROM project_load l, open, free
       WHERE l.project_id = open.project_id AND l.live_runs < open.max_concurrent_runs FOR UPDATE OF l
    ), rt AS (
      UPDATE runtimes r SET live_runs = r.live_runs + 1, last_signal = r.last_signal + 1
        FROM free, slot WHERE r.project_id = slot.project_id AND r.id = free.id RETURNING r.id, r.last_signal
    ), load AS (
      UPDATE project_load l SET live_runs = l.live_runs + 1 FROM slot WHERE l.project_id = slot.project_id
    ), s AS (
      UPDATE sessions s SET last_sequence = s.last_sequence + ${count}::int, run_count = s.run_count + 1,
             message_count = s.message_count + 1, live_runs = s.live_runs + 1, last_run_id = ${t.runId}::uuid,
             last_run_state = 'OFFERED', last_activity_at = ${t.now}::timestamptz,
             intent_head_id = coalesce(${v?.id ?? null}::uuid, s.intent_head_id),
             intent_count = s.intent_count + ${v ? 1 : 0}::int, protocol = coalesce(${v?.change.protocol ?? null}, s.protocol),
             title = CASE WHEN s.title = ${v?.untitled ?? null} THEN ${v?.title ?? ''} ELSE s.title END
        FROM open, rt WHERE s.project_id = open.project_id AND s.id = open.id
      RETURNING s.last_sequence - ${count}::int AS base, s.run_count, open.model, open.thinking_level, open.expires_at
    ), revision AS (
      INSERT INTO intent_revisions (project_id, id, session_id, number, task_id, previous_id, protocol, text, requirements,
                                    change_kind, run_id, message_id, author_id, at)
      SELECT ${p}::uuid, ${v?.id ?? null}::uuid, ${t.session.id}::uuid, ${v?.number ?? 0}::int, ${v?.change.taskId ?? null}::uuid,
             ${t.baseId}::uuid, ${v?.change.protocol ?? ''}, ${v?.change.text ?? ''}, ${json(v?.change.requirements ?? null)}::jsonb,
             ${v?.change.kind ?? ''}, ${t.runId}::uuid, ${v?.messageId ?? null}::uuid, ${t.authorId}::uuid, ${t.now}::timestamptz
        FROM s WHERE ${v !== null}
    ), route AS (
      INSERT INTO route_decisions (project_id, id, session_id, run_id, target, relation, protocol, source, reasons, warnings, confidence,
                                   candidates, confidences, classifier_ms, classifier_tokens, evidence, at)
      SELECT ${p}::uuid, ${t.routeId}::uuid, ${t.session.id}::uuid, ${t.runId}::uuid, ${r.target}, ${r.relation}, ${r.protocol}, ${r.source},
             ${r.reasons}::text[], ${r.warnings}::text[], ${r.confidence}::float8, ${json(r.candidates)}::jsonb, ${json(r.confidences)}::jsonb,
             ${r.classifierMs}::int, ${r.classifierTokens}::int, ${json(r.evidence)}::jsonb, ${t.now}::timestamptz FROM s
    ), binding AS (
      INSERT INTO run_intent_bindings (project_id, run_id, number, session_id, base_id, active_id, relation, reason, by_id, at)
      SELECT ${p}::uuid, ${t.runId}::uuid, 1, ${t.session.id}::uuid, ${t.baseId}::uuid, ${v?.id ?? t.baseId}::uuid, ${r.relation}, 'TURN',
             ${t.authorId}::uuid, ${t.now}::timestamptz FROM s
    ), segment AS (
      INSERT INTO protocol_segments (project_id, id, session_id, run_id, number, protocol, state, phase, facts, opened_by, opened_at)
      SELECT ${p}::uuid, ${t.segment.id}::uuid, ${t.session.id}::uuid, ${t.runId}::uuid, 1, ${t.segment.protocol}, 'ACTIVE',
             ${t.segment.phase}, '{}'::jsonb, ${t.segment.openedBy}, ${t.now}::timestamptz FROM s
    ), message AS (
      INSERT INTO messages (project_id, id, session_id, sequence, author_id, authority, run_id, text, search, at)
      SELECT ${p}::uuid, ${t.messageId}::uuid, ${t.session.id}::uuid, s.base + 1, ${t.authorId}::uuid, ${t.authority}, ${t.runId}::uuid,
             ${t.text}, to_tsvector('simple', ${t.words}), ${t.now}::timestamptz FROM s
    ), run AS (
      INSERT INTO runs (project_id, id, session_id, number, state, route_id, runtime_id, message_id, submitted_by, model,
                        thinking_level, last_sequence, segment_count, offered_at, offer_expires_at)
      SELECT ${p}::uuid, ${t.runId}::uuid, ${t.session.id}::uuid, s.run_count, 'OFFERED', ${t.routeId}::uuid, rt.id,
             ${t.messageId}::uuid, ${t.authorId}::uuid, s.model, s.thinking_level, ${count}::int, 1, ${t.now}::timestamptz, s.expires_at
        FROM s, rt
    ), e AS (
      SELECT x.n, x.type, x.subject_id, x.in_feed, s.base + x.n AS sequence,
             CASE WHEN x.n = ${count}::int
                  THEN x.payload::jsonb || jsonb_build_object('expiresAt', to_char(s.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                  ELSE x.payload::jsonb END AS payload
        FROM unnest(
               ${t.events.map((event) => event.type)}::text[],
               ${t.events.map((event) => canonicalJson(event.payload))}::text[],
               ${t.events.map((event) => event.subjectId ?? null)}::uuid[],
               ${t.events.map((event) => event.inFeed)}::boolean[]
             ) WITH ORDINALITY AS x(type, payload, subject_id, in_feed, n), s
    ), events AS (
      INSERT INTO session_events (project_id, session_id, sequence, run_id, run_sequence, type, payload, at)
      SELECT ${p}::uuid, ${t.session.id}::uuid, e.sequence, ${t.runId}::uuid, e.n, e.type, e.payload, ${t.now}::timestamptz FROM e
    ), feed AS (
      INSERT INTO project_events (project_id, type, session_id, run_id, subject_id, payload, at)
      SELECT ${p}::uuid, e.type, ${t.session.id}::uuid, ${t.runId}::uuid, e.subject_id,
             e.payload || jsonb_build_object('sequence', e.sequence), ${t.now}::timestamptz
        FROM e WHERE e.in_feed ORDER BY e.n
    ), signal AS (
      INSERT INTO runtime_signals (project_id, id, runtime_id, position, kind, session_id, run_id, payload, created_at)
      SELECT ${p}::uuid, ${t.signalId}::uuid, rt.id, rt.last_signal, 'RUN_OFFER', ${t.session.id}::uuid, ${t.runId}::uuid, '{}'::jsonb,
             ${t.now}::timestamptz FROM rt, s
    )
    SELECT s.base + ${count}::int AS cursor, rt.id AS "runtimeId" FROM s, rt`,
  )
  return rows[0] ?? null
}

/** Whether a runtime could take the turn now. */
export async function hasFreeRuntime(
  db: Reader,
  t: Pick<NewTurn, 'session' | 'runtimeId' | 'seenSince'>,
): Promise<boolean> {
  const rows = await db.$queryRaw<{ one: number }[]>`
    SELECT 1 AS one FROM runtimes
     WHERE project_id = ${t.session.projectId}::uuid AND (${t.runtimeId}::uuid IS NULL OR id = ${t.runtimeId}::uuid)
       AND state = 'CONNECTED' AND last_seen_at > ${t.seenSince}::timestamptz AND live_runs < max_concurrent_runs LIMIT 1`
  return rows.length > 0
}
