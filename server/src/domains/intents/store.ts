import { type Db, Prisma, rowsOf, type Tx } from '../../platform/database.ts'
import type { Ref } from '../../platform/ids.ts'
import { rowsByRef, tableOf } from '../../platform/rows.ts'
import type {
  BindingReason,
  Change,
  Head,
  Relation,
  Requirement,
  RequirementNow,
  RequirementState,
} from './rules.ts'

type Reader = Db | Tx
export type RevisionRow = Prisma.IntentRevisionGetPayload<object>
const revisions = tableOf('intent_revisions', Prisma.IntentRevisionScalarFieldEnum)
export type BindingRow = Prisma.RunIntentBindingGetPayload<object>

const projectsOf = (refs: readonly Ref[]) => [...new Set(refs.map((ref) => ref.projectId))]

/** The latest state of each requirement of revision `r` in the session `s`, as an object by id. */
const statesOf = Prisma.sql`
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(x.requirement_id, x.state) AS states FROM (
      SELECT DISTINCT ON (q.requirement_id) q.requirement_id, q.state FROM requirement_states q
       WHERE q.project_id = s.project_id AND q.session_id = s.id
         AND q.requirement_id IN (SELECT (e->>'id')::uuid FROM jsonb_array_elements(r.requirements) e)
       ORDER BY q.requirement_id, q.number DESC) x
  ) q ON true`

interface HeadRow extends Omit<Head, 'requirements'> {
  number: number
  own: boolean
  requirements: Requirement[]
  states: Record<string, RequirementState> | null
}
export interface NumberedHead extends Head {
  number: number
  /** Whether it is a revision of the session itself, and not the one that it was forked at. */
  own: boolean
}
const withStates = ({ requirements, states, ...row }: HeadRow): NumberedHead => ({
  ...row,
  requirements: requirements.map((each): RequirementNow => ({ ...each, state: states?.[each.id] ?? 'OPEN' })),
})

const headColumns = Prisma.sql`r.id, r.number, r.session_id = s.id AS own, r.task_id AS "taskId", r.protocol, r.text, r.requirements, q.states`

/** The task of a session as it is: its head, or the revision that it was forked at; null while it has none. */
export async function headOf(db: Reader, session: Ref): Promise<NumberedHead | null> {
  const rows = await rowsOf<HeadRow>(
    db,
    Prisma.sql`
    SELECT ${headColumns} FROM sessions s
      JOIN intent_revisions r ON r.project_id = s.project_id AND r.id = coalesce(s.intent_head_id, s.fork_revision_id)
      ${statesOf}
     WHERE s.project_id = ${session.projectId}::uuid AND s.id = ${session.id}::uuid`,
  )
  return rows[0] ? withStates(rows[0]) : null
}

/** A revision that a session can be at: one of its own, or the one that it was forked at. */
export async function revisionIn(db: Reader, session: Ref, revisionId: string): Promise<NumberedHead | null> {
  const rows = await rowsOf<HeadRow>(
    db,
    Prisma.sql`
    SELECT ${headColumns} FROM sessions s
      JOIN intent_revisions r ON r.project_id = s.project_id AND r.id = ${revisionId}::uuid
       AND (r.session_id = s.id OR r.id = s.fork_revision_id)
      ${statesOf}
     WHERE s.project_id = ${session.projectId}::uuid AND s.id = ${session.id}::uuid`,
  )
  return rows[0] ? withStates(rows[0]) : null
}

export interface NewRevision {
  id: string
  expectedHeadId: string | null
  change: Change
  runId: string | null
  messageId: string | null
  authorId: string
  note: string | null
  /** What a session that has no title of its own is called from now on, and the word that says so. */
  title: string
  untitled: string
  now: Date
}

/** Writes a revision and moves the head to it, if the head is still the expected one. Gives its number, or null. */
export async function insertRevision(tx: Tx, session: Ref, r: NewRevision): Promise<number | null> {
  const rows = await tx.$queryRaw<{ number: number }[]>(Prisma.sql`
    WITH s AS (
      UPDATE sessions SET intent_head_id = ${r.id}::uuid, intent_count = intent_count + 1, protocol = ${r.change.protocol},
             title = CASE WHEN title = ${r.untitled} THEN ${r.title} ELSE title END
       WHERE project_id = ${session.projectId}::uuid AND id = ${session.id}::uuid
         AND coalesce(intent_head_id, fork_revision_id) IS NOT DISTINCT FROM ${r.expectedHeadId}::uuid
      RETURNING project_id, id, intent_count
    )
    INSERT INTO intent_revisions (project_id, id, session_id, number, task_id, previous_id, protocol, text, requirements,
                                  change_kind, run_id, message_id, author_id, note, at)
    SELECT s.project_id, ${r.id}::uuid, s.id, s.intent_count, ${r.change.taskId}::uuid, ${r.expectedHeadId}::uuid,
           ${r.change.protocol}, ${r.change.text}, ${JSON.stringify(r.change.requirements)}::jsonb, ${r.change.kind},
           ${r.runId}::uuid, ${r.messageId}::uuid, ${r.authorId}::uuid, ${r.note}, ${r.now}::timestamptz
      FROM s RETURNING number`)
  return rows[0]?.number ?? null
}

/** What runs are bound to now. */
export const bindingsOf = (db: Reader, runs: readonly Ref[]) => db.$queryRaw<BindingRow[]>`
  SELECT DISTINCT ON (project_id, run_id) project_id AS "projectId", run_id AS "runId", number, session_id AS "sessionId",
         base_id AS "baseId", active_id AS "activeId", relation, reason, by_id AS "byId", at
    FROM run_intent_bindings
   WHERE project_id = ANY (${projectsOf(runs)}::uuid[]) AND run_id = ANY (${runs.map((run) => run.id)}::uuid[])
   ORDER BY project_id, run_id, number DESC`

export const allBindingsOf = (db: Reader, run: Ref) =>
  db.runIntentBinding.findMany({
    where: { projectId: run.projectId, runId: run.id },
    orderBy: { number: 'asc' },
  })

export interface NewBinding {
  runId: string
  baseId: string | null
  activeId: string | null
  relation: Relation
  reason: BindingReason
  byId: string
  now: Date
}
export const insertBinding = (tx: Tx, session: Ref, b: NewBinding) => tx.$executeRaw`
  INSERT INTO run_intent_bindings (project_id, run_id, number, session_id, base_id, active_id, relation, reason, by_id, at)
  SELECT ${session.projectId}::uuid, ${b.runId}::uuid, coalesce(max(number), 0) + 1, ${session.id}::uuid, ${b.baseId}::uuid,
         ${b.activeId}::uuid, ${b.relation}, ${b.reason}, ${b.byId}::uuid, ${b.now}::timestamptz
    FROM run_intent_bindings WHERE project_id = ${session.projectId}::uuid AND run_id = ${b.runId}::uuid`

export interface NewRequirementState {
  requirementId: string
  state: RequirementState
  sequence: number
  runId: string | null
  actionId: string | null
  byId: string
  now: Date
}
export const insertRequirementState = (tx: Tx, session: Ref, r: NewRequirementState) => tx.$executeRaw`
  INSERT INTO requirement_states (project_id, session_id, requirement_id, number, state, sequence, run_id, action_id, by_id, at)
  SELECT ${session.projectId}::uuid, ${session.id}::uuid, ${r.requirementId}::uuid, coalesce(max(number), 0) + 1, ${r.state},
         ${r.sequence}, ${r.runId}::uuid, ${r.actionId}::uuid, ${r.byId}::uuid, ${r.now}::timestamptz
    FROM requirement_states
   WHERE project_id = ${session.projectId}::uuid AND session_id = ${session.id}::uuid AND requirement_id = ${r.requirementId}::uuid`

/** The present states of requirements in sessions. */
export const requirementStatesOf = (
  db: Reader,
  sessions: readonly Ref[],
  requirementIds: readonly string[],
) => db.$queryRaw<
  { sessionId: string; requirementId: string; state: RequirementState; actionId: string | null }[]
>`
  SELECT DISTINCT ON (session_id, requirement_id) session_id AS "sessionId", requirement_id AS "requirementId", state,
         action_id AS "actionId"
    FROM requirement_states
   WHERE project_id = ANY (${projectsOf(sessions)}::uuid[]) AND session_id = ANY (${sessions.map((session) => session.id)}::uuid[])
     AND requirement_id = ANY (${[...requirementIds]}::uuid[])
   ORDER BY session_id, requirement_id, number DESC`

export const revisionsByRef = (db: Reader, refs: readonly Ref[]) =>
  rowsByRef<RevisionRow>(db, revisions, refs)

/** A session's own revisions, newest first, below a number; one more than asked for. */
export const revisionPage = (db: Reader, session: Ref, first: number, below: number | null) =>
  db.intentRevision.findMany({
    where: {
      projectId: session.projectId,
      sessionId: session.id,
      ...(below !== null && { number: { lt: below } }),
    },
    orderBy: { number: 'desc' },
    take: first + 1,
  })
