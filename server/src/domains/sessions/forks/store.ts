import { type Db, Prisma, type Tx } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'
import { rowsByRef, tableOf } from '../../../platform/rows.ts'
import { type SessionRow, sessionsByRef } from '../store.ts'

type Reader = Db | Tx
export type CheckpointRow = Prisma.CheckpointGetPayload<object>

const checkpoints = tableOf('checkpoints', Prisma.CheckpointScalarFieldEnum)
export const checkpointsByRef = (db: Reader, refs: readonly Ref[]) =>
  rowsByRef<CheckpointRow>(db, checkpoints, refs)

export interface NewCheckpoint {
  id: string
  runId: string | null
  label: string | null
  revisionId: string | null
  byId: string
  now: Date
}
/** Marks where a session is: the end of its journal and of its transcript, and the task. */
export async function insertCheckpoint(
  tx: Tx,
  session: Ref,
  c: NewCheckpoint,
): Promise<{ number: number; sequence: number; messageSequence: number }> {
  const rows = await tx.$queryRaw<{ number: number; sequence: number; messageSequence: number }[]>`
    WITH s AS (
      UPDATE sessions SET checkpoint_count = checkpoint_count + 1
       WHERE project_id = ${session.projectId}::uuid AND id = ${session.id}::uuid
      RETURNING project_id, id, checkpoint_count, last_sequence
    )
    INSERT INTO checkpoints (project_id, id, session_id, number, run_id, label, sequence, message_sequence, revision_id, by_id, at)
    SELECT s.project_id, ${c.id}::uuid, s.id, s.checkpoint_count, ${c.runId}::uuid, ${c.label}, s.last_sequence,
           coalesce((SELECT sequence FROM messages m WHERE m.project_id = s.project_id AND m.session_id = s.id ORDER BY sequence DESC LIMIT 1), 0),
           ${c.revisionId}::uuid, ${c.byId}::uuid, ${c.now}::timestamptz
      FROM s RETURNING number, sequence, message_sequence AS "messageSequence"`
  const [row] = rows
  if (!row) throw new Error('the session of a checkpoint is not locked')
  return row
}

/** A place in a session: all of its journal up to `sequence`, and the task there. */
export interface Place {
  sequence: number
  revisionId: string | null
}
/** Where a checkpoint of the session is; null for one that it has not. */
export async function placeOfCheckpoint(tx: Tx, session: Ref, id: string): Promise<Place | null> {
  const rows = await tx.$queryRaw<Place[]>`
    SELECT sequence, revision_id AS "revisionId" FROM checkpoints
     WHERE project_id = ${session.projectId}::uuid AND session_id = ${session.id}::uuid AND id = ${id}::uuid`
  return rows[0] ?? null
}
/** The place before the message of a run of the session, with the task that it was routed on; null for one that it has not. */
export async function placeBeforeRun(tx: Tx, session: Ref, id: string): Promise<Place | null> {
  const rows = await tx.$queryRaw<Place[]>`
    SELECT m.sequence - 1 AS sequence, b.base_id AS "revisionId" FROM runs r
      JOIN messages m ON m.project_id = r.project_id AND m.id = r.message_id
      JOIN run_intent_bindings b ON b.project_id = r.project_id AND b.run_id = r.id AND b.number = 1
     WHERE r.project_id = ${session.projectId}::uuid AND r.session_id = ${session.id}::uuid AND r.id = ${id}::uuid`
  return rows[0] ?? null
}

/** The messages of a session up to a place, in order, and their authors. */
export async function transcriptUpTo(
  tx: Tx,
  session: Ref,
  sequence: number,
): Promise<{ ids: string[]; authorIds: string[] }> {
  const rows = await tx.$queryRaw<{ ids: string[] | null; authorIds: string[] | null }[]>`
    SELECT array_agg(id::text ORDER BY sequence) AS ids, array_agg(DISTINCT author_id::text) AS "authorIds" FROM messages
     WHERE project_id = ${session.projectId}::uuid AND session_id = ${session.id}::uuid AND sequence <= ${sequence}`
  return { ids: rows[0]?.ids ?? [], authorIds: rows[0]?.authorIds ?? [] }
}

export interface NewFork {
  id: string
  parent: Ref
  title: string
  checkpointId: string | null
  runId: string | null
  revisionId: string | null
  createdBy: string
  now: Date
}
/**
 * Inserts the OPEN session of a fork, generation 1, with its parent's model settings and the protocol of its task; false
 * when the project has no room. It is not counted yet: see `takeRoom`.
 */
export async function insertFork(tx: Tx, f: NewFork): Promise<boolean> {
  const inserted = await tx.$executeRaw`
    INSERT INTO sessions (project_id, id, title, state, model, thinking_level, protocol, parent_id, forked_from_checkpoint_id,
                          forked_from_run_id, fork_revision_id, created_at, created_by, last_activity_at)
    SELECT s.project_id, ${f.id}::uuid, ${f.title}, 'OPEN', s.model, s.thinking_level, r.protocol, s.id, ${f.checkpointId}::uuid,
           ${f.runId}::uuid, ${f.revisionId}::uuid, ${f.now}::timestamptz, ${f.createdBy}::uuid, ${f.now}::timestamptz
      FROM sessions s JOIN projects p ON p.id = s.project_id JOIN project_load l ON l.project_id = s.project_id
      LEFT JOIN intent_revisions r ON r.project_id = s.project_id AND r.id = ${f.revisionId}::uuid
     WHERE s.project_id = ${f.parent.projectId}::uuid AND s.id = ${f.parent.id}::uuid AND l.open_sessions < p.max_open_sessions`
  return inserted === 1
}

/**
 * Counts an open session more, when the project has room for it. Last of all: whoever holds a project's load keeps all of
 * its turns waiting, and a long transcript takes its time.
 */
export async function takeRoom(tx: Tx, projectId: string): Promise<boolean> {
  const taken = await tx.$executeRaw`
    UPDATE project_load l SET sessions = l.sessions + 1, open_sessions = l.open_sessions + 1 FROM projects p
     WHERE p.id = ${projectId}::uuid AND l.project_id = p.id AND l.open_sessions < p.max_open_sessions`
  return taken === 1
}

/** A message to be copied: its key and the copy's, each with its public id. */
export interface Copy {
  id: string
  publicId: string
  newId: string
  newPublicId: string
}
/** What else an event's payload holds, in bytes at most, beside the text of its message. */
const roomForRest = 900

/**
 * Copies messages to the end of another session, in one statement: the messages, of no run there, with their authors, their
 * authority and their times; an event for each, not told in the project's feed, for it is no news; and the counts. A text
 * that is too large for one event is left out of its event, as where it was streamed.
 */
export const copyMessages = (
  tx: Tx,
  child: Ref,
  c: {
    after: number
    messages: readonly Copy[]
    authors: readonly { id: string; publicId: string }[]
    maxEventBytes: number
    now: Date
  },
) => tx.$executeRaw`
  WITH k AS (
    SELECT id, copy_of, new_id, public_id, n::int AS n
      FROM unnest(${c.messages.map((each) => each.id)}::uuid[], ${c.messages.map((each) => each.publicId)}::text[],
                  ${c.messages.map((each) => each.newId)}::uuid[], ${c.messages.map((each) => each.newPublicId)}::text[])
           WITH ORDINALITY AS k(id, copy_of, new_id, public_id, n)
  ), m AS (
    SELECT m.author_id, m.authority, m.text, m.search, m.at, k.n, k.new_id, k.public_id, k.copy_of, a.public_id AS author,
           q.new_id AS answers_id, q.public_id AS answers
      FROM k JOIN messages m ON m.project_id = ${child.projectId}::uuid AND m.id = k.id
      JOIN unnest(${c.authors.map((each) => each.id)}::uuid[], ${c.authors.map((each) => each.publicId)}::text[]) AS a(id, public_id)
        ON a.id = m.author_id
      LEFT JOIN k q ON q.id = m.answers_id
  ), copied AS (
    INSERT INTO messages (project_id, id, session_id, sequence, author_id, authority, answers_id, text, search, at)
    SELECT ${child.projectId}::uuid, m.new_id, ${child.id}::uuid, ${c.after}::int + m.n, m.author_id, m.authority, m.answers_id, m.text,
           m.search, m.at FROM m
  ), told AS (
    INSERT INTO session_events (project_id, session_id, sequence, type, payload, at)
    SELECT ${child.projectId}::uuid, ${child.id}::uuid, ${c.after}::int + m.n, 'MESSAGE',
           jsonb_build_object('messageId', m.public_id, 'copyOf', m.copy_of, 'runId', NULL, 'authority', m.authority, 'author', m.author,
                              'at', to_char(m.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
           || CASE WHEN m.answers IS NULL THEN '{}' ELSE jsonb_build_object('answers', m.answers) END
           || CASE WHEN octet_length(to_jsonb(m.text)::text) + ${roomForRest}::int <= ${c.maxEventBytes}::int
                   THEN jsonb_build_object('text', m.text) ELSE jsonb_build_object('streamed', true) END,
           ${c.now}::timestamptz FROM m
  )
  UPDATE sessions SET last_sequence = last_sequence + ${c.messages.length}::int, message_count = message_count + ${c.messages.length}::int
   WHERE project_id = ${child.projectId}::uuid AND id = ${child.id}::uuid`

/** What had become of the parent's requirements at a place, as the fork begins with it: all told by its event at `as`. */
export const copyRequirementStates = (tx: Tx, parent: Ref, sequence: number, child: Ref, as: number) =>
  tx.$executeRaw`
  INSERT INTO requirement_states (project_id, session_id, requirement_id, number, state, sequence, run_id, action_id, by_id, at)
  SELECT q.project_id, ${child.id}::uuid, q.requirement_id, 1, q.state, ${as}::int, q.run_id, q.action_id, q.by_id, q.at
    FROM (SELECT DISTINCT ON (requirement_id) * FROM requirement_states
           WHERE project_id = ${parent.projectId}::uuid AND session_id = ${parent.id}::uuid AND sequence <= ${sequence}::int
           ORDER BY requirement_id, number DESC) q`

/** A page of a session's checkpoints, newest first, below a number. */
export interface CheckpointPage {
  session: Ref
  /** 1 to 100. */
  first: number
  below: number | null
}
/** Pages of the checkpoints of any number of sessions, in one statement; one more each than asked for. */
export async function checkpointPages(
  db: Reader,
  pages: readonly CheckpointPage[],
): Promise<CheckpointRow[][]> {
  const rows = await db.$queryRaw<(CheckpointRow & { page: number })[]>(Prisma.sql`
    SELECT k.page::int, c.project_id AS "projectId", c.id, c.session_id AS "sessionId", c.number, c.run_id AS "runId", c.label, c.sequence,
           c.message_sequence AS "messageSequence", c.revision_id AS "revisionId", c.by_id AS "byId", c.at
      FROM unnest(${pages.map(({ session }) => session.projectId)}::uuid[], ${pages.map(({ session }) => session.id)}::uuid[],
                  ${pages.map(({ below }) => below)}::int[], ${pages.map(({ first }) => first + 1)}::int[])
           WITH ORDINALITY AS k(project_id, session_id, below, most, page)
     CROSS JOIN LATERAL (
       SELECT * FROM checkpoints
        WHERE project_id = k.project_id AND session_id = k.session_id AND number < coalesce(k.below, 2147483647)
        ORDER BY number DESC LIMIT k.most) c
     ORDER BY k.page, c.number DESC`)
  const lists = pages.map((): CheckpointRow[] => [])
  for (const row of rows) lists[row.page - 1]?.push(row)
  return lists
}

/** A page of a session's forks, newest first, after one of them: those of them that are `visible`. */
export interface ForkPage {
  session: Ref
  /** 1 to 100. */
  first: number
  after: [at: string, id: string] | null
  visible: 'all' | string[]
}
/** Pages of the forks of any number of sessions, in two statements; one more each than asked for. */
export async function forkPages(db: Reader, pages: readonly ForkPage[]): Promise<SessionRow[][]> {
  const named = [...new Set(pages.flatMap(({ visible }) => (visible === 'all' ? [] : visible)))]
  const found = await db.$queryRaw<(Ref & { page: number })[]>(Prisma.sql`
    SELECT k.page::int, k.project_id AS "projectId", f.id
      FROM unnest(${pages.map(({ session }) => session.projectId)}::uuid[], ${pages.map(({ session }) => session.id)}::uuid[],
                  ${pages.map(({ after }) => after?.[0] ?? null)}::timestamptz[], ${pages.map(({ after }) => after?.[1] ?? null)}::uuid[],
                  ${pages.map(({ first }) => first + 1)}::int[], ${pages.map(({ visible }) => visible === 'all')}::boolean[])
           WITH ORDINALITY AS k(project_id, session_id, at, after, most, every, page)
     CROSS JOIN LATERAL (
       SELECT id, created_at FROM sessions
        WHERE project_id = k.project_id AND parent_id = k.session_id AND (k.after IS NULL OR (created_at, id) < (k.at, k.after))
          AND (k.every OR id = ANY (${named}::uuid[]))
        ORDER BY created_at DESC, id DESC LIMIT k.most) f
     ORDER BY k.page, f.created_at DESC, f.id DESC`)
  const byId = new Map((await sessionsByRef(db, found)).map((row) => [row.id, row]))
  const lists = pages.map((): SessionRow[] => [])
  for (const { page, id } of found) {
    const row = byId.get(id)
    if (row) lists[page - 1]?.push(row)
  }
  return lists
}
