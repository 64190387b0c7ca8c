import { encodeId, type Ref } from '../../../platform/ids.ts'
import type { Entry } from '../../../platform/journal.ts'
import type { Unit } from '../../../platform/transaction.ts'
import { decideSegment, type SegmentState, verbAtEnd } from './rules.ts'
import { activeSegment, closeSegment, type SegmentRow } from './store.ts'

export { activeSegment, type SegmentRow } from './store.ts'

export const segmentId = (segment: Ref) =>
  encodeId({ type: 'ProtocolSegment', projectId: segment.projectId, id: segment.id })

export const startedEvent = (
  segment: Ref & { number: number; protocol: string; phase: string; openedBy: string },
): Entry => ({
  type: 'SEGMENT_STARTED',
  subjectId: segment.id,
  payload: {
    segmentId: segmentId(segment),
    number: segment.number,
    protocol: segment.protocol,
    phase: segment.phase,
    openedBy: segment.openedBy,
  },
})

export const endedEvent = (segment: SegmentRow): Entry => ({
  type: 'SEGMENT_ENDED',
  subjectId: segment.id,
  payload: {
    segmentId: segmentId(segment),
    number: segment.number,
    protocol: segment.protocol,
    phase: segment.phase,
    state: segment.state,
    revision: segment.revision,
    closedBy: segment.closedBy,
  },
})

/** Ends the segment of a run that ends, as the run does; the event to be told. The session must be locked. */
export async function endSegment(unit: Unit, run: Ref, state: keyof typeof verbAtEnd): Promise<Entry[]> {
  const active = await activeSegment(unit.tx, run)
  const next = active && decideSegment(active.state as SegmentState, verbAtEnd[state])
  const ended = next && (await closeSegment(unit.tx, active, next, 'END', unit.now))
  return ended ? [endedEvent(ended)] : []
}
