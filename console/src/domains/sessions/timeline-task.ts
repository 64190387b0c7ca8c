import type { SessionEvent } from './session-event.ts'
import {
  type Content,
  type DetailOf,
  type Draft,
  enter,
  patch,
  push,
  type SegmentPlace,
  type TimelineRow,
} from './timeline-draft.ts'

/**
 * What happens to the task and under its protocol, as rows. In short: a revision that a turn brought is the flag of that
 * turn, an action is one row with its call and its result, and a change of phase stands at the action that led to it.
 */

/** A revision, or a run that was bound to one: a flag. */
export function placeIntent(draft: Draft, event: SessionEvent, { revision }: DetailOf<'IntentDetail'>): void {
  if (revision === null) {
    if (draft.mode === 'full') push(draft, event, { kind: 'note' })
    return
  }
  if (draft.mode === 'compact' && isFlagged(draft, revision.id)) return
  push(draft, event, { kind: 'intent', revision })
}

/** Whether one of the rows just before already carries the flag of the revision. */
function isFlagged({ rows }: Draft, id: string): boolean {
  return rows
    .slice(-3)
    .some(
      (row) =>
        (row.kind === 'turn' && row.task?.id === id) || (row.kind === 'intent' && row.revision.id === id),
    )
}

export function placeSegment(draft: Draft, event: SessionEvent, detail: DetailOf<'SegmentDetail'>): void {
  const { protocol, phase, leftPhase, cause } = detail
  const { runId, type } = event
  const now = { protocol, phase }
  if (runId !== null) enter(draft, runId, now, placeBefore(type, now, leftPhase))
  if (draft.mode === 'compact') {
    // A run opens a segment and closes it; the band tells both, and who ended a segment otherwise says so itself.
    if (type === 'SEGMENT_ENDED' || (type === 'SEGMENT_STARTED' && cause === 'ROUTE')) {
      if (type === 'SEGMENT_STARTED' && runId !== null) startBand(draft, runId, now)
      return
    }
    if (type === 'SEGMENT_PHASE_CHANGED' && attributed(draft, event, phase)) return
  }
  push(draft, event, { kind: 'note' })
}

const placeBefore = (type: SessionEvent['type'], now: SegmentPlace, from: string | null) =>
  type === 'SEGMENT_STARTED' ? null : { protocol: now.protocol, phase: from ?? now.phase }

/** A turn is written before its segment: it stands at the head of the band. */
function startBand(draft: Draft, runId: string, place: SegmentPlace): void {
  for (let index = draft.rows.length - 1; index >= 0; index -= 1) {
    const row = draft.rows[index]
    if (row === undefined || row.runId !== runId) return
    if (row.segment === null) draft.rows[index] = { ...row, segment: place }
  }
}

/** Puts a change of phase at the newest action of its run; false where there is none near. */
function attributed(draft: Draft, event: SessionEvent, phase: string): boolean {
  const index = draft.acts.get(`${event.runId}`)
  const row = index === undefined ? undefined : draft.rows[index]
  if (index === undefined || row?.kind !== 'tool' || index < draft.rows.length - 3) return false
  patch(draft, index, event, { ...toolOf(row), entered: phase })
  return true
}

export function placeAction(draft: Draft, event: SessionEvent, detail: DetailOf<'ActionDetail'>): void {
  const { actionId, actTool: tool, verdict: decision, code, underProtocol: protocol, inPhase: phase } = detail
  const { runId } = event
  const place = protocol !== null && phase !== null ? { protocol, phase } : null
  if (runId !== null && place !== null && !draft.segments.has(runId)) enter(draft, runId, place, place)
  const known = draft.acts.get(actionId)
  const row = known === undefined ? undefined : draft.rows[known]
  if (event.type === 'ACTION_COMPLETED') {
    draft.acts.delete(actionId)
    draft.acts.delete(`${runId}/${tool}`)
    if (draft.mode === 'compact' && known !== undefined && row?.kind === 'tool') {
      patch(draft, known, event, { ...toolOf(row), ok: row.ok ?? detail.ok })
      if (runId !== null) draft.acts.set(runId, known)
      return
    }
  }
  const asked = decision === null ? null : { decision, code, phase }
  const content = { tool, summary: null, ok: detail.ok, took: null, asked, entered: null }
  push(draft, event, { kind: 'tool', ...content })
  const index = draft.rows.length - 1
  if (runId !== null) draft.acts.set(runId, index)
  if (decision === 'ALLOWED' || decision === 'NEEDS_APPROVAL') {
    draft.acts.set(actionId, index)
    draft.acts.set(`${runId}/${tool}`, index)
  }
}

/** Accepted, it is told by the band that begins; whatever else became of it has its row. */
export function placeHandoff(draft: Draft, event: SessionEvent): void {
  if (draft.mode === 'compact' && event.type === 'HANDOFF_PROPOSED') return
  push(draft, event, { kind: 'note' })
}

/** What a tool's row says, to be said again with a change. */
export function toolOf(row: Extract<TimelineRow, { kind: 'tool' }>) {
  const { tool, summary, ok, took, asked, entered } = row
  return { kind: 'tool', tool, summary, ok, took, asked, entered } as const satisfies Content
}
