import type { ApprovalView, RunState, SessionEvent } from './session-event.ts'
import {
  type DetailOf,
  type Draft,
  patch,
  push,
  type TimelineMode,
  type TimelineModel,
  textKey,
} from './timeline-draft.ts'
import { placeAction, placeHandoff, placeIntent, placeSegment, toolOf } from './timeline-task.ts'

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
/** A row shows a part of a long text; the rest is in the transcript and in the event panel. */
export const PREVIEW_CHARACTERS = 240

export function emptyTimeline(mode: TimelineMode): TimelineModel {
  const none = new Map<string, number>()
  const open = { turns: none, texts: none, tools: none, acts: none, gates: none, starts: none }
  return { mode, rows: [], open, segments: new Map() }
}

export function buildTimeline(mode: TimelineMode, events: readonly SessionEvent[]): TimelineModel {
  return appendEvents(emptyTimeline(mode), events)
}

export function appendEvents(model: TimelineModel, events: readonly SessionEvent[]): TimelineModel {
  if (events.length === 0) return model
  const { turns, texts, tools, acts, gates, starts } = model.open
  const draft: Draft = {
    mode: model.mode,
    rows: [...model.rows],
    turns: new Map(turns),
    texts: new Map(texts),
    tools: new Map(tools),
    acts: new Map(acts),
    gates: new Map(gates),
    starts: new Map(starts),
    segments: new Map(model.segments),
  }
  for (const event of events) place(draft, event)
  const { mode, rows, segments, ...open } = draft
  return { mode, rows, open, segments }
}

function place(draft: Draft, event: SessionEvent): void {
  const { detail, runId } = event
  if (event.type === 'RUN_STARTED' && runId !== null) draft.starts.set(runId, Date.parse(event.at))
  switch (detail?.__typename) {
    case 'MessageDetail':
      placeMessage(draft, event, detail.message)
      break
    case 'RouteDetail':
      placeRoute(draft, event, detail)
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
    case 'IntentDetail':
      placeIntent(draft, event, detail)
      break
    case 'SegmentDetail':
      placeSegment(draft, event, detail)
      break
    case 'ActionDetail':
      placeAction(draft, event, detail)
      break
    case 'HandoffDetail':
      placeHandoff(draft, event)
      break
    case 'UsageDetail':
      if (draft.mode === 'full') push(draft, event, { kind: 'note' })
      break
    default:
      if (draft.mode === 'full' || !isToldByItsRun(event)) push(draft, event, { kind: 'note' })
  }
}

/** The checkpoint that a completed run leaves. */
function isToldByItsRun({ type, payload }: SessionEvent): boolean {
  return type === 'CHECKPOINT_CREATED' && typeof (payload as { runId?: unknown }).runId === 'string'
}

type MessageView = DetailOf<'MessageDetail'>['message']

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
      task: null,
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

/** The decision that a turn was made by stands beside the turn; one that came later is a thing of its own. */
function placeRoute(draft: Draft, event: SessionEvent, { route, task }: DetailOf<'RouteDetail'>): void {
  const turn = event.runId === null ? undefined : draft.turns.get(event.runId)
  const row = turn === undefined ? undefined : draft.rows[turn]
  const decidesTurn = turn !== undefined && row?.kind === 'turn' && row.route === null
  if (decidesTurn) draft.rows[turn] = { ...row, route, task }
  if (draft.mode === 'full' || !decidesTurn) push(draft, event, { kind: 'note' })
}

/** What the runtime measured; else, how far apart the two events are. */
function tookOf(payload: unknown, calledAt: string | undefined, at: string): number | null {
  const { ms } = (payload ?? {}) as { ms?: unknown }
  if (typeof ms === 'number') return ms
  return calledAt === undefined ? null : Date.parse(at) - Date.parse(calledAt)
}

type ToolView = DetailOf<'ToolDetail'>

function placeTool(draft: Draft, event: SessionEvent, detail: ToolView): void {
  const key = detail.callId === null ? null : `${event.runId}/${detail.callId}`
  const isResult = event.type !== 'TOOL_CALL'
  // A call that the guard allowed just before is one thing with its action.
  const asked = isResult ? undefined : draft.acts.get(`${event.runId}/${detail.tool}`)
  const called = (key === null ? undefined : draft.tools.get(key)) ?? asked
  const before = called === undefined ? undefined : draft.rows[called]
  const took = isResult ? tookOf(event.payload, before?.at, event.at) : null
  if (isResult && key !== null) draft.tools.delete(key)
  if (draft.mode === 'compact' && called !== undefined && before?.kind === 'tool') {
    const summary = detail.summary ?? before.summary
    const ok = isResult ? detail.ok : before.ok
    patch(draft, called, event, { ...toolOf(before), summary, ok, took })
    draft.acts.delete(`${event.runId}/${before.tool}`)
    if (!isResult && key !== null) draft.tools.set(key, called)
    return
  }
  const ok = isResult ? detail.ok : null
  const content = { tool: detail.tool ?? '', summary: detail.summary, ok, took, asked: null, entered: null }
  push(draft, event, { kind: 'tool', ...content })
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

function preview(text: string): string {
  return text.length > PREVIEW_CHARACTERS ? `${text.slice(0, PREVIEW_CHARACTERS)}…` : text
}
