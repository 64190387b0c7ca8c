import type { Db } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'
import { notFound } from '../../../platform/refusal.ts'
import { type Platform, transact } from '../../../platform/transaction.ts'
import { audit, loadPrincipals } from '../../access/operations.ts'
import { authorize, type Viewer } from '../../access/rules.ts'
import type { EventRow } from '../journal/operations.ts'
import { loadSessions, type MessageRow, type SessionRow } from '../operations.ts'
import { downloadHeaders, type ExportFormat, markdown, readableEvents, records } from './rules.ts'
import * as store from './store.ts'

export interface SessionExport {
  headers: Record<string, string>
  /** The file in pieces; each page is read when the one before it was taken. */
  pieces: AsyncGenerator<string, void>
}

/** Where a session's export is served. */
export const exportsPath = '/exports/sessions/'

/**
 * Exports a session up to this moment: what is written later is left out. Runs, asks, segments and actions, which change, are as they are
 * when their page is read. Audited.
 * NOT_FOUND for a session that is not there for the caller, PERMISSION_DENIED without `session.export`.
 */
export async function exportSession(
  platform: Platform,
  viewer: Viewer,
  ref: Ref,
  format: ExportFormat,
): Promise<SessionExport> {
  const scope = { projectId: ref.projectId, sessionId: ref.id }
  const refusal = authorize(viewer, 'session.export', scope, 'session.read')
  if (refusal) throw refusal
  const [session] = await loadSessions(platform.db, [ref])
  if (!session) throw notFound()
  const exportedAt = platform.clock.now()
  await transact(platform, (unit) =>
    audit(
      unit,
      { viewer },
      {
        action: 'session.export',
        subject: { type: 'Session', ...ref },
        detail: { format, lastSequence: session.lastSequence },
      },
    ),
  )
  const write = { MARKDOWN: writeMarkdown, JSON: writeJson, JSONL: writeLines }[format]
  return {
    headers: downloadHeaders(format, session),
    pieces: gathered(write(platform.db, session, exportedAt)),
  }
}

/** Pages of rows, one after the other, until a page is empty. */
async function* rows<Row, Key>(
  start: Key,
  read: (after: Key) => Promise<Row[]>,
  keyOf: (row: Row) => Key,
): AsyncGenerator<Row, void> {
  for (let after = start; ; ) {
    const page = await read(after)
    const last = page.at(-1)
    if (last === undefined) return
    yield* page
    after = keyOf(last)
  }
}

const firstId = '00000000-0000-0000-0000-000000000000'
const messagesOf = (db: Db, session: SessionRow) =>
  rows(
    0,
    (after) => store.messagePage(db, session, after, session.lastSequence),
    (message) => message.sequence,
  )
const runsOf = (db: Db, session: SessionRow) =>
  rows(
    0,
    (after) => store.runPage(db, session, after, session.runCount),
    (run) => run.number,
  )
const approvalsOf = (db: Db, session: SessionRow, until: Date) =>
  rows(
    firstId,
    (after) => store.approvalPage(db, session, after, until),
    (approval) => approval.id,
  )
const routesOf = (db: Db, session: SessionRow, until: Date) =>
  rows(
    firstId,
    (after) => store.routePage(db, session, after, until),
    (route) => route.id,
  )

const numbersFrom: store.NumberedWithin = [firstId, 0]
/** What is recorded of the task and of the protocols that runs were under, each kind with its records in order. */
function* ofTheTask(
  db: Db,
  session: SessionRow,
  until: Date,
): Generator<[kind: string, plural: string, all: AsyncGenerator<object, void>], void> {
  const byId = <Row extends { id: string }>(
    page: (db: Db, session: SessionRow, after: string, until: Date) => Promise<Row[]>,
  ) =>
    rows(
      firstId,
      (after) => page(db, session, after, until),
      (row) => row.id,
    )
  yield ['intentRevision', 'intentRevisions', each(byId(store.revisionPage), records.intentRevision)]
  const bindings = rows(
    numbersFrom,
    (after) => store.bindingPage(db, session, after, until),
    (row): store.NumberedWithin => [row.runId, row.number],
  )
  yield ['binding', 'bindings', each(bindings, records.binding)]
  const states = rows(
    numbersFrom,
    (after) => store.requirementStatePage(db, session, after),
    (row): store.NumberedWithin => [row.requirementId, row.number],
  )
  yield ['requirementState', 'requirementStates', each(states, records.requirementState)]
  yield ['segment', 'segments', each(byId(store.segmentPage), records.segment)]
  yield ['action', 'actions', each(byId(store.actionPage), records.action)]
  const checkpoints = rows(
    0,
    (after) => store.checkpointPage(db, session, after, session.checkpointCount),
    (row) => row.number,
  )
  yield ['checkpoint', 'checkpoints', each(checkpoints, records.checkpoint)]
}
async function* each<Row>(all: AsyncGenerator<Row, void>, record: (row: Row) => object) {
  for await (const row of all) yield record(row)
}

/** The journal up to the moment of the export. A session that is deleted meanwhile breaks it off: half is no export. */
async function* eventsOf(
  db: Db,
  session: SessionRow,
  types: readonly string[] | null = null,
): AsyncGenerator<EventRow, void> {
  const through = session.lastSequence
  let last = 0
  const read = (after: number) => store.eventPage(db, session, after, through, types)
  for await (const event of rows(0, read, (each) => each.sequence)) {
    last = event.sequence
    yield event
  }
  const gone = types === null ? last < through : (await loadSessions(db, [session])).length === 0
  if (gone) throw new Error('the session was deleted while it was exported')
}

async function* writeLines(db: Db, session: SessionRow, exportedAt: Date): AsyncGenerator<string, void> {
  const line = (kind: string, record: object) => `${JSON.stringify({ kind, ...record })}\n`
  yield line('session', { exportedAt: exportedAt.toISOString(), ...records.session(session) })
  for await (const row of messagesOf(db, session)) yield line('message', records.message(row))
  for await (const row of runsOf(db, session)) yield line('run', records.run(row))
  for await (const row of approvalsOf(db, session, exportedAt)) {
    const { kind, ...approval } = records.approval(row)
    yield line('approval', { approvalKind: kind, ...approval })
  }
  for await (const row of routesOf(db, session, exportedAt))
    yield line('routeDecision', records.routeDecision(row))
  for (const [kind, , all] of ofTheTask(db, session, exportedAt))
    for await (const record of all) yield line(kind, record)
  for await (const row of eventsOf(db, session)) yield line('event', records.event(row))
}

async function* list<Row>(name: string, all: AsyncGenerator<Row>, record: (row: Row) => object) {
  yield `,\n"${name}":[`
  let separator = '\n'
  for await (const row of all) {
    yield `${separator}${JSON.stringify(record(row))}`
    separator = ',\n'
  }
  yield ']'
}

async function* writeJson(db: Db, session: SessionRow, exportedAt: Date): AsyncGenerator<string, void> {
  yield `{"format":"wheelhouse.session","version":1,"exportedAt":${JSON.stringify(exportedAt)},\n"session":${JSON.stringify(records.session(session))}`
  yield* list('messages', messagesOf(db, session), records.message)
  yield* list('runs', runsOf(db, session), records.run)
  yield* list('approvals', approvalsOf(db, session, exportedAt), records.approval)
  yield* list('routeDecisions', routesOf(db, session, exportedAt), records.routeDecision)
  for (const [, plural, all] of ofTheTask(db, session, exportedAt))
    yield* list(plural, all, (record) => record)
  yield* list('events', eventsOf(db, session), records.event)
  yield '}\n'
}

async function* writeMarkdown(db: Db, session: SessionRow, exportedAt: Date): AsyncGenerator<string, void> {
  const names = new Map<string, string>()
  const nameOf = async (id: string) => {
    const known = names.get(id)
    if (known !== undefined) return known
    const name = (await loadPrincipals(db, [id]))[0]?.name ?? 'somebody'
    names.set(id, name)
    return name
  }
  const numbers = new Map<string, number>()
  const runs = runsOf(db, session)
  /** Runs are numbered in the order in which the journal names them. */
  const numberOf = async (id: string): Promise<number | undefined> => {
    while (!numbers.has(id)) {
      const { done, value } = await runs.next()
      if (done) break
      numbers.set(value.id, value.number)
    }
    return numbers.get(id)
  }
  yield markdown.head(session, exportedAt)
  const both = merged(messagesOf(db, session), eventsOf(db, session, readableEvents))
  for await (const row of both) {
    if ('text' in row) yield markdown.message(row, await nameOf(row.authorId))
    else yield markdown.event(row, row.runId === null ? undefined : await numberOf(row.runId))
  }
}

/** Two streams as one, by sequence. */
async function* merged(
  messages: AsyncGenerator<MessageRow, void>,
  events: AsyncGenerator<EventRow, void>,
): AsyncGenerator<MessageRow | EventRow, void> {
  let [message, event] = await Promise.all([messages.next(), events.next()])
  while (!message.done || !event.done) {
    if (!message.done && (event.done || message.value.sequence < event.value.sequence)) {
      yield message.value
      message = await messages.next()
    } else if (!event.done) {
      yield event.value
      event = await events.next()
    }
  }
}

const pieceLength = 65_536

/** Small pieces together, so that each write is worth its while. */
async function* gathered(pieces: AsyncGenerator<string>): AsyncGenerator<string, void> {
  let held = ''
  for await (const piece of pieces) {
    held += piece
    if (held.length < pieceLength) continue
    yield held
    held = ''
  }
  if (held) yield held
}
