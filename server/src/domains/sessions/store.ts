import { type Db, Prisma, rowsOf, type Tx } from '../../platform/database.ts'
import type { Ref } from '../../platform/ids.ts'
import type { SessionEventType } from '../../platform/journal.ts'
import { rowsByRef, tableOf } from '../../platform/rows.ts'
import type { ThinkingLevel } from '../projects/rules.ts'
import type { SessionState } from './rules.ts'

type Reader = Db | Tx

/** A session locked for the rest of the transaction, with what its project allows. */
export interface LockedSession extends Ref {
  state: SessionState
  generation: number
  title: string
  model: string | null
  thinkingLevel: ThinkingLevel | null
  liveRuns: number
  lastSequence: number
  maxConcurrentRuns: number
  maxLiveRunsPerSession: number
  maxEventBytes: number
  runTimeoutMs: number
  offerTimeoutMs: number
  runtimeGraceMs: number
  approvalTtlMs: number
  projectLiveRuns: number
  /** The revision of its task that it is at: its head, or the one that it was forked at. */
  headId: string | null
}

/** Needs `s`, `p` and `l` in scope. */
const lockedSessionColumns = Prisma.sql`
  s.project_id AS "projectId", s.id, s.state, s.generation, s.title, s.model, s.thinking_level AS "thinkingLevel",
  s.live_runs AS "liveRuns", s.last_sequence AS "lastSequence",
  p.max_concurrent_runs AS "maxConcurrentRuns", p.max_live_runs_per_session AS "maxLiveRunsPerSession",
  p.max_event_bytes AS "maxEventBytes", p.run_timeout_ms AS "runTimeoutMs", p.offer_timeout_ms AS "offerTimeoutMs",
  p.runtime_grace_ms AS "runtimeGraceMs", p.approval_ttl_ms AS "approvalTtlMs", l.live_runs AS "projectLiveRuns",
  coalesce(s.intent_head_id, s.fork_revision_id) AS "headId"`

const strengths = {
  /** Orders all who write in a session; whoever forks it meanwhile reads on. */
  WRITE: Prisma.sql`FOR NO KEY UPDATE OF s`,
  /** Keeps it from being deleted, and nobody from writing. */
  KEEP: Prisma.sql`FOR KEY SHARE OF s`,
  /** Alone with it, forks and all. */
  DELETE: Prisma.sql`FOR UPDATE OF s`,
}
export type LockStrength = keyof typeof strengths

/** Takes the session's row lock, which orders everything that happens in the session. */
export async function lockSession(
  tx: Tx,
  ref: Ref,
  strength: LockStrength = 'WRITE',
): Promise<LockedSession | null> {
  const rows = await tx.$queryRaw<LockedSession[]>(Prisma.sql`
    SELECT ${lockedSessionColumns}
      FROM sessions s JOIN projects p ON p.id = s.project_id JOIN project_load l ON l.project_id = s.project_id
     WHERE s.project_id = ${ref.projectId}::uuid AND s.id = ${ref.id}::uuid ${strengths[strength]}`)
  return rows[0] ?? null
}

/** The same for the session of a run. */
export async function lockSessionOfRun(tx: Tx, run: Ref): Promise<LockedSession | null> {
  const rows = await tx.$queryRaw<LockedSession[]>(Prisma.sql`
    SELECT ${lockedSessionColumns}
      FROM sessions s JOIN projects p ON p.id = s.project_id JOIN project_load l ON l.project_id = s.project_id
     WHERE s.project_id = ${run.projectId}::uuid
       AND s.id = (SELECT session_id FROM runs WHERE project_id = ${run.projectId}::uuid AND id = ${run.id}::uuid)
       ${strengths.WRITE}`)
  return rows[0] ?? null
}

/** Inserts an OPEN session of generation 1 when the project has room for one more; false when it has not. */
export async function insertSession(
  tx: Tx,
  session: Ref & { title: string; createdBy: string; now: Date },
): Promise<boolean> {
  const rows = await tx.$queryRaw<{ id: string }[]>(Prisma.sql`
    WITH room AS (
      UPDATE project_load l SET sessions = l.sessions + 1, open_sessions = l.open_sessions + 1
        FROM projects p
       WHERE p.id = ${session.projectId}::uuid AND l.project_id = p.id AND l.open_sessions < p.max_open_sessions
      RETURNING p.id, p.default_model, p.default_thinking_level
    )
    INSERT INTO sessions (project_id, id, title, state, model, thinking_level, created_at, created_by, last_activity_at)
    SELECT room.id, ${session.id}::uuid, ${session.title}, 'OPEN', room.default_model, room.default_thinking_level,
           ${session.now}::timestamptz, ${session.createdBy}::uuid, ${session.now}::timestamptz
      FROM room RETURNING id`)
  return rows.length === 1
}

/** Moves a session between OPEN and CLOSED and raises its generation. Opening answers false when the project is full. */
export async function setState(tx: Tx, ref: Ref, state: SessionState, now: Date): Promise<boolean> {
  const step = state === 'OPEN' ? 1 : -1
  const rows = await tx.$queryRaw<{ id: string }[]>(Prisma.sql`
    WITH room AS (
      UPDATE project_load l SET open_sessions = l.open_sessions + ${step}::int
        FROM projects p
       WHERE p.id = ${ref.projectId}::uuid AND l.project_id = p.id
         AND (${step}::int < 0 OR l.open_sessions < p.max_open_sessions)
      RETURNING p.id
    )
    UPDATE sessions s SET state = ${state}, generation = s.generation + 1,
           closed_at = ${state === 'CLOSED' ? now : null}::timestamptz
      FROM room WHERE s.project_id = room.id AND s.id = ${ref.id}::uuid RETURNING s.id`)
  return rows.length === 1
}

export const setTitle = (tx: Tx, ref: Ref, title: string) =>
  tx.$executeRaw`UPDATE sessions SET title = ${title} WHERE project_id = ${ref.projectId}::uuid AND id = ${ref.id}::uuid`

export const setModel = (tx: Tx, ref: Ref, model: string | null, thinkingLevel: string | null) =>
  tx.$executeRaw`UPDATE sessions SET model = ${model}, thinking_level = ${thinkingLevel}
                  WHERE project_id = ${ref.projectId}::uuid AND id = ${ref.id}::uuid`

/** Deletes everything of a session in the caller's transaction, under the mark that the append-only trigger accepts. */
export async function purgeSession(tx: Tx, ref: Ref, state: SessionState): Promise<void> {
  await tx.$executeRaw`SELECT set_config('wheelhouse.purge', 'on', true)`
  const here = Prisma.sql`project_id = ${ref.projectId}::uuid AND session_id = ${ref.id}::uuid`
  await tx.$executeRaw`DELETE FROM session_events WHERE ${here}`
  await tx.$executeRaw`DELETE FROM messages WHERE ${here}`
  await tx.$executeRaw`DELETE FROM project_events WHERE ${here}`
  await tx.$executeRaw`DELETE FROM runtime_signals WHERE ${here}`
  await tx.$executeRaw`
    DELETE FROM outbox o USING inbox_items i
     WHERE o.project_id = ${ref.projectId}::uuid AND i.project_id = o.project_id AND i.session_id = ${ref.id}::uuid AND o.key = i.id::text`
  const inbox = await tx.$queryRaw<{ open: number }[]>`
    WITH gone AS (DELETE FROM inbox_items WHERE ${here} RETURNING state)
    SELECT count(*) FILTER (WHERE state = 'OPEN')::int AS open FROM gone`
  await tx.$executeRaw`DELETE FROM actions WHERE ${here}`
  await tx.$executeRaw`DELETE FROM protocol_segments WHERE ${here}`
  await tx.$executeRaw`DELETE FROM run_intent_bindings WHERE ${here}`
  await tx.$executeRaw`DELETE FROM requirement_states WHERE ${here}`
  await tx.$executeRaw`DELETE FROM checkpoints WHERE ${here}`
  await purgeRevisions(tx, ref)
  await tx.$executeRaw`DELETE FROM approvals WHERE ${here}`
  await tx.$executeRaw`DELETE FROM route_decisions WHERE ${here}`
  await tx.$executeRaw`DELETE FROM runs WHERE ${here}`
  await tx.$executeRaw`DELETE FROM grants WHERE ${here}`
  await tx.$executeRaw`DELETE FROM sessions WHERE project_id = ${ref.projectId}::uuid AND id = ${ref.id}::uuid`
  await tx.$executeRaw`
    UPDATE project_load SET sessions = sessions - 1, open_sessions = open_sessions - ${state === 'OPEN' ? 1 : 0}::int,
           inbox_open = inbox_open - ${inbox[0]?.open ?? 0}::int
     WHERE project_id = ${ref.projectId}::uuid`
  await tx.$executeRaw`SELECT set_config('wheelhouse.purge', 'off', true)`
}

/**
 * Deletes a session's revisions, but not those at which other sessions were forked, its grandchildren's too: each of them
 * goes when the last such session goes. Locked first, so that of sessions that are deleted at once one sees the other gone.
 */
async function purgeRevisions(tx: Tx, ref: Ref): Promise<void> {
  const self = Prisma.sql`s.project_id = ${ref.projectId}::uuid AND s.id = ${ref.id}::uuid`
  const forkedHere = Prisma.sql`
    EXISTS (SELECT FROM sessions f WHERE f.project_id = r.project_id AND f.fork_revision_id = r.id AND f.id <> ${ref.id}::uuid)`
  const touched = Prisma.sql`r.project_id = s.project_id AND (r.session_id = s.id OR r.id = s.fork_revision_id)`
  await tx.$executeRaw`
    SELECT 1 FROM sessions s JOIN intent_revisions r ON ${touched} WHERE ${self} ORDER BY r.id FOR UPDATE OF r`
  await tx.$executeRaw`
    DELETE FROM intent_revisions r USING sessions s
     WHERE ${self} AND ${touched} AND NOT ${forkedHere}
       AND NOT EXISTS (SELECT FROM sessions o WHERE o.project_id = r.project_id AND o.id = r.session_id AND o.id <> s.id)`
}

export interface NewMessage extends Ref {
  sessionId: string
  sequence: number
  authorId: string
  authority: string
  runId: string | null
  answersId: string | null
  text: string
  /** The text cut into words, for the search index. */
  words: string
  at: Date
}
export const insertMessage = (tx: Tx, m: NewMessage) => tx.$executeRaw`
  WITH counted AS (
    UPDATE sessions SET message_count = message_count + 1 WHERE project_id = ${m.projectId}::uuid AND id = ${m.sessionId}::uuid
  )
  INSERT INTO messages (project_id, id, session_id, sequence, author_id, authority, run_id, answers_id, text, search, at)
  VALUES (${m.projectId}::uuid, ${m.id}::uuid, ${m.sessionId}::uuid, ${m.sequence}, ${m.authorId}::uuid, ${m.authority},
          ${m.runId}::uuid, ${m.answersId}::uuid, ${m.text}, to_tsvector('simple', ${m.words}), ${m.at}::timestamptz)`

export type SessionRow = Prisma.SessionGetPayload<object>
export type MessageRow = Prisma.MessageGetPayload<object>

const sessions = tableOf('sessions', Prisma.SessionScalarFieldEnum)
const messages = tableOf('messages', Prisma.MessageScalarFieldEnum)
export const sessionsByRef = (db: Reader, refs: readonly Ref[]) => rowsByRef<SessionRow>(db, sessions, refs)
export const messagesByRef = (db: Reader, refs: readonly Ref[]) => rowsByRef<MessageRow>(db, messages, refs)

/** The newest messages before a position, newest first: the window that a runtime gets. */
export const messagesBefore = (db: Reader, session: Ref, sequence: number, most: number) =>
  db.message.findMany({
    where: { projectId: session.projectId, sessionId: session.id, sequence: { lt: sequence } },
    orderBy: { sequence: 'desc' },
    take: most,
  })

export interface SessionFilter {
  states?: string[] | undefined
  text?: string | undefined
  model?: string | undefined
  protocol?: string | undefined
  runStates?: string[] | undefined
  pendingApproval?: boolean | undefined
  activeAfter?: Date | undefined
  activeBefore?: Date | undefined
}
export type SessionOrder = 'LAST_ACTIVITY_DESC' | 'LAST_ACTIVITY_ASC' | 'CREATED_DESC' | 'CREATED_ASC'

/** A page of a project's sessions, `visible` of them; one row more than asked for. */
export const sessionPage = (
  db: Reader,
  projectId: string,
  visible: 'all' | string[],
  filter: SessionFilter,
  order: SessionOrder,
  page: { first: number; after: [at: string, id: string] | null },
) => {
  const column = order.startsWith('CREATED') ? 'createdAt' : 'lastActivityAt'
  const direction = order.endsWith('DESC') ? 'desc' : 'asc'
  const beyond = direction === 'desc' ? 'lt' : 'gt'
  const and: Prisma.SessionWhereInput[] = []
  if (visible !== 'all') and.push({ id: { in: visible } })
  if (filter.states) and.push({ state: { in: filter.states } })
  if (filter.model !== undefined) and.push({ model: filter.model })
  if (filter.runStates) and.push({ lastRunState: { in: filter.runStates } })
  if (filter.pendingApproval !== undefined)
    and.push({ openApprovals: filter.pendingApproval ? { gt: 0 } : 0 })
  if (filter.activeAfter) and.push({ lastActivityAt: { gte: filter.activeAfter } })
  if (filter.activeBefore) and.push({ lastActivityAt: { lt: filter.activeBefore } })
  // A session without a task is under no protocol but the general one.
  if (filter.protocol !== undefined) {
    const under = { protocol: { startsWith: filter.protocol } }
    and.push('general-task@1'.startsWith(filter.protocol) ? { OR: [under, { protocol: null }] } : under)
  }
  if (filter.text) {
    and.push({
      OR: [
        { title: { contains: filter.text, mode: 'insensitive' } },
        { summary: { contains: filter.text, mode: 'insensitive' } },
      ],
    })
  }
  if (page.after) {
    const [at, id] = page.after
    and.push({
      OR: [{ [column]: { [beyond]: new Date(at) } }, { [column]: new Date(at), id: { [beyond]: id } }],
    })
  }
  return db.session.findMany({
    where: { projectId, AND: and },
    orderBy: [{ [column]: direction }, { id: direction }],
    take: page.first + 1,
  })
}

export interface EventRow {
  projectId: string
  sessionId: string
  sequence: number
  runId: string | null
  runSequence: number | null
  type: SessionEventType
  payload: unknown
  at: Date
}
export interface EventFilter {
  types?: readonly string[] | undefined
  runIds?: readonly string[] | undefined
}
const eventColumns = Prisma.sql`e.sequence, e.run_id AS "runId", e.run_sequence AS "runSequence", e.type, e.payload, e.at`
/** Whose events they are is known, and would be two of eight columns of each row of a long replay. */
async function eventsOf({ projectId, id: sessionId }: Ref, rows: Promise<EventRow[]>): Promise<EventRow[]> {
  const events = await rows
  for (const event of events) {
    event.projectId = projectId
    event.sessionId = sessionId
  }
  return events
}
const eventFilter = (filter: EventFilter) => Prisma.sql`
  (${filter.types ?? null}::text[] IS NULL OR e.type = ANY (${filter.types ?? null}::text[]))
  AND (${filter.runIds ?? null}::uuid[] IS NULL OR e.run_id = ANY (${filter.runIds ?? null}::uuid[]))`

/** Where a session's journal begins and ends, and whether the session is open; null when it is gone. */
export interface JournalBounds {
  latest: number
  earliest: number
  state: SessionState
}
export async function journalBounds(db: Reader, ref: Ref): Promise<JournalBounds | null> {
  const rows = await rowsOf<JournalBounds>(
    db,
    Prisma.sql`
    SELECT last_sequence AS latest, first_sequence AS earliest, state FROM sessions
     WHERE project_id = ${ref.projectId}::uuid AND id = ${ref.id}::uuid`,
  )
  return rows[0] ?? null
}

/**
 * Events with sequence in (after, through], ascending, at most `most`, that pass the filter. The range bounds the work,
 * so a filter that matches nothing costs no more than its range.
 */
export const eventsBetween = (
  db: Reader,
  ref: Ref,
  after: number,
  through: number,
  most: number,
  filter: EventFilter,
) =>
  eventsOf(
    ref,
    rowsOf<EventRow>(
      db,
      Prisma.sql`
    SELECT ${eventColumns} FROM session_events e
     WHERE e.project_id = ${ref.projectId}::uuid AND e.session_id = ${ref.id}::uuid
       AND e.sequence > ${after} AND e.sequence <= ${through} AND ${eventFilter(filter)}
     ORDER BY e.sequence LIMIT ${most}`,
    ),
  )

/** The same from the end of the range: the last `most`, descending. */
export const eventsBetweenBackwards = (
  db: Reader,
  ref: Ref,
  after: number,
  through: number,
  most: number,
  filter: EventFilter,
) =>
  eventsOf(
    ref,
    rowsOf<EventRow>(
      db,
      Prisma.sql`
    SELECT ${eventColumns} FROM session_events e
     WHERE e.project_id = ${ref.projectId}::uuid AND e.session_id = ${ref.id}::uuid
       AND e.sequence > ${after} AND e.sequence <= ${through} AND ${eventFilter(filter)}
     ORDER BY e.sequence DESC LIMIT ${most}`,
    ),
  )

/** News of many watched sessions in one statement: a row a session that still exists, its new events with it. */
export interface SessionNews extends Ref {
  latest: number
  earliest: number
  events:
    | {
        sequence: number
        runId: string | null
        runSequence: number | null
        type: SessionEventType
        payload: unknown
        at: string
      }[]
    | null
}
export const newsOfSessions = (db: Reader, watched: (Ref & { after: number })[], most: number) =>
  rowsOf<SessionNews>(
    db,
    Prisma.sql`
    SELECT s.project_id AS "projectId", s.id, s.last_sequence AS latest, s.first_sequence AS earliest, n.events
      FROM unnest(${watched.map((w) => w.projectId)}::uuid[], ${watched.map((w) => w.id)}::uuid[],
                  ${watched.map((w) => w.after)}::int[]) AS w(project_id, id, after)
      JOIN sessions s ON s.project_id = w.project_id AND s.id = w.id
      LEFT JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object('sequence', e.sequence, 'runId', e.run_id, 'runSequence', e.run_sequence,
                         'type', e.type, 'payload', e.payload,
                         'at', to_char(e.at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY e.sequence) AS events
          FROM (SELECT * FROM session_events e
                 WHERE s.last_sequence > w.after AND e.project_id = w.project_id AND e.session_id = w.id AND e.sequence > w.after
                 ORDER BY e.sequence LIMIT ${most}) e
      ) n ON true`,
  )

/** The first SESSION_CLOSED event in (after, through], if any. */
export async function firstCloseAfter(
  db: Reader,
  ref: Ref,
  after: number,
  through: number,
): Promise<number | null> {
  if (through <= after) return null
  const rows = await rowsOf<{ sequence: number }>(
    db,
    Prisma.sql`
    SELECT sequence FROM session_events
     WHERE project_id = ${ref.projectId}::uuid AND session_id = ${ref.id}::uuid AND sequence > ${after} AND sequence <= ${through}
       AND type = 'SESSION_CLOSED' ORDER BY sequence LIMIT 1`,
  )
  return rows[0]?.sequence ?? null
}
