import { type Db, Prisma, type Tx } from '../../platform/database.ts'
import type { Ref } from '../../platform/ids.ts'
import { rowsByRef, tableOf } from '../../platform/rows.ts'
import { type Effects, maxCount, type RunState, type Usage } from './rules.ts'

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
  /** The task that the session is at. */
  headId: string | null
}

/** How much a run began, was allowed, and has a result of: what its effects are judged by. */
export async function effectCounts(tx: Tx, run: Ref): Promise<Effects> {
  const rows = await tx.$queryRaw<Effects[]>`
    SELECT tool_calls_seen AS calls, tool_results_seen AS results,
           (SELECT count(*)::int FROM approvals a WHERE a.project_id = r.project_id AND a.run_id = r.id AND a.kind = 'TOOL'
              AND a.decision = 'allow'
              AND NOT EXISTS (SELECT FROM actions x WHERE x.project_id = a.project_id AND x.approval_id = a.id)) AS allowed,
           (SELECT count(*)::int FROM actions x WHERE x.project_id = r.project_id AND x.run_id = r.id
              AND x.decision = 'ALLOWED') AS actions,
           (SELECT count(*)::int FROM actions x WHERE x.project_id = r.project_id AND x.run_id = r.id
              AND x.ok IS NOT NULL) AS "actionResults"
      FROM runs r WHERE r.project_id = ${run.projectId}::uuid AND r.id = ${run.id}::uuid`
  return rows[0] ?? { calls: 0, allowed: 0, results: 0 }
}

/**
 * Ends a run: its row, its open asks (withdrawn) and the actions that wait for them (never taken), the session's counts, the slots of runtime and project, and the offers
 * nobody needs to hear any more. Returns the asks that were withdrawn.
 */
export async function endRun(tx: Tx, run: LockedRun, ending: Ending, now: Date): Promise<string[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>(Prisma.sql`
    WITH asks AS (
      UPDATE approvals SET state = 'WITHDRAWN', decided_at = ${now}::timestamptz
       WHERE project_id = ${run.projectId}::uuid AND run_id = ${run.id}::uuid AND state = 'OPEN' RETURNING id
    ), waiting AS (
      UPDATE actions SET decision = 'DENIED', code = 'APPROVAL_WITHDRAWN'
       WHERE project_id = ${run.projectId}::uuid AND run_id = ${run.id}::uuid AND decision = 'NEEDS_APPROVAL'
    ), r AS (
      UPDATE runs SET state = ${ending.state}, completion = ${ending.completion ?? null}, head_at_end_id = ${ending.headId}::uuid, failure_code = ${ending.failureCode ?? null},
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

/** A session's runs, newest first, below a number; one more than asked for. */
export const runPage = (db: Reader, session: Ref, first: number, below: number | null) =>
  db.run.findMany({
    where: {
      projectId: session.projectId,
      sessionId: session.id,
      ...(below !== null && { number: { lt: below } }),
    },
    orderBy: { number: 'desc' },
    take: first + 1,
  })

/** Whether an action of a run was allowed and has succeeded: what can be evidence. */
export async function succeededAction(tx: Tx, run: Ref, action: Ref): Promise<boolean> {
  const rows = await tx.$queryRaw<{ one: number }[]>`
    SELECT 1 AS one FROM actions
     WHERE project_id = ${run.projectId}::uuid AND run_id = ${run.id}::uuid AND id = ${action.id}::uuid
       AND ${action.projectId}::uuid = project_id AND decision = 'ALLOWED' AND ok`
  return rows.length === 1
}
