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
} as const satisfies Record<RunState, MarkKind>

export function runMark(state: RunState): MarkKind {
  return marks[state]
}

export function isLive(state: RunState): boolean {
  return state === 'OFFERED' || state === 'RUNNING' || state === 'WAITING_APPROVAL'
}

interface SessionLike {
  state: 'OPEN' | 'CLOSED'
  openApprovals: number
  activeRun: { state: RunState } | null
  lastRun: { state: RunState } | null
}

export type SessionSummary = RunState | 'CLOSED' | 'IDLE'

/** The one state a list shows for a session: what waits first, then what runs, then how the last run ended. */
export function sessionSummary(session: SessionLike): SessionSummary {
  if (session.openApprovals > 0) return 'WAITING_APPROVAL'
  if (session.activeRun !== null) return session.activeRun.state
  if (session.state === 'CLOSED') return 'CLOSED'
  return session.lastRun?.state ?? 'IDLE'
}

export function summaryMark(summary: SessionSummary): MarkKind {
  return summary === 'CLOSED' || summary === 'IDLE' ? 'ended' : marks[summary]
}
