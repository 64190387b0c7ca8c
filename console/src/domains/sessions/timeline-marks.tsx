import { RevisionFlag } from '../../kit/revision-flag.tsx'
import type { TimelineRow } from './timeline-draft.ts'

/** Work that no protocol governs is of one colour, governed work of another; unknown where nothing loaded tells. */
export function bandOf({ runId, segment }: TimelineRow): 'governed' | 'general' | 'unknown' | undefined {
  if (runId === null) return undefined
  if (segment === null) return 'unknown'
  return idOf(segment.protocol) === 'general-task' ? 'general' : 'governed'
}

const idOf = (protocol: string) => protocol.slice(0, protocol.lastIndexOf('@'))

/** The revision that a turn acts under, or that this row brought. */
export function Flag({ row }: { row: TimelineRow }) {
  if (row.kind === 'turn' && row.task)
    return <RevisionFlag number={row.task.number} sign={row.route?.relation ?? 'CONTINUE'} />
  if (row.kind === 'intent')
    return <RevisionFlag number={row.revision.number} sign={row.revision.changeKind} />
  return null
}

/** Under the head of a band: its protocol, then its phase, and each phase that follows. */
export function BandLabel({ row }: { row: TimelineRow }) {
  if (row.segment === null) return null
  const { protocol, phase } = row.segment
  if (row.inBand === 1)
    return (
      <span className="tl-place" title={protocol}>
        {idOf(protocol)}
      </span>
    )
  if (row.inBand !== 2 && !row.newPhase) return null
  return (
    <span className="tl-place" title={`${protocol} · ${phase}`}>
      {phase}
    </span>
  )
}
