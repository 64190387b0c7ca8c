import { encodeId, type Ref } from '../../../platform/ids.ts'
import type { Entry } from '../../../platform/journal.ts'
import type { Unit } from '../../../platform/transaction.ts'
import { activeSegment, closeSegment, type SegmentRow } from './store.ts'

export { activeSegment, type SegmentRow } from './store.ts'

const segmentId = (segment: Ref) =>
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

const stateAtEnd = {
  COMPLETED: 'COMPLETED',
  FAILED: 'FAILED',
  TIMED_OUT: 'FAILED',
  CANCELLED: 'ABORTED',
} as const

/** Ends the segment of a run that ends, as the run does; the event to be told. The session must be locked. */
export async function endSegment(unit: Unit, run: Ref, state: keyof typeof stateAtEnd): Promise<Entry[]> {
  const active = await activeSegment(unit.tx, run)
  const ended = active && (await closeSegment(unit.tx, active, stateAtEnd[state], 'END', unit.now))
  return ended ? [endedEvent(ended)] : []
}
