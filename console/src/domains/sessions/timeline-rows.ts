import type { ApprovalView, RunState, SessionEvent } from './session-event.ts'

/**
 * From journal events to the rows of the timeline. Pure; events are canonical and rows derived:
 * appending events in any portions gives the same rows as building them at once.
 *
 *  - `full`: one row an event, except that an approval's gate shows its present state.
 *  - `compact`: one row for what a person would call one thing: a turn with its route, a tool call with
 *    its result, all deltas of one stretch of answer or reasoning, an approval with its answer, the end
 *    of a run. Steps that these already tell (offered, started, waiting, resumed, usage, the segment and
 *    the checkpoint that come with a run) have no row.
 */
export type TimelineMode = 'compact' | 'full'

interface RowBase {
  /** Stable while events are added at either end. */
  key: string
  sequence: number
  lastSequence: number
  at: string
  runId: string | null
  runNumber: number | null
  /** Position of the row within its stretch of one run's rows; 0 starts a band. */
  inBand: number
  event: SessionEvent
}

export type RouteView = Extract<SessionEvent['detail'], { __typename: 'RouteDetail' }>['route']

export type TimelineRow =
  | (RowBase & { kind: 'turn'; text: string; author: string; route: RouteView })
  | (RowBase & {
      kind: 'tool'
      tool: string
      summary: string | null
      ok: boolean | null
      took: number | null
    })
  | (RowBase & { kind: 'gate'; approval: ApprovalView })
  | (RowBase & { kind: 'text'; role: 'answer' | 'reasoning'; text: string; length: number; final: boolean })
  | (RowBase & { kind: 'steer'; text: string; author: string | null })
  | (RowBase & { kind: 'run'; state: RunState; took: number | null })
  | (RowBase & { kind: 'note' })

export interface TimelineModel {
  mode: TimelineMode
  rows: readonly TimelineRow[]
  /** Row indexes that later events still change, by what identifies them. */
  open: {
    turns: ReadonlyMap<string, number>
    texts: ReadonlyMap<string, number>
    tools: ReadonlyMap<string, number>
    gates: ReadonlyMap<string, number>
    /** When each run started, for how long it took. */
    starts: ReadonlyMap<string, number>
  }
}

/** A row shows a part of a long text; the rest is in the transcript and in the event panel. */
export const PREVIEW_CHARACTERS = 240

export function emptyTimeline(mode: TimelineMode): TimelineModel {
  return {
    mode,
    rows: [],
    open: { turns: new Map(), texts: new Map(), tools: new Map(), gates: new Map(), starts: new Map() },
  }
}

export function buildTimeline(mode: TimelineMode, events: readonly SessionEvent[]): TimelineModel {
  return appendEvents(emptyTimeline(mode), events)
}

export function appendEvents(model: TimelineModel, events: readonly SessionEvent[]): TimelineModel {
  if (events.length === 0) return model
  const draft: Draft = {
    mode: model.mode,
    rows: [...model.rows],
    turns: new Map(model.open.turns),
    texts: new Map(model.open.texts),
    tools: new Map(model.open.tools),
    gates: new Map(model.open.gates),
    starts: new Map(model.open.starts),
  }
  for (const event of events) place(draft, event)
  const { rows, turns, texts, tools, gates, starts } = draft
  return { mode: model.mode, rows, open: { turns, texts, tools, gates, starts } }
}

interface Draft {
  mode: TimelineMode
  rows: TimelineRow[]
  turns: Map<string, number>
  texts: Map<string, number>
  tools: Map<string, number>
  gates: Map<string, number>
  starts: Map<string, number>
}

function place(draft: Draft, event: SessionEvent): void {
  const { detail, runId } = event
  if (event.type === 'RUN_STARTED' && runId !== null) draft.starts.set(runId, Date.parse(event.at))
  switch (detail?.__typename) {
    case 'MessageDetail':
      placeMessage(draft, event, detail.message)
      break
    case 'RouteDetail':
      placeRoute(draft, event, detail.route)
      break
    case 'ToolDetail':
      placeTool(draft, event, detail)
      break
    case 'TextDetail':
      placeText(draft, event, detail.text)
      break
    case 'ApprovalDetail':
      placeApproval(draft, event, detail.approval)
      break
    case 'SteerDetail':
      placeSteer(draft, event, detail.text, detail.actor?.name ?? null)
      break
    case 'RunStateDetail':
      placeRun(draft, event, detail.runState)
      break
    case 'UsageDetail':
      if (draft.mode === 'full') push(draft, event, { kind: 'note' })
      break
    default:
      if (draft.mode === 'full' || !isToldByItsRun(event)) push(draft, event, { kind: 'note' })
  }
}

/** The segment that a turn opens and the run's end closes, and the checkpoint that a completed run leaves. */
function isToldByItsRun({ type, payload }: SessionEvent): boolean {
  const { openedBy, closedBy, runId } = payload as Record<string, unknown>
  if (type === 'SEGMENT_STARTED') return openedBy === 'ROUTE'
  if (type === 'SEGMENT_ENDED') return closedBy === 'END'
  return type === 'CHECKPOINT_CREATED' && typeof runId === 'string'
}

type MessageView = Extract<SessionEvent['detail'], { __typename: 'MessageDetail' }>['message']

function placeMessage(draft: Draft, event: SessionEvent, message: MessageView): void {
  if (message === null) {
    push(draft, event, { kind: 'note' })
    return
  }
  if (message.authority !== 'AGENT') {
    const turn = {
      kind: 'turn',
      text: preview(message.text),
      author: message.author.name,
      route: null,
    } as const
    push(draft, event, turn)
    if (event.runId !== null) draft.turns.set(event.runId, draft.rows.length - 1)
    return
  }
  const whole = {
    kind: 'text',
    role: 'answer',
    text: preview(message.text),
    length: message.text.length,
    final: true,
  } as const
  // The streamed stretch and the message it became are one thing.
  const open = draft.mode === 'compact' ? draft.texts.get(textKey(event, 'answer')) : undefined
  if (open === undefined) {
    push(draft, event, whole)
    return
  }
  patch(draft, open, event, whole)
  draft.texts.delete(textKey(event, 'answer'))
}

function placeRoute(draft: Draft, event: SessionEvent, route: RouteView): void {
  const turn = event.runId === null ? undefined : draft.turns.get(event.runId)
  const row = turn === undefined ? undefined : draft.rows[turn]
  if (turn !== undefined && row?.kind === 'turn') draft.rows[turn] = { ...row, route }
  if (draft.mode === 'full' || row === undefined) push(draft, event, { kind: 'note' })
}

/** What the runtime measured; else, how far apart the two events are. */
function tookOf(payload: unknown, calledAt: string | undefined, at: string): number | null {
  const { ms } = (payload ?? {}) as { ms?: unknown }
  if (typeof ms === 'number') return ms
  return calledAt === undefined ? null : Date.parse(at) - Date.parse(calledAt)
}

type ToolView = Extract<SessionEvent['detail'], { __typename: 'ToolDetail' }>

function placeTool(draft: Draft, event: SessionEvent, detail: ToolView): void {
  const key = detail.callId === null ? null : `${event.runId}/${detail.callId}`
  const called = key === null ? undefined : draft.tools.get(key)
  const before = called === undefined ? undefined : draft.rows[called]
  const isResult = event.type !== 'TOOL_CALL'
  const took = isResult ? tookOf(event.payload, before?.at, event.at) : null
  if (isResult && key !== null) draft.tools.delete(key)
  if (draft.mode === 'compact' && isResult && called !== undefined && before?.kind === 'tool') {
    const summary = detail.summary ?? before.summary
    patch(draft, called, event, { kind: 'tool', tool: before.tool, summary, ok: detail.ok, took })
    return
  }
  const ok = isResult ? detail.ok : null
  push(draft, event, { kind: 'tool', tool: detail.tool ?? '', summary: detail.summary, ok, took })
  if (!isResult && key !== null) draft.tools.set(key, draft.rows.length - 1)
}

function placeText(draft: Draft, event: SessionEvent, text: string): void {
  if (event.type === 'INFO') {
    push(draft, event, { kind: 'note' })
    return
  }
  const role = event.type === 'REASONING_DELTA' ? 'reasoning' : 'answer'
  const key = textKey(event, role)
  const open = draft.mode === 'compact' ? draft.texts.get(key) : undefined
  const row = open === undefined ? undefined : draft.rows[open]
  if (open !== undefined && row?.kind === 'text') {
    const joined = row.length > PREVIEW_CHARACTERS ? row.text : preview(row.text + text)
    const length = row.length + text.length
    patch(draft, open, event, { kind: 'text', role, text: joined, length, final: false })
    return
  }
  push(draft, event, { kind: 'text', role, text: preview(text), length: text.length, final: false })
  if (draft.mode === 'compact') draft.texts.set(key, draft.rows.length - 1)
}

function placeApproval(draft: Draft, event: SessionEvent, approval: ApprovalView | null): void {
  if (approval === null) {
    push(draft, event, { kind: 'note' })
    return
  }
  // Each event carries the approval as it is now: replaying an old request never asks again.
  const gate = draft.gates.get(approval.id)
  const row = gate === undefined ? undefined : draft.rows[gate]
  if (gate !== undefined && row !== undefined) patch(draft, gate, row.event, { kind: 'gate', approval })
  if (event.type === 'APPROVAL_REQUESTED') {
    push(draft, event, { kind: 'gate', approval })
    draft.gates.set(approval.id, draft.rows.length - 1)
  } else if (draft.mode === 'full' || row === undefined) push(draft, event, { kind: 'note' })
}

/** Guidance is written as a message and then as what was given to the run: in short it is one thing. */
function placeSteer(draft: Draft, event: SessionEvent, text: string, author: string | null): void {
  const said = draft.rows.at(-1)
  const content = { kind: 'steer', text: preview(text), author } as const
  if (
    draft.mode === 'compact' &&
    said?.kind === 'turn' &&
    said.runId === event.runId &&
    said.text === content.text
  )
    patch(draft, draft.rows.length - 1, event, content)
  else push(draft, event, content)
}

const ENDED: ReadonlySet<RunState> = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'])

function placeRun(draft: Draft, event: SessionEvent, state: RunState): void {
  const ended = ENDED.has(state)
  if (draft.mode === 'compact' && !ended && event.type !== 'RUN_WRITE_REJECTED') return
  const start = event.runId === null ? undefined : draft.starts.get(event.runId)
  const took = ended && start !== undefined ? Date.parse(event.at) - start : null
  push(draft, event, { kind: 'run', state, took })
}

type Content<Row = TimelineRow> = Row extends TimelineRow ? Omit<Row, keyof RowBase> : never

function push(draft: Draft, event: SessionEvent, content: Content): void {
  const previous = draft.rows.at(-1)
  const continues = previous !== undefined && event.runId !== null && previous.runId === event.runId
  // Another row of the same run ends the stretch of text that was being streamed.
  if (event.runId !== null)
    for (const role of ['answer', 'reasoning'] as const) draft.texts.delete(textKey(event, role))
  draft.rows.push({
    key: `e${event.sequence}`,
    sequence: event.sequence,
    lastSequence: event.sequence,
    at: event.at,
    runId: event.runId,
    runNumber: event.run?.number ?? null,
    inBand: continues ? previous.inBand + 1 : 0,
    event,
    ...content,
  })
}

function patch(draft: Draft, index: number, event: SessionEvent, content: Content): void {
  const row = draft.rows[index]
  if (row === undefined) return
  const { key, sequence, at, runId, runNumber, inBand } = row
  const lastSequence = Math.max(row.lastSequence, event.sequence)
  draft.rows[index] = {
    key,
    sequence,
    lastSequence,
    at,
    runId,
    runNumber,
    inBand,
    event: row.event,
    ...content,
  }
}

function textKey(event: SessionEvent, role: 'answer' | 'reasoning'): string {
  return `${event.runId}/${role}`
}

function preview(text: string): string {
  return text.length > PREVIEW_CHARACTERS ? `${text.slice(0, PREVIEW_CHARACTERS)}…` : text
}
