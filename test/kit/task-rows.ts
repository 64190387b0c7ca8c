import { decodeId, encodeId, type NodeType } from '@wheelhouse/server/platform/ids'
import type pg from 'pg'
import type { Standing, ToldBinding, ToldRevision, ToldSegment } from './replay.ts'

const standing = `
  SELECT coalesce(s.intent_head_id, s.fork_revision_id) AS head,
    (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.number) FROM intent_revisions v
      WHERE v.project_id = s.project_id AND v.session_id = s.id) AS revisions,
    (SELECT jsonb_agg(to_jsonb(b) ORDER BY b.run_id, b.number) FROM run_intent_bindings b
      WHERE b.project_id = s.project_id AND b.session_id = s.id) AS bindings,
    (SELECT jsonb_agg(to_jsonb(g) ORDER BY g.run_id, g.number) FROM protocol_segments g
      WHERE g.project_id = s.project_id AND g.session_id = s.id) AS segments,
    (SELECT jsonb_agg(to_jsonb(r) ORDER BY r.id) FROM runs r
      WHERE r.project_id = s.project_id AND r.session_id = s.id AND r.ended_at IS NOT NULL) AS ended,
    (SELECT jsonb_object_agg(q.requirement_id, q.state) FROM (
       SELECT DISTINCT ON (requirement_id) requirement_id, state FROM requirement_states x
        WHERE x.project_id = s.project_id AND x.session_id = s.id ORDER BY requirement_id, number DESC) q) AS requirements
    FROM sessions s WHERE s.project_id = $1 AND s.id = $2`

type Row = Record<string, unknown>
interface Rows {
  head: string | null
  revisions: Row[] | null
  bindings: Row[] | null
  segments: Row[] | null
  ended: Row[] | null
  requirements: Record<string, string> | null
}
const timeOf = (value: unknown) => (value === null ? null : new Date(value as string).toISOString())

/** A session as its rows say, in the words of a replay; by run, and in the order of each run. */
export async function standingInRows(client: pg.Client, sessionId: string): Promise<Standing> {
  const { projectId = '', id: session = '' } = decodeId(sessionId) ?? {}
  const { rows } = await client.query<Rows>(standing, [projectId, session])
  const [s] = rows
  if (!s) throw new Error('the session is not there')
  const id = (type: NodeType, value: unknown) =>
    value === null ? null : encodeId({ type, projectId, id: value as string })
  const revision = (v: Row): ToldRevision => ({
    id: id('IntentRevision', v.id) as string,
    number: v.number as number,
    previous: id('IntentRevision', v.previous_id),
    taskId: v.task_id as string,
    protocol: v.protocol as string,
    text: v.text as string,
    requirements: (v.requirements as Row[]).map((each) => ({
      id: id('Requirement', each.id) as string,
      text: each.text as string,
      messageId: id('Message', each.messageId),
    })),
    changeKind: v.change_kind as string,
    runId: id('Run', v.run_id),
    messageId: id('Message', v.message_id),
    author: encodeId({ type: 'Principal', id: v.author_id as string }),
    note: v.note as string | null,
    at: timeOf(v.at) as string,
  })
  const binding = (b: Row): ToldBinding => ({
    runId: id('Run', b.run_id) as string,
    number: b.number as number,
    base: id('IntentRevision', b.base_id),
    active: id('IntentRevision', b.active_id),
    relation: b.relation as string,
    reason: b.reason as string,
    by: encodeId({ type: 'Principal', id: b.by_id as string }),
    at: timeOf(b.at) as string,
  })
  const segment = (g: Row): ToldSegment => ({
    id: id('ProtocolSegment', g.id) as string,
    runId: id('Run', g.run_id) as string,
    number: g.number as number,
    protocol: g.protocol as string,
    state: g.state as string,
    revision: g.revision as number,
    phase: g.phase as string,
    facts: g.facts as ToldSegment['facts'],
    openedBy: g.opened_by as string,
    closedBy: g.closed_by as string | null,
    openedAt: timeOf(g.opened_at) as string,
    closedAt: timeOf(g.closed_at),
  })
  return {
    head: id('IntentRevision', s.head),
    revisions: (s.revisions ?? []).map(revision),
    bindings: (s.bindings ?? []).map(binding),
    segments: (s.segments ?? []).map(segment),
    ended: (s.ended ?? []).map((r) => ({
      runId: id('Run', r.id) as string,
      state: r.state as string,
      head: id('IntentRevision', r.head_at_end_id),
    })),
    requirements: Object.fromEntries(
      Object.entries(s.requirements ?? {}).map(([key, state]) => [id('Requirement', key) as string, state]),
    ),
  }
}

/** The same session, its lists in an order that both ways of telling it have. */
export function sorted(session: Standing): Standing {
  const by =
    <T>(key: (value: T) => string) =>
    (a: T, b: T) =>
      key(a) < key(b) ? -1 : 1
  const ofRun = by<{ runId: string; number: number }>(
    ({ runId, number }) => `${runId} ${String(number).padStart(6, '0')}`,
  )
  return {
    ...session,
    bindings: [...session.bindings].sort(ofRun),
    segments: [...session.segments].sort(ofRun),
    ended: [...session.ended].sort(by(({ runId }) => runId)),
  }
}

const tables: Partial<Record<NodeType, string>> = {
  Session: 'sessions',
  Run: 'runs',
  IntentRevision: 'intent_revisions',
  ProtocolSegment: 'protocol_segments',
  Action: 'actions',
  Checkpoint: 'checkpoints',
}
/** Those of these ids that name a row which is not there. */
export async function missing(client: pg.Client, ids: readonly string[]): Promise<string[]> {
  const gone: string[] = []
  for (const [type, table] of Object.entries(tables)) {
    const named = ids.filter((id) => decodeId(id)?.type === type)
    const { rows } = await client.query<{ id: string }>(
      `SELECT x.id FROM unnest($1::text[], $2::uuid[], $3::uuid[]) AS x(id, project, key)
        WHERE NOT EXISTS (SELECT FROM ${table} t WHERE t.project_id = x.project AND t.id = x.key)`,
      [named, named.map((id) => decodeId(id)?.projectId), named.map((id) => decodeId(id)?.id)],
    )
    gone.push(...rows.map(({ id }) => id))
  }
  return gone
}
