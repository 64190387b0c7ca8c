import type { Ref } from '../../../platform/ids.ts'
import { Refusal } from '../../../platform/refusal.ts'

/*
 * Where a fork begins, and what it takes along:
 *
 *   parent   ●── run 1 ──◆1── run 2 ──◆2── run 3 ── …        ◆ checkpoint, left by each completed run
 *            │           │    └ base r1, active r2
 *            │           └─▶ fork at ◆1: the transcript and the task up to there
 *            └─────────────▶ fork of run 2: the transcript before its message, and the task before it: r1
 *
 * A fork has a copy of the transcript, and one revision of the task that it goes on from. It reads nothing else of its
 * parent's, and writes only to itself: what the parent does afterwards never reaches it, nor its own forks.
 */

/** Where a fork begins: at a checkpoint, or before a run that is to be said anew. */
export type ForkPoint = { kind: 'CHECKPOINT' | 'RUN'; ref: Ref }

/** Reads which of the two is asked for: exactly one, else INVALID_INPUT. */
export function forkPoint(input: {
  checkpointId?: Ref | undefined
  runId?: Ref | undefined
}): ForkPoint | Refusal {
  const { checkpointId, runId } = input
  if (checkpointId && !runId) return { kind: 'CHECKPOINT', ref: checkpointId }
  if (runId && !checkpointId) return { kind: 'RUN', ref: runId }
  return new Refusal('INVALID_INPUT', 'The input is not valid.', {
    issues: [{ path: ['checkpointId'], message: 'give exactly one of `checkpointId` and `runId`' }],
  })
}
