import type { Db, Tx } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'
import { canonicalJson } from '../../../platform/strict-json.ts'

type Reader = Db | Tx

export interface RuntimeRegistration extends Ref {
  principalId: string
  name: string
  kinds: string[]
  tools: unknown
  maxConcurrentRuns: number
  now: Date
}
/** Registers a runtime, or updates the one of the same name and principal. */
export async function upsertRuntime(
  tx: Tx,
  r: RuntimeRegistration,
): Promise<{ id: string; created: boolean; reconnected: boolean }> {
  const rows = await tx.$queryRaw<{ id: string; created: boolean; reconnected: boolean }[]>`
    WITH before AS (
      SELECT state FROM runtimes WHERE project_id = ${r.projectId}::uuid AND name = ${r.name} AND principal_id = ${r.principalId}::uuid
    )
    INSERT INTO runtimes AS t (project_id, id, principal_id, name, kinds, tools, max_concurrent_runs, state, last_seen_at, created_at)
    VALUES (${r.projectId}::uuid, ${r.id}::uuid, ${r.principalId}::uuid, ${r.name}, ${r.kinds}::text[], ${canonicalJson(r.tools)}::jsonb,
            ${r.maxConcurrentRuns}, 'CONNECTED', ${r.now}::timestamptz, ${r.now}::timestamptz)
    ON CONFLICT (project_id, name, principal_id) DO UPDATE SET kinds = excluded.kinds, tools = excluded.tools,
       max_concurrent_runs = excluded.max_concurrent_runs, state = 'CONNECTED', last_seen_at = excluded.last_seen_at
    RETURNING t.id, t.id = ${r.id}::uuid AS created, EXISTS (SELECT 1 FROM before WHERE state = 'DISCONNECTED') AS reconnected`
  return rows[0] as { id: string; created: boolean; reconnected: boolean }
}

/** A sign of life. Tells whether the runtime was disconnected until now; null when it is not there. */
export async function touchRuntime(
  tx: Reader,
  ref: Ref,
  now: Date,
): Promise<{ reconnected: boolean } | null> {
  const rows = await tx.$queryRaw<{ reconnected: boolean }[]>`
    UPDATE runtimes t SET state = 'CONNECTED', last_seen_at = greatest(t.last_seen_at, ${now}::timestamptz)
      FROM (SELECT state FROM runtimes WHERE project_id = ${ref.projectId}::uuid AND id = ${ref.id}::uuid FOR UPDATE) before
     WHERE t.project_id = ${ref.projectId}::uuid AND t.id = ${ref.id}::uuid RETURNING before.state = 'DISCONNECTED' AS reconnected`
  return rows[0] ?? null
}

export interface NewSignal extends Ref {
  runtimeId: string
  kind: 'RUN_STEERED' | 'RUN_CANCELLED' | 'APPROVAL_RESOLVED' | 'INTENT_CORRECTED'
  sessionId: string
  runId: string
  payload: unknown
  now: Date
}
/** Gives a signal the runtime's next position and keeps it until it is acknowledged. */
export const insertSignal = (tx: Tx, s: NewSignal) => tx.$executeRaw`
  WITH t AS (
    UPDATE runtimes SET last_signal = last_signal + 1 WHERE project_id = ${s.projectId}::uuid AND id = ${s.runtimeId}::uuid RETURNING last_signal
  )
  INSERT INTO runtime_signals (project_id, id, runtime_id, position, kind, session_id, run_id, payload, created_at)
  SELECT ${s.projectId}::uuid, ${s.id}::uuid, ${s.runtimeId}::uuid, t.last_signal, ${s.kind}, ${s.sessionId}::uuid, ${s.runId}::uuid,
         ${canonicalJson(s.payload)}::jsonb, ${s.now}::timestamptz FROM t`

export interface SignalRow extends Ref {
  runtimeId: string
  position: number
  kind: 'RUN_OFFER' | 'RUN_STEERED' | 'RUN_CANCELLED' | 'APPROVAL_RESOLVED' | 'INTENT_CORRECTED'
  sessionId: string
  runId: string
  payload: Record<string, string | null>
  createdAt: Date
}
/** What a runtime has not acknowledged, beyond a position, in order. */
export const unheardSignals = (db: Reader, runtime: Ref, after: number, most: number) => db.$queryRaw<
  SignalRow[]
>`
  SELECT project_id AS "projectId", id, runtime_id AS "runtimeId", position::int AS position, kind, session_id AS "sessionId", run_id AS "runId",
         payload, created_at AS "createdAt"
    FROM runtime_signals
   WHERE project_id = ${runtime.projectId}::uuid AND runtime_id = ${runtime.id}::uuid AND acknowledged_at IS NULL AND position > ${after}
   ORDER BY position LIMIT ${most}`

export const acknowledge = (tx: Tx, runtime: Ref, ids: string[], now: Date) => tx.$executeRaw`
  UPDATE runtime_signals SET acknowledged_at = ${now}::timestamptz
   WHERE project_id = ${runtime.projectId}::uuid AND runtime_id = ${runtime.id}::uuid AND id = ANY (${ids}::uuid[]) AND acknowledged_at IS NULL`

/** DISCONNECTED, if it is still silent; its name, or null when it came back. */
export async function markDisconnected(tx: Tx, ref: Ref, silentSince: Date): Promise<string | null> {
  const rows = await tx.$queryRaw<{ name: string }[]>`
    UPDATE runtimes SET state = 'DISCONNECTED'
     WHERE project_id = ${ref.projectId}::uuid AND id = ${ref.id}::uuid AND state = 'CONNECTED'
       AND last_seen_at <= ${silentSince}::timestamptz RETURNING name`
  return rows[0]?.name ?? null
}

/** Runtimes that count as connected but gave no sign of life since. */
export const silentRuntimes = (db: Reader, silentSince: Date, most: number) => db.$queryRaw<Ref[]>`
  SELECT project_id AS "projectId", id FROM runtimes
   WHERE state = 'CONNECTED' AND last_seen_at <= ${silentSince}::timestamptz ORDER BY last_seen_at LIMIT ${most}`

/** Locks the runtimes of a session's live runs, in one order. */
export const lockRuntimesOf = (tx: Tx, session: Ref) => tx.$queryRaw<{ id: string }[]>`
  SELECT t.id FROM runtimes t
   WHERE t.project_id = ${session.projectId}::uuid
     AND t.id IN (SELECT runtime_id FROM runs WHERE project_id = ${session.projectId}::uuid AND session_id = ${session.id}::uuid AND ended_at IS NULL)
   ORDER BY t.id FOR UPDATE`
