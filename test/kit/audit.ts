import { projectEventTypes, sessionEventTypes } from '@wheelhouse/server/platform/journal'
import pg from 'pg'

const inFeed = sessionEventTypes.filter((type) => (projectEventTypes as readonly string[]).includes(type))
const list = (values: readonly string[]) => values.map((value) => `'${value}'`).join(', ')

const usage = ['input_tokens', 'output_tokens', 'cached_tokens', 'model_calls', 'tool_calls', 'milliseconds']

/** What must hold of the data at every moment, each as a query for the rows that break it. */
const invariants: Record<string, string> = {
  'a session’s sequence is dense, from where its journal is kept to its latest': `
    SELECT s.id, s.first_sequence, s.last_sequence, count(e.sequence), min(e.sequence), max(e.sequence)
      FROM sessions s LEFT JOIN session_events e ON e.project_id = s.project_id AND e.session_id = s.id
     GROUP BY s.project_id, s.id
    HAVING count(e.sequence) <> s.last_sequence - s.first_sequence + 1
        OR coalesce(min(e.sequence), s.first_sequence) <> s.first_sequence OR coalesce(max(e.sequence), s.last_sequence) <> s.last_sequence`,
  'no event is without its session, no event names a run of another': `
    SELECT e.session_id, e.sequence, e.run_id FROM session_events e
      LEFT JOIN sessions s ON s.project_id = e.project_id AND s.id = e.session_id
      LEFT JOIN runs r ON r.project_id = e.project_id AND r.id = e.run_id
     WHERE s.id IS NULL OR (e.run_id IS NOT NULL AND (r.id IS NULL OR r.session_id <> e.session_id))`,
  'a run’s own numbers are dense, in the order of the session’s': `
    SELECT r.id, r.last_sequence, count(e.run_sequence), max(e.run_sequence)
      FROM runs r JOIN sessions s ON s.project_id = r.project_id AND s.id = r.session_id AND s.first_sequence = 1
      LEFT JOIN (SELECT *, row_number() OVER (PARTITION BY project_id, run_id ORDER BY sequence) AS expected FROM session_events
                  WHERE run_sequence IS NOT NULL) e ON e.project_id = r.project_id AND e.run_id = r.id
     GROUP BY r.project_id, r.id HAVING count(e.run_sequence) <> r.last_sequence OR NOT bool_and(e.run_sequence = e.expected)`,
  'the load of a project is what a recount gives': `
    SELECT l.* FROM project_load l WHERE (l.sessions, l.open_sessions, l.live_runs, l.open_approvals, l.inbox_open) IS DISTINCT FROM (
      (SELECT count(*)::int FROM sessions x WHERE x.project_id = l.project_id),
      (SELECT count(*)::int FROM sessions x WHERE x.project_id = l.project_id AND state = 'OPEN'),
      (SELECT count(*)::int FROM runs x WHERE x.project_id = l.project_id AND ended_at IS NULL),
      (SELECT count(*)::int FROM approvals x WHERE x.project_id = l.project_id AND state = 'OPEN'),
      (SELECT count(*)::int FROM inbox_items x WHERE x.project_id = l.project_id AND state = 'OPEN'))`,
  'a project is within its limits': `
    SELECT p.id FROM projects p JOIN project_load l ON l.project_id = p.id
     WHERE l.live_runs > p.max_concurrent_runs OR l.open_sessions > p.max_open_sessions`,
  'the counts of a session are what a recount gives': `
    SELECT s.id FROM sessions s
     WHERE (s.live_runs, s.open_approvals, s.run_count, s.message_count) IS DISTINCT FROM (
      (SELECT count(*)::int FROM runs x WHERE x.project_id = s.project_id AND x.session_id = s.id AND ended_at IS NULL),
      (SELECT count(*)::int FROM approvals x WHERE x.project_id = s.project_id AND x.session_id = s.id AND state = 'OPEN'),
      (SELECT count(*)::int FROM runs x WHERE x.project_id = s.project_id AND x.session_id = s.id),
      (SELECT count(*)::int FROM messages x WHERE x.project_id = s.project_id AND x.session_id = s.id))`,
  'a session’s newest run and its state are what the session says': `
    SELECT s.id, s.last_run_id, s.last_run_state, r.id AS newest, r.state FROM sessions s
      LEFT JOIN LATERAL (SELECT * FROM runs r WHERE r.project_id = s.project_id AND r.session_id = s.id ORDER BY number DESC LIMIT 1) r ON true
     WHERE (s.last_run_id, s.last_run_state) IS DISTINCT FROM (r.id, r.state)`,
  'a session’s usage is the sum of its runs’, null where none was ever reported': `
    SELECT s.id FROM sessions s LEFT JOIN runs r ON r.project_id = s.project_id AND r.session_id = s.id GROUP BY s.project_id, s.id
    HAVING ${usage.map((name) => `s.${name} IS DISTINCT FROM sum(r.${name})::int`).join(' OR ')}`,
  'a generation is one more than the opens and closes': `
    SELECT s.id, s.generation FROM sessions s WHERE s.first_sequence = 1 AND s.generation <> 1 + (
      SELECT count(*) FROM session_events e WHERE e.project_id = s.project_id AND e.session_id = s.id
         AND e.type IN ('SESSION_OPENED', 'SESSION_CLOSED'))`,
  'a runtime’s live runs are what a recount gives, within its slots, its signals numbered below its last': `
    SELECT t.id, t.live_runs FROM runtimes t
     WHERE t.live_runs <> (SELECT count(*) FROM runs r WHERE r.project_id = t.project_id AND r.runtime_id = t.id AND r.ended_at IS NULL)
        OR EXISTS (SELECT 1 FROM runtime_signals g WHERE g.project_id = t.project_id AND g.runtime_id = t.id AND g.position > t.last_signal)`,
  'an ended run has exactly one terminal event, of its state; a live one has none': `
    SELECT r.id, r.state, array_agg(e.type) FROM runs r JOIN sessions s ON s.project_id = r.project_id AND s.id = r.session_id AND s.first_sequence = 1
      LEFT JOIN session_events e ON e.project_id = r.project_id AND e.run_id = r.id
            AND e.type IN ('RUN_COMPLETED', 'RUN_FAILED', 'RUN_CANCELLED', 'RUN_TIMED_OUT')
     GROUP BY r.project_id, r.id
    HAVING array_remove(array_agg(e.type), NULL) <> CASE WHEN r.ended_at IS NULL THEN '{}' ELSE ARRAY['RUN_' || r.state] END`,
  'nothing but the record of a refused write follows a run’s end': `
    SELECT e.session_id, e.sequence, e.type FROM session_events e
      JOIN session_events t ON t.project_id = e.project_id AND t.run_id = e.run_id AND t.sequence < e.sequence
           AND t.type IN ('RUN_COMPLETED', 'RUN_FAILED', 'RUN_CANCELLED', 'RUN_TIMED_OUT')
     WHERE e.type <> 'RUN_WRITE_REJECTED'`,
  'a run was offered once, and started as often as its token says': `
    SELECT r.id, r.token_generation FROM runs r JOIN sessions s ON s.project_id = r.project_id AND s.id = r.session_id AND s.first_sequence = 1
      JOIN session_events e ON e.project_id = r.project_id AND e.run_id = r.id
     GROUP BY r.project_id, r.id
    HAVING count(*) FILTER (WHERE e.type = 'RUN_OFFERED') <> 1
        OR count(*) FILTER (WHERE e.type = 'RUN_STARTED') + (r.ended_at IS NOT NULL)::int <> r.token_generation`,
  'a run waits exactly while it has open asks, and an ended one has none': `
    SELECT r.id, r.state, r.open_approvals, count(a.id) FROM runs r
      LEFT JOIN approvals a ON a.project_id = r.project_id AND a.run_id = r.id AND a.state = 'OPEN'
     GROUP BY r.project_id, r.id
    HAVING count(a.id) <> r.open_approvals OR (count(a.id) > 0) <> (r.state = 'WAITING_APPROVAL')`,
  'each ask was asked once and ended as often as its state says': `
    SELECT r.id FROM runs r JOIN sessions s ON s.project_id = r.project_id AND s.id = r.session_id AND s.first_sequence = 1
     WHERE EXISTS (
       SELECT 1 FROM (VALUES ('APPROVAL_REQUESTED', NULL), ('APPROVAL_ANSWERED', 'ANSWERED'), ('APPROVAL_EXPIRED', 'EXPIRED'), ('APPROVAL_WITHDRAWN', 'WITHDRAWN')) v(type, state)
        WHERE (SELECT count(*) FROM session_events e WHERE e.project_id = r.project_id AND e.run_id = r.id AND e.type = v.type)
           <> (SELECT count(*) FROM approvals a WHERE a.project_id = r.project_id AND a.run_id = r.id AND (v.state IS NULL OR a.state = v.state)))`,
  'an open ask is in the inbox; one that is settled is handled there': `
    SELECT a.id, a.state, i.state FROM approvals a LEFT JOIN inbox_items i ON i.project_id = a.project_id AND i.approval_id = a.id
     WHERE i.id IS NULL OR (a.state = 'OPEN') <> (i.state = 'OPEN')`,
  'a runtime is told each answer and each end at most once': `
    SELECT run_id, kind, payload->>'approvalId' FROM runtime_signals WHERE kind IN ('RUN_OFFER', 'RUN_CANCELLED', 'APPROVAL_RESOLVED')
     GROUP BY project_id, run_id, kind, payload->>'approvalId' HAVING count(*) > 1`,
  'each answer is kept for the runtime that asked': `
    SELECT a.id FROM approvals a WHERE a.state IN ('ANSWERED', 'EXPIRED') AND a.decided_at > (SELECT max(at) FROM session_events) - interval '1 hour'
       AND NOT EXISTS (SELECT 1 FROM runtime_signals g WHERE g.project_id = a.project_id AND g.kind = 'APPROVAL_RESOLVED' AND g.payload->>'approvalId' = a.id::text)`,
  'a message and its event say the same': `
    SELECT coalesce(m.session_id, e.session_id), coalesce(m.sequence, e.sequence) FROM messages m
      FULL JOIN (SELECT * FROM session_events WHERE type = 'MESSAGE') e
        ON e.project_id = m.project_id AND e.session_id = m.session_id AND e.sequence = m.sequence
      LEFT JOIN sessions s ON s.project_id = m.project_id AND s.id = m.session_id
     WHERE m.id IS NULL OR (e.sequence IS NULL AND m.sequence >= s.first_sequence) OR e.payload->>'text' <> m.text`,
  'what belongs into the project’s feed is there once, and no copy of a message': `
    SELECT e.session_id, e.sequence, e.type, count(f.position) FROM session_events e
      JOIN project_load l ON l.project_id = e.project_id AND l.feed_floor_xid = 0
      LEFT JOIN project_events f ON f.project_id = e.project_id AND f.session_id = e.session_id AND f.type = e.type
           AND (f.payload->>'sequence')::int = e.sequence
     WHERE e.type IN (${list(inFeed)}) GROUP BY e.project_id, e.session_id, e.sequence, e.type
    HAVING count(f.position) <> (NOT bool_or(e.payload ? 'copyOf'))::int`,
  'every run is bound, to revisions that are there': `
    SELECT r.id FROM runs r LEFT JOIN run_intent_bindings b ON b.project_id = r.project_id AND b.run_id = r.id
     GROUP BY r.project_id, r.id
    HAVING count(b.number) = 0 OR count(b.number) <> max(b.number)
        OR EXISTS (SELECT FROM run_intent_bindings x WHERE x.project_id = r.project_id AND x.run_id = r.id
                    AND EXISTS (SELECT FROM unnest(ARRAY[x.base_id, x.active_id]) AS named(id) WHERE named.id IS NOT NULL
                                  AND NOT EXISTS (SELECT FROM intent_revisions v WHERE v.project_id = r.project_id AND v.id = named.id)))`,
  'a session’s revisions are numbered densely, each follows the one before, and the head is the last': `
    SELECT s.id, s.intent_count, s.intent_head_id FROM sessions s
      LEFT JOIN (SELECT *, lag(id) OVER (PARTITION BY project_id, session_id ORDER BY number) AS before FROM intent_revisions) v
        ON v.project_id = s.project_id AND v.session_id = s.id
     GROUP BY s.project_id, s.id
    HAVING count(v.id) <> s.intent_count OR coalesce(max(v.number), 0) <> s.intent_count
        OR (array_agg(v.id ORDER BY v.number DESC))[1] IS DISTINCT FROM s.intent_head_id
        OR (array_agg(v.protocol ORDER BY v.number DESC))[1] IS DISTINCT FROM CASE WHEN s.intent_count > 0 THEN s.protocol END
        OR bool_or(v.id IS NOT NULL AND v.previous_id IS DISTINCT FROM coalesce(v.before, s.fork_revision_id))`,
  'the journal tells each revision, as it is': `
    SELECT v.session_id, v.number FROM intent_revisions v JOIN sessions s ON s.project_id = v.project_id AND s.id = v.session_id AND s.first_sequence = 1
     WHERE (SELECT count(*) FROM session_events e WHERE e.project_id = v.project_id AND e.session_id = v.session_id AND e.type = 'INTENT_REVISED'
              AND (e.payload->>'number')::int = v.number AND e.payload->>'text' = v.text AND e.payload->>'protocol' = v.protocol
              AND e.payload->>'taskId' = v.task_id::text AND e.payload->>'changeKind' = v.change_kind) <> 1`,
  'a live run has exactly one active segment, an ended one none; segments are numbered densely': `
    SELECT r.id, r.state FROM runs r LEFT JOIN protocol_segments g ON g.project_id = r.project_id AND g.run_id = r.id
     GROUP BY r.project_id, r.id
    HAVING count(*) FILTER (WHERE g.state = 'ACTIVE') <> (r.ended_at IS NULL)::int OR count(g.id) <> r.segment_count
        OR max(g.number) <> r.segment_count`,
  'the journal tells each segment’s start and end once': `
    SELECT g.run_id, g.number FROM protocol_segments g JOIN sessions s ON s.project_id = g.project_id AND s.id = g.session_id AND s.first_sequence = 1
     WHERE (SELECT count(*) FROM session_events e WHERE e.project_id = g.project_id AND e.run_id = g.run_id AND e.type = 'SEGMENT_STARTED'
              AND (e.payload->>'number')::int = g.number) <> 1
        OR (SELECT count(*) FROM session_events e WHERE e.project_id = g.project_id AND e.run_id = g.run_id AND e.type = 'SEGMENT_ENDED'
              AND (e.payload->>'number')::int = g.number) <> (g.state <> 'ACTIVE')::int`,
  'each completed run has left a checkpoint, and checkpoints lie within their journal': `
    SELECT c.session_id, c.number FROM checkpoints c JOIN sessions s ON s.project_id = c.project_id AND s.id = c.session_id
     WHERE c.sequence > s.last_sequence OR c.message_sequence > c.sequence OR c.number > s.checkpoint_count
    UNION ALL
    SELECT r.session_id, r.number FROM runs r
     WHERE r.state = 'COMPLETED' AND NOT EXISTS (SELECT FROM checkpoints c WHERE c.project_id = r.project_id AND c.run_id = r.id)`,
  'a fork is at a revision of another session, and what it has not made itself is no other': `
    SELECT f.id FROM sessions f LEFT JOIN intent_revisions v ON v.project_id = f.project_id AND v.id = f.fork_revision_id
     WHERE (f.fork_revision_id IS NOT NULL AND (v.id IS NULL OR v.session_id = f.id))
        OR (f.intent_head_id IS NULL AND f.protocol IS DISTINCT FROM v.protocol)
        OR EXISTS (SELECT FROM (SELECT b.base_id, b.active_id FROM run_intent_bindings b WHERE b.project_id = f.project_id AND b.session_id = f.id
                                UNION ALL SELECT c.revision_id, NULL FROM checkpoints c WHERE c.project_id = f.project_id AND c.session_id = f.id) x,
                     unnest(ARRAY[x.base_id, x.active_id]) AS named(id)
                    WHERE named.id IS NOT NULL AND named.id IS DISTINCT FROM f.fork_revision_id
                      AND NOT EXISTS (SELECT FROM intent_revisions o WHERE o.project_id = f.project_id AND o.id = named.id AND o.session_id = f.id))`,
  'a revision outlives its session only where forks began at it': `
    SELECT v.id FROM intent_revisions v
     WHERE NOT EXISTS (SELECT FROM sessions s WHERE s.project_id = v.project_id AND s.id = v.session_id)
       AND NOT EXISTS (SELECT FROM sessions f WHERE f.project_id = v.project_id AND f.fork_revision_id = v.id)`,
  'a checkpoint’s last message is there': `
    SELECT c.session_id, c.number FROM checkpoints c WHERE c.message_sequence > 0 AND NOT EXISTS (
      SELECT FROM messages m WHERE m.project_id = c.project_id AND m.session_id = c.session_id AND m.sequence = c.message_sequence)`,
  'checkpoints are numbered densely': `
    SELECT s.id, s.checkpoint_count FROM sessions s LEFT JOIN checkpoints c ON c.project_id = s.project_id AND c.session_id = s.id
     GROUP BY s.project_id, s.id HAVING count(c.id) <> s.checkpoint_count OR coalesce(max(c.number), 0) <> s.checkpoint_count`,
  'what has become of a requirement is numbered densely and was told in its session': `
    SELECT q.session_id, q.requirement_id FROM requirement_states q
      LEFT JOIN sessions s ON s.project_id = q.project_id AND s.id = q.session_id
     GROUP BY q.project_id, q.session_id, q.requirement_id, s.id, s.last_sequence
    HAVING count(*) <> max(q.number) OR s.id IS NULL OR max(q.sequence) NOT BETWEEN 1 AND s.last_sequence`,
  'a remembered key has its result': `SELECT principal_id, operation, key FROM idempotency_keys WHERE result IS NULL`,
}

/** Every row that breaks an invariant, as text; empty when the data is sound. For the end of every story and fault. */
export async function audit(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const broken: string[] = []
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    for (const [invariant, sql] of Object.entries(invariants)) {
      const { rows } = await client.query<Record<string, unknown>>(`${sql} LIMIT 5`)
      for (const row of rows) broken.push(`${invariant}: ${JSON.stringify(row)}`)
    }
    return broken
  } finally {
    await client.end()
  }
}
