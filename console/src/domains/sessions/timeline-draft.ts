import type { ApprovalView, RunState, SessionEvent } from './session-event.ts'

export type TimelineMode = 'compact' | 'full'

/** The protocol and phase that a run was in; a band behind its rows. */
export interface SegmentPlace {
  protocol: string
  phase: string
}

interface RowBase {
  /** Stable while events are added at either end. */
  key: string
  sequence: number
  lastSequence: number
  at: string
  runId: string | null
  runNumber: number | null
  /** Position of the row within its stretch of one run's rows under one protocol; 0 starts a band. */
  inBand: number
  /** Where its run was then, as far as the loaded events tell. */
  segment: SegmentPlace | null
  /** Whether it is the first of its band in this phase. */
  newPhase: boolean
  event: SessionEvent
}

export type DetailOf<Name> = Extract<SessionEvent['detail'], { __typename: Name }>
export type RouteView = DetailOf<'RouteDetail'>['route']
export type RevisionView = NonNullable<DetailOf<'IntentDetail'>['revision']>
export type TaskView = DetailOf<'RouteDetail'>['task']

export type TimelineRow =
  | (RowBase & { kind: 'turn'; text: string; author: string; route: RouteView; task: TaskView })
  | (RowBase & {
      kind: 'tool'
      tool: string
      summary: string | null
      ok: boolean | null
      took: number | null
      /** What the guard said, where it was asked. */
      asked: {
        decision: 'ALLOWED' | 'DENIED' | 'NEEDS_APPROVAL'
        code: string | null
        phase: string | null
      } | null
      /** The phase that its result led to. */
      entered: string | null
    })
  | (RowBase & { kind: 'intent'; revision: RevisionView })
  | (RowBase & { kind: 'gate'; approval: ApprovalView })
  | (RowBase & { kind: 'text'; role: 'answer' | 'reasoning'; text: string; length: number; final: boolean })
  | (RowBase & { kind: 'steer'; text: string; author: string | null })
  | (RowBase & { kind: 'run'; state: RunState; took: number | null })
  | (RowBase & { kind: 'note' })

/** Row indexes that later events still change, by what identifies them. */
interface Indexes<Of> {
  turns: Of
  texts: Of
  tools: Of
  /** Actions of the ledger by their id, and the newest of each run. */
  acts: Of
  gates: Of
  /** When each run started, for how long it took. */
  starts: Of
}

export interface TimelineModel {
  mode: TimelineMode
  rows: readonly TimelineRow[]
  open: Indexes<ReadonlyMap<string, number>>
  /** Where each run is. */
  segments: ReadonlyMap<string, SegmentPlace>
}

export interface Draft extends Indexes<Map<string, number>> {
  mode: TimelineMode
  rows: TimelineRow[]
  segments: Map<string, SegmentPlace>
}

export type Content<Row = TimelineRow> = Row extends TimelineRow ? Omit<Row, keyof RowBase> : never

export function push(draft: Draft, event: SessionEvent, content: Content): void {
  const previous = draft.rows.at(-1)
  const segment = (event.runId !== null && draft.segments.get(event.runId)) || null
  const continues =
    previous !== undefined &&
    event.runId !== null &&
    previous.runId === event.runId &&
    (previous.segment === null || segment === null || previous.segment.protocol === segment.protocol)
  // Another thing that the run does ends the stretch of text that was being streamed; what is only noted of it doesn't.
  if (event.runId !== null && content.kind !== 'note' && content.kind !== 'intent')
    for (const role of ['answer', 'reasoning'] as const) draft.texts.delete(textKey(event, role))
  draft.rows.push({
    key: `e${event.sequence}`,
    sequence: event.sequence,
    lastSequence: event.sequence,
    at: event.at,
    runId: event.runId,
    runNumber: event.run?.number ?? null,
    inBand: continues ? previous.inBand + 1 : 0,
    segment,
    newPhase: continues && previous.segment !== null && previous.segment.phase !== segment?.phase,
    event,
    ...content,
  })
}

export function patch(draft: Draft, index: number, event: SessionEvent, content: Content): void {
  const row = draft.rows[index]
  if (row === undefined) return
  const { key, sequence, at, runId, runNumber, inBand, segment, newPhase } = row
  const lastSequence = Math.max(row.lastSequence, event.sequence)
  draft.rows[index] = {
    key,
    sequence,
    lastSequence,
    at,
    runId,
    runNumber,
    inBand,
    segment,
    newPhase,
    event: row.event,
    ...content,
  }
}

/**
 * A run is in a segment from here on. Rows of it from before that nothing had told the segment of, as when the journal was
 * opened in the middle, were in `before`.
 */
export function enter(draft: Draft, runId: string, now: SegmentPlace, before: SegmentPlace | null): void {
  if (before !== null && !draft.segments.has(runId))
    for (const [index, row] of draft.rows.entries())
      if (row.runId === runId && row.segment === null) draft.rows[index] = { ...row, segment: before }
  draft.segments.set(runId, now)
}

export function textKey(event: SessionEvent, role: 'answer' | 'reasoning'): string {
  return `${event.runId}/${role}`
}
