import type { MarkKind } from '../../kit/state-marks.tsx'
import type { RunState } from '../sessions/session-event.ts'

/** COMPLETED is only what the agent said: nothing has verified it, so its mark is hollow. */
const marks = {
  OFFERED: 'running',
  RUNNING: 'running',
  WAITING_APPROVAL: 'waiting',
  COMPLETED: 'said',
  FAILED: 'bad',
  CANCELLED: 'ended',
  TIMED_OUT: 'bad',
  PARTIAL: 'said',
  // Said done with nothing to support it is a thing to look at, not a thing that is done.
  UNSUPPORTED: 'bad',
} as const satisfies Record<ShownState, MarkKind>

/** How a run stands; completed in part, or with nothing to support it, is said wherever a run is shown. */
export type ShownState = RunState | 'PARTIAL' | 'UNSUPPORTED'

type Completion = 'FULL' | 'PARTIAL' | 'UNSUPPORTED' | null

export function shownState(run: { state: RunState; completion: Completion }): ShownState {
  const { state, completion } = run
  return state !== 'COMPLETED' || completion === null || completion === 'FULL' ? state : completion
}

export function runMark(state: ShownState): MarkKind {
  return marks[state]
}

export function isLive(state: RunState): boolean {
  return state === 'OFFERED' || state === 'RUNNING' || state === 'WAITING_APPROVAL'
}

interface SessionLike {
  state: 'OPEN' | 'CLOSED'
  openApprovals: number
  activeRun: { state: RunState } | null
  lastRun: { state: RunState; completion: Completion } | null
}

export type SessionSummary = ShownState | 'CLOSED' | 'IDLE'

/** The one state a list shows for a session: what waits first, then what runs, then how the last run ended. */
export function sessionSummary(session: SessionLike): SessionSummary {
  if (session.openApprovals > 0) return 'WAITING_APPROVAL'
  if (session.activeRun !== null) return session.activeRun.state
  if (session.state === 'CLOSED') return 'CLOSED'
  return session.lastRun ? shownState(session.lastRun) : 'IDLE'
}

export function summaryMark(summary: SessionSummary): MarkKind {
  return summary === 'CLOSED' || summary === 'IDLE' ? 'ended' : marks[summary]
}
