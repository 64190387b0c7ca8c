// The floor: what a turn and a batch of events write, as one statement each, without a product around it.

export const turnStatement = `
  WITH rt AS (
    UPDATE runtimes SET live_runs = live_runs + 1, last_signal = last_signal + 1
     WHERE project_id = $1::uuid AND id = (SELECT id FROM runtimes WHERE project_id = $1::uuid AND state = 'CONNECTED'
       AND live_runs < max_concurrent_runs ORDER BY live_runs, id LIMIT 1 FOR UPDATE)
    RETURNING id, last_signal
  ), slot AS (
    UPDATE project_load l SET live_runs = l.live_runs + 1 FROM rt
     WHERE l.project_id = $1::uuid AND l.live_runs < 10000 RETURNING 1
  ), s AS (
    UPDATE sessions s SET last_sequence = s.last_sequence + 4, run_count = s.run_count + 1, message_count = s.message_count + 1,
           live_runs = s.live_runs + 1, last_run_id = $3::uuid, last_run_state = 'OFFERED', last_activity_at = now()
      FROM slot WHERE s.project_id = $1::uuid AND s.id = $2::uuid AND s.state = 'OPEN' AND s.live_runs < 1
    RETURNING s.last_sequence - 4 AS base, s.run_count
  ), route AS (
    INSERT INTO route_decisions (project_id, id, session_id, run_id, target, relation, protocol, source, reasons, warnings, candidates, at)
    SELECT $1::uuid, $4::uuid, $2::uuid, $3::uuid, 'AGENT', 'SIDE_CHAT', 'general-task@1', 'DEFAULT', '{}', '{}', '[]', now() FROM s
  ), message AS (
    INSERT INTO messages (project_id, id, session_id, sequence, author_id, authority, run_id, text, search, at)
    SELECT $1::uuid, $5::uuid, $2::uuid, s.base + 1, $7::uuid, 'OWNER', $3::uuid, $8, to_tsvector('simple', $8), now() FROM s
  ), run AS (
    INSERT INTO runs (project_id, id, session_id, number, state, route_id, runtime_id, message_id, submitted_by,
                      last_sequence, segment_count, offered_at, offer_expires_at)
    SELECT $1::uuid, $3::uuid, $2::uuid, s.run_count, 'OFFERED', $4::uuid, rt.id, $5::uuid, $7::uuid, 4, 1, now(),
           now() + interval '1 hour' FROM s, rt
  ), binding AS (
    INSERT INTO run_intent_bindings (project_id, run_id, number, session_id, relation, reason, by_id, at)
    SELECT $1::uuid, $3::uuid, 1, $2::uuid, 'SIDE_CHAT', 'TURN', $7::uuid, now() FROM s
  ), segment AS (
    INSERT INTO protocol_segments (project_id, id, session_id, run_id, number, protocol, state, phase, facts, opened_by, opened_at)
    SELECT $1::uuid, $12::uuid, $2::uuid, $3::uuid, 1, 'general-task@1', 'ACTIVE', 'understand', '{}', 'ROUTE', now() FROM s
  ), x(n, type, payload, subject_id) AS (
    VALUES (1, 'MESSAGE', $9::jsonb, $5::uuid), (2, 'ROUTE_DECIDED', $10::jsonb, $4::uuid), (3, 'SEGMENT_STARTED', $13::jsonb, $12::uuid),
           (4, 'RUN_OFFERED', $11::jsonb, NULL)
  ), events AS (
    INSERT INTO session_events (project_id, session_id, sequence, run_id, run_sequence, type, payload, at)
    SELECT $1::uuid, $2::uuid, s.base + x.n, $3::uuid, x.n, x.type, x.payload, now() FROM x, s
  ), feed AS (
    INSERT INTO project_events (project_id, type, session_id, run_id, subject_id, payload, at)
    SELECT $1::uuid, x.type, $2::uuid, $3::uuid, x.subject_id, x.payload || jsonb_build_object('sequence', s.base + x.n), now()
      FROM x, s WHERE x.n IN (1, 4) ORDER BY x.n
  ), signal AS (
    INSERT INTO runtime_signals (project_id, id, runtime_id, position, kind, session_id, run_id, payload, created_at)
    SELECT $1::uuid, $6::uuid, rt.id, rt.last_signal, 'RUN_OFFER', $2::uuid, $3::uuid, '{}', now() FROM rt, s
  )
  SELECT (SELECT base + 4 FROM s) AS cursor`

export function turnValues({ project, session, author, text, id }) {
  const [run, route, message, signal, segment] = [id(), id(), id(), id(), id()]
  return [
    project,
    session,
    run,
    route,
    message,
    signal,
    author,
    text,
    JSON.stringify({
      messageId: `msg_${message}`,
      runId: `run_${run}`,
      authority: 'OWNER',
      author: `pri_${author}`,
      text,
    }),
    JSON.stringify({
      routeId: `rte_${route}`,
      target: 'AGENT',
      relation: 'SIDE_CHAT',
      protocol: 'general-task@1',
      source: 'DEFAULT',
      reasons: ['NOTHING_DECIDED'],
      warnings: ['CLASSIFIER_OFF'],
    }),
    JSON.stringify({ runId: `run_${run}`, expiresAt: new Date().toISOString() }),
    segment,
    JSON.stringify({
      segmentId: `seg_${segment}`,
      number: 1,
      protocol: 'general-task@1',
      phase: 'understand',
      openedBy: 'ROUTE',
    }),
  ]
}

export const writeStatement = `
  WITH s AS (
    UPDATE sessions SET last_sequence = last_sequence + 20, last_activity_at = now()
     WHERE project_id = $1::uuid AND id = $2::uuid RETURNING last_sequence - 20 AS base
  ), r AS (
    UPDATE runs SET last_sequence = last_sequence + 20, last_seen_at = now()
     WHERE project_id = $1::uuid AND id = $3::uuid AND state = 'RUNNING' RETURNING last_sequence - 20 AS base
  )
  INSERT INTO session_events (project_id, session_id, sequence, run_id, run_sequence, type, payload, at)
  SELECT $1::uuid, $2::uuid, s.base + x.n, $3::uuid, r.base + x.n, x.type, x.payload::jsonb, now()
    FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS x(type, payload, n), s, r`

export const writeValues = ({ project, session, run, events }) => [
  project,
  session,
  run,
  events.map((event) => event.type),
  events.map((event) => JSON.stringify(event.payload)),
]
