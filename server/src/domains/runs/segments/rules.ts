/*
 * A segment: a stretch of one run under one protocol. At most one of a run is active; what has ended never changes.
 *
 *              advance (a result: phase, facts)
 *                 ┌──┐
 *   ── open ──▶ ACTIVE ── complete ─▶ COMPLETED    (its run completed)
 *                 ├────── hand off ─▶ HANDED_OFF   (another segment follows)
 *                 ├────── abort ────▶ ABORTED      (its run was cancelled, or its route was wrong: another follows)
 *                 └────── fail ─────▶ FAILED       (its run failed)
 */

export const segmentStates = ['ACTIVE', 'COMPLETED', 'HANDED_OFF', 'ABORTED', 'FAILED'] as const
export type SegmentState = (typeof segmentStates)[number]
export const segmentVerbs = ['advance', 'complete', 'handOff', 'abort', 'fail'] as const
export type SegmentVerb = (typeof segmentVerbs)[number]

const table = {
  advance: 'ACTIVE',
  complete: 'COMPLETED',
  handOff: 'HANDED_OFF',
  abort: 'ABORTED',
  fail: 'FAILED',
} as const satisfies Record<SegmentVerb, SegmentState>

/** The state that a verb leads to; null from a state that is final. */
export const decideSegment = <V extends SegmentVerb>(
  state: SegmentState,
  verb: V,
): (typeof table)[V] | null => (state === 'ACTIVE' ? table[verb] : null)

/** What the end of a run does to the segment that it is in. */
export const verbAtEnd = {
  COMPLETED: 'complete',
  FAILED: 'fail',
  TIMED_OUT: 'fail',
  CANCELLED: 'abort',
} as const satisfies Record<string, SegmentVerb>
