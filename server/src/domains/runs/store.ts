import { type Db, Prisma, rowsOf, type Tx } from '../../platform/database.ts'
import type { Ref } from '../../platform/ids.ts'
import { rowsByRef, tableOf } from '../../platform/rows.ts'
import { canonicalJson } from '../../platform/strict-json.ts'
import { maxCount, type RunState, type Usage } from './rules.ts'

type Reader = Db | Tx
export type RunRow = Prisma.RunGetPayload<object>
export type ApprovalRow = Prisma.ApprovalGetPayload<object>
export type RuntimeRow = Prisma.RuntimeGetPayload<object>
export type RouteRow = Prisma.RouteDecisionGetPayload<object>

const runs = tableOf('runs', Prisma.RunScalarFieldEnum)
const approvals = tableOf('approvals', Prisma.ApprovalScalarFieldEnum)
const runtimes = tableOf('runtimes', Prisma.RuntimeScalarFieldEnum)
const routes = tableOf('route_decisions', Prisma.RouteDecisionScalarFieldEnum)
export const runsByRef = (db: Reader, refs: readonly Ref[]) => rowsByRef<RunRow>(db, runs, refs)
export const approvalsByRef = (db: Reader, refs: readonly Ref[]) =>
  rowsByRef<ApprovalRow>(db, approvals, refs)
export const runtimesByRef = (db: Reader, refs: readonly Ref[]) => rowsByRef<RuntimeRow>(db, runtimes, refs)
export const routesByRef = (db: Reader, refs: readonly Ref[]) => rowsByRef<RouteRow>(db, routes, refs)
export const approvalsOfRuns = (db: Reader, runIds: readonly string[]) =>
  db.approval.findMany({
    where: { runId: { in: [...runIds] } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
export const runtimesOfProjects = (db: Reader, projectIds: readonly string[]) =>
  db.runtime.findMany({
    where: { projectId: { in: [...projectIds] } },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: 500,
  })

/** A run locked for the rest of the transaction. */
export interface LockedRun extends Ref {
  sessionId: string
  number: number
  state: RunState
  runtimeId: string
  runtimePrincipalId: string
  messageId: string
  tokenGeneration: number
  openApprovals: number
  rejectedWrites: number
  deadlineAt: Date | null
  remainingMs: number | null
  offerExpiresAt: Date
}
/** A run's row lock. Its session's is taken before it, always: `lockRun` of the operations does both. */
export async function lockRunRow(tx: Tx, ref: Ref): Promise<LockedRun | null> {
  const runs = await tx.$queryRaw<LockedRun[]>`
    SELECT r.project_id AS "projectId", r.id, r.session_id AS "sessionId", r.number, r.state, r.runtime_id AS "runtimeId",
           t.principal_id AS "runtimePrincipalId", r.message_id AS "messageId", r.token_generation AS "tokenGeneration",
           r.open_approvals AS "openApprovals", r.rejected_writes AS "rejectedWrites", r.deadline_at AS "deadlineAt",
           r.remaining_ms AS "remainingMs", r.offer_expires_at AS "offerExpiresAt"
      FROM runs r JOIN runtimes t ON t.project_id = r.project_id AND t.id = r.runtime_id
     WHERE r.project_id = ${ref.projectId}::uuid AND r.id = ${ref.id}::uuid FOR UPDATE OF r`
  return runs[0] ?? null
}

// --- Submitting -------------------------------------------------------------------------------------------------------

export interface NewTurn {
  session: Ref
  expectedGeneration: number | null
  runId: string
  routeId: string
  messageId: string
  signalId: string
  authorId: string
  authority: string
  text: string
  words: string
  /** What a session that has no title of its own is called from now on, and the word that says so. */
  title: string
  untitled: string
  protocol: string
  runtimeId: string | null
  now: Date
  seenSince: Date
  messagePayload: unknown
  routePayload: unknown
  offerPayload: unknown
}
export interface TurnWritten {
  cursor: number
  runtimeId: string
}

/**
 * Takes a turn, in one statement that writes all of it or nothing: the session's row (open, at the expected generation,
 * with room for a run), then a slot of a runtime (the one asked for, or the connected one with the fewest live runs;
 * one of the kind `sample` only where no other has a slot), then a slot of the project; then route, message, run, its
 * three events and the offer. The rows are locked in that order, as everywhere. Null when something was not to be had;
 * `rules.ts` says what.
 */
export async function insertTurn(db: Reader, t: NewTurn): Promise<TurnWritten | null> {
  const p = t.session.projectId
  const rows = await rowsOf<TurnWritten>(
    db,
    Prisma.sql`
    WITH open AS MATERIALIZED (
      SELECT s.project_id, s.id, s.model, s.thinking_level, p.max_concurrent_runs,
             ${t.now}::timestamptz + make_interval(secs => p.offer_timeout_ms / 1000.0) AS expires_at
        FROM sessions s JOIN projects p ON p.id = s.project_id
       WHERE s.project_id = ${p}::uuid AND s.id = ${t.session.id}::uuid AND s.state = 'OPEN'
         AND (${t.expectedGeneration}::int IS NULL OR s.generation = ${t.expectedGeneration}::int)
         AND s.live_runs < p.max_live_runs_per_session
         FOR UPDATE OF s
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
      UPDATE sessions s SET last_sequence = s.last_sequence + 3, run_count = s.run_count + 1, message_count = s.message_count + 1,
             live_runs = s.live_runs + 1, last_run_id = ${t.runId}::uuid, last_run_state = 'OFFERED',
             last_activity_at = ${t.now}::timestamptz, title = CASE WHEN s.title = ${t.untitled} THEN ${t.title} ELSE s.title END
        FROM open, rt WHERE s.project_id = open.project_id AND s.id = open.id
      RETURNING s.last_sequence - 3 AS base, s.run_count, open.model, open.thinking_level, open.expires_at
    ), route AS (
      INSERT INTO route_decisions (project_id, id, session_id, run_id, target, relation, protocol, source, reasons, warnings, candidates, at)
      SELECT ${p}::uuid, ${t.routeId}::uuid, ${t.session.id}::uuid, ${t.runId}::uuid, 'AGENT', 'SIDE_CHAT', ${t.protocol}, 'DEFAULT',
             '{}'::text[], '{}'::text[], '[]'::jsonb, ${t.now}::timestamptz FROM s
    ), message AS (
      INSERT INTO messages (project_id, id, session_id, sequence, author_id, authority, run_id, text, search, at)
      SELECT ${p}::uuid, ${t.messageId}::uuid, ${t.session.id}::uuid, s.base + 1, ${t.authorId}::uuid, ${t.authority}, ${t.runId}::uuid,
             ${t.text}, to_tsvector('simple', ${t.words}), ${t.now}::timestamptz FROM s
    ), run AS (
      INSERT INTO runs (project_id, id, session_id, number, state, relation, route_id, runtime_id, message_id, submitted_by, model,
                        thinking_level, last_sequence, offered_at, offer_expires_at)
      SELECT ${p}::uuid, ${t.runId}::uuid, ${t.session.id}::uuid, s.run_count, 'OFFERED', 'SIDE_CHAT', ${t.routeId}::uuid, rt.id,
             ${t.messageId}::uuid, ${t.authorId}::uuid, s.model, s.thinking_level, 3, ${t.now}::timestamptz, s.expires_at FROM s, rt
    ), x(n, type, payload, subject_id) AS (
      VALUES (1, 'MESSAGE', ${canonicalJson(t.messagePayload)}::jsonb, ${t.messageId}::uuid),
             (2, 'ROUTE_DECIDED', ${canonicalJson(t.routePayload)}::jsonb, ${t.routeId}::uuid),
             (3, 'RUN_OFFERED', ${canonicalJson(t.offerPayload)}::jsonb, NULL)
    ), e AS (
      SELECT x.n, x.type, x.subject_id, s.base + x.n AS sequence,
             CASE WHEN x.n = 3
                  THEN x.payload || jsonb_build_object('expiresAt', to_char(s.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                  ELSE x.payload END AS payload
        FROM x, s
    ), events AS (
      INSERT INTO session_events (project_id, session_id, sequence, run_id, run_sequence, type, payload, at)
      SELECT ${p}::uuid, ${t.session.id}::uuid, e.sequence, ${t.runId}::uuid, e.n, e.type, e.payload, ${t.now}::timestamptz FROM e
    ), feed AS (
      INSERT INTO project_events (project_id, type, session_id, run_id, subject_id, payload, at)
      SELECT ${p}::uuid, e.type, ${t.session.id}::uuid, ${t.runId}::uuid, e.subject_id,
             e.payload || jsonb_build_object('sequence', e.sequence), ${t.now}::timestamptz
        FROM e WHERE e.n <> 2 ORDER BY e.n
    ), signal AS (
      INSERT INTO runtime_signals (project_id, id, runtime_id, position, kind, session_id, run_id, payload, created_at)
      SELECT ${p}::uuid, ${t.signalId}::uuid, rt.id, rt.last_signal, 'RUN_OFFER', ${t.session.id}::uuid, ${t.runId}::uuid, '{}'::jsonb,
             ${t.now}::timestamptz FROM rt, s
    )
    SELECT s.base + 3 AS cursor, rt.id AS "runtimeId" FROM s, rt`,
  )
  return rows[0] ?? null
}

/** Whether a runtime could take the turn now. */
export async function hasFreeRuntime(db: Reader, t: NewTurn): Promise<boolean> {
  const rows = await db.$queryRaw<{ one: number }[]>`
    SELECT 1 AS one FROM runtimes
     WHERE project_id = ${t.session.projectId}::uuid AND (${t.runtimeId}::uuid IS NULL OR id = ${t.runtimeId}::uuid)
       AND state = 'CONNECTED' AND last_seen_at > ${t.seenSince}::timestamptz AND live_runs < max_concurrent_runs LIMIT 1`
  return rows.length > 0
}

// --- Changing a run ---------------------------------------------------------------------------------------------------

export const markStarted = (
  tx: Tx,
  run: Ref,
  generation: number,
  deadlineAt: Date | null,
  now: Date,
) => tx.$executeRaw`
  WITH r AS (
    UPDATE runs SET state = CASE WHEN state = 'OFFERED' THEN 'RUNNING' ELSE state END, token_generation = ${generation},
           started_at = coalesce(started_at, ${now}::timestamptz), last_seen_at = ${now}::timestamptz,
           deadline_at = CASE WHEN state = 'OFFERED' THEN ${deadlineAt}::timestamptz ELSE deadline_at END
     WHERE project_id = ${run.projectId}::uuid AND id = ${run.id}::uuid RETURNING project_id, session_id, id, state
  )
  UPDATE sessions s SET last_run_state = r.state FROM r WHERE s.project_id = r.project_id AND s.id = r.session_id AND s.last_run_id = r.id`

export const markWaiting = (tx: Tx, run: Ref, remainingMs: number | null) => tx.$executeRaw`
  WITH r AS (
    UPDATE runs SET state = 'WAITING_APPROVAL', open_approvals = open_approvals + 1, deadline_at = NULL,
           remaining_ms = coalesce(${remainingMs}::int, remaining_ms)
     WHERE project_id = ${run.projectId}::uuid AND id = ${run.id}::uuid RETURNING project_id, session_id, id, state
  ), s AS (
    UPDATE sessions s SET open_approvals = open_approvals + 1, last_run_state = CASE WHEN s.last_run_id = r.id THEN r.state ELSE s.last_run_state END
      FROM r WHERE s.project_id = r.project_id AND s.id = r.session_id RETURNING s.project_id
  )
  UPDATE project_load l SET open_approvals = l.open_approvals + 1 FROM s WHERE l.project_id = s.project_id`

/** One ask less; the run is RUNNING again after the last, its clock going on. */
export const markAnswered = (
  tx: Tx,
  run: Ref,
  last: boolean,
  deadlineAt: Date | null,
  now: Date,
) => tx.$executeRaw`
  WITH r AS (
    UPDATE runs SET open_approvals = open_approvals - 1,
           state = CASE WHEN ${last} THEN 'RUNNING' ELSE state END,
           deadline_at = CASE WHEN ${last} THEN ${deadlineAt}::timestamptz END,
           remaining_ms = CASE WHEN ${last} THEN NULL ELSE remaining_ms END,
           last_seen_at = CASE WHEN ${last} THEN ${now}::timestamptz ELSE last_seen_at END
     WHERE project_id = ${run.projectId}::uuid AND id = ${run.id}::uuid RETURNING project_id, session_id, id, state
  ), s AS (
    UPDATE sessions s SET open_approvals = open_approvals - 1, last_run_state = CASE WHEN s.last_run_id = r.id THEN r.state ELSE s.last_run_state END
      FROM r WHERE s.project_id = r.project_id AND s.id = r.session_id RETURNING s.project_id
  )
  UPDATE project_load l SET open_approvals = l.open_approvals - 1 FROM s WHERE l.project_id = s.project_id`

export interface Ending {
  state: RunState
  completion?: string | undefined
  failureCode?: string | undefined
  failureMessage?: string | undefined
  answerId?: string | undefined
  endedBy?: string | undefined
  reason?: string | undefined
  usage?: Usage
  /** Set for an end whose effects are known by its kind; otherwise `effects` is passed computed. */
  effects: string
}

/** How much a run began, was allowed, and has a result of: what its effects are judged by. */
export async function effectCounts(
  tx: Tx,
  run: Ref,
): Promise<{ calls: number; allowed: number; results: number }> {
  const rows = await tx.$queryRaw<{ calls: number; allowed: number; results: number }[]>`
    SELECT tool_calls_seen AS calls, tool_results_seen AS results,
           (SELECT count(*)::int FROM approvals a WHERE a.project_id = r.project_id AND a.run_id = r.id AND a.kind = 'TOOL'
              AND a.decision = 'allow') AS allowed
      FROM runs r WHERE r.project_id = ${run.projectId}::uuid AND r.id = ${run.id}::uuid`
  return rows[0] ?? { calls: 0, allowed: 0, results: 0 }
}

/**
 * Ends a run: its row, its open asks (withdrawn), the session's counts, the slots of runtime and project, and the offers
 * nobody needs to hear any more. Returns the asks that were withdrawn.
 */
export async function endRun(tx: Tx, run: LockedRun, ending: Ending, now: Date): Promise<string[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>(Prisma.sql`
    WITH asks AS (
      UPDATE approvals SET state = 'WITHDRAWN', decided_at = ${now}::timestamptz
       WHERE project_id = ${run.projectId}::uuid AND run_id = ${run.id}::uuid AND state = 'OPEN' RETURNING id
    ), r AS (
      UPDATE runs SET state = ${ending.state}, completion = ${ending.completion ?? null}, failure_code = ${ending.failureCode ?? null},
             failure_message = ${ending.failureMessage ?? null}, effects = ${ending.effects}, answer_id = ${ending.answerId ?? null}::uuid,
             ended_by = ${ending.endedBy ?? null}::uuid, end_reason = ${ending.reason ?? null}, ended_at = ${now}::timestamptz,
             open_approvals = 0, deadline_at = NULL, remaining_ms = NULL, token_generation = token_generation + 1
       WHERE project_id = ${run.projectId}::uuid AND id = ${run.id}::uuid RETURNING id
    ), s AS (
      UPDATE sessions s SET live_runs = s.live_runs - 1, open_approvals = s.open_approvals - ${run.openApprovals}::int,
             last_run_state = CASE WHEN s.last_run_id = ${run.id}::uuid THEN ${ending.state} ELSE s.last_run_state END
       WHERE s.project_id = ${run.projectId}::uuid AND s.id = ${run.sessionId}::uuid RETURNING 1 AS one
    ), heard AS (
      UPDATE runtime_signals SET acknowledged_at = ${now}::timestamptz
       WHERE project_id = ${run.projectId}::uuid AND runtime_id = ${run.runtimeId}::uuid AND run_id = ${run.id}::uuid
         AND kind = 'RUN_OFFER' AND acknowledged_at IS NULL
    ), t AS (
      UPDATE runtimes t SET live_runs = t.live_runs - 1 FROM s
       WHERE t.project_id = ${run.projectId}::uuid AND t.id = ${run.runtimeId}::uuid RETURNING 1 AS one
    ), l AS (
      UPDATE project_load l SET live_runs = l.live_runs - 1, open_approvals = l.open_approvals - ${run.openApprovals}::int FROM t
       WHERE l.project_id = ${run.projectId}::uuid
    )
    SELECT id FROM asks`)
  return rows.map((row) => row.id)
}

export const noteRejectedWrite = (tx: Tx, run: Ref) => tx.$executeRaw`
  UPDATE runs SET rejected_writes = rejected_writes + 1 WHERE project_id = ${run.projectId}::uuid AND id = ${run.id}::uuid`

/** Adds to a run's usage and to its session's. What was never reported stays null. */
export const addUsage = (tx: Tx, run: LockedRun, usage: Usage) => {
  const plus = (column: string, value: number | undefined) =>
    Prisma.sql`${Prisma.raw(column)} = CASE WHEN ${value ?? null}::int IS NULL THEN ${Prisma.raw(column)} ELSE coalesce(${Prisma.raw(column)}, 0) + ${value ?? null}::int END`
  const sets = Prisma.join([
    plus('input_tokens', usage.inputTokens),
    plus('output_tokens', usage.outputTokens),
    plus('cached_tokens', usage.cachedTokens),
    plus('model_calls', usage.modelCalls),
    plus('tool_calls', usage.toolCalls),
    plus('milliseconds', usage.milliseconds),
  ])
  return tx.$executeRaw(Prisma.sql`
    WITH s AS (UPDATE sessions SET ${sets} WHERE project_id = ${run.projectId}::uuid AND id = ${run.sessionId}::uuid)
    UPDATE runs SET ${sets} WHERE project_id = ${run.projectId}::uuid AND id = ${run.id}::uuid`)
}

/**
 * What a run has streamed so far, joined, and how many characters that is; null when it streamed nothing. The text of
 * more than `most` characters stays where it is and comes as ''.
 */
export async function joinedDeltas(
  tx: Tx,
  run: LockedRun,
  most: number,
): Promise<{ characters: number; text: string } | null> {
  const rows = await tx.$queryRaw<{ characters: number | null; text: string }[]>`
    WITH delta AS (
      SELECT sequence, payload->>'text' AS text FROM session_events
       WHERE project_id = ${run.projectId}::uuid AND session_id = ${run.sessionId}::uuid AND run_id = ${run.id}::uuid AND type = 'ANSWER_DELTA'
    ), size AS (SELECT sum(length(text))::float8 AS characters FROM delta)
    SELECT characters, coalesce((SELECT string_agg(text, '' ORDER BY sequence) FROM delta WHERE size.characters <= ${most}), '') AS text
      FROM size`
  const [row] = rows
  return row && row.characters !== null ? { characters: row.characters, text: row.text } : null
}

/** Whether adding to a session's and a run's usage stays countable. The session's total is never below its runs'. */
export async function usageFits(tx: Tx, run: LockedRun, usage: Usage): Promise<boolean> {
  const row = await tx.session.findUnique({
    where: { projectId_id: { projectId: run.projectId, id: run.sessionId } },
    select: {
      inputTokens: true,
      outputTokens: true,
      cachedTokens: true,
      modelCalls: true,
      toolCalls: true,
      milliseconds: true,
    },
  })
  return Object.entries(usage).every(([name, count]) => (row?.[name as keyof Usage] ?? 0) + count <= maxCount)
}

export const liveRunsOf = async (tx: Tx, session: Ref): Promise<string[]> =>
  (
    await tx.$queryRaw<{ id: string }[]>`
      SELECT id FROM runs WHERE project_id = ${session.projectId}::uuid AND session_id = ${session.id}::uuid AND ended_at IS NULL
       ORDER BY number`
  ).map((row) => row.id)

// --- What time has made due -------------------------------------------------------------------------------------------

export const dueOffers = (db: Reader, now: Date, most: number) => db.$queryRaw<Ref[]>`
  SELECT project_id AS "projectId", id FROM runs WHERE state = 'OFFERED' AND offer_expires_at <= ${now}::timestamptz
   ORDER BY offer_expires_at LIMIT ${most}`

export const dueRuns = (db: Reader, now: Date, most: number) => db.$queryRaw<Ref[]>`
  SELECT project_id AS "projectId", id FROM runs WHERE state = 'RUNNING' AND deadline_at <= ${now}::timestamptz
   ORDER BY deadline_at LIMIT ${most}`

const lost = (now: Date, readySince: Date) => Prisma.sql`
  r.state = 'RUNNING' AND t.state = 'DISCONNECTED'
  AND greatest(t.last_seen_at, r.last_seen_at, ${readySince}::timestamptz) + make_interval(secs => p.runtime_grace_ms / 1000.0) <= ${now}::timestamptz`

/** RUNNING runs whose runtime has been silent beyond its grace. The disconnected runtimes bound the work. */
export const lostRuns = (db: Reader, now: Date, readySince: Date, most: number) =>
  db.$queryRaw<Ref[]>(Prisma.sql`
  SELECT r.project_id AS "projectId", r.id
    FROM runtimes t JOIN projects p ON p.id = t.project_id
    JOIN runs r ON r.project_id = t.project_id AND r.runtime_id = t.id AND r.ended_at IS NULL
   WHERE t.live_runs > 0 AND ${lost(now, readySince)} LIMIT ${most}`)

export async function isLost(tx: Tx, run: Ref, now: Date, readySince: Date): Promise<boolean> {
  const rows = await tx.$queryRaw<{ one: number }[]>(Prisma.sql`
    SELECT 1 AS one FROM runs r JOIN projects p ON p.id = r.project_id
      JOIN runtimes t ON t.project_id = r.project_id AND t.id = r.runtime_id
     WHERE r.project_id = ${run.projectId}::uuid AND r.id = ${run.id}::uuid AND ${lost(now, readySince)}`)
  return rows.length === 1
}
