/**
 * The tail of one session's journal: how the console keeps up with it.
 *
 *              start                probe answered and cursor ≥ target
 *   ┌──────┐ ────────▶ ┌───────────┐ ─────────────────────────────▶ ┌──────┐
 *   │ idle │           │ replaying │                                 │ live │
 *   └──────┘           └───────────┘ ◀────────────┐                  └──────┘
 *                        │   ▲  overflow or gap ──┘ ◀──────────────────┤ │
 *             dropped    │   │ retry due                      dropped  │ │ end
 *                        ▼   │                                         │ ▼
 *                      ┌──────────────┐ ◀──────────────────────────────┘ ┌───────┐
 *                      │ reconnecting │                                  │ ended │
 *                      └──────────────┘ ── attempts used up ─▶ ┌───────┐ └───────┘
 *                            ▲                                 │ stale │    │ start
 *                            └──── (resume: replaying) ◀────── └───────┘    ▼ again
 *
 * Invariants, whatever the connection does:
 *  - `cursor` is the last sequence handed on; it only rises, and each step forward is by one event, so
 *    nothing is handed on twice and a hole is noticed (the watch is opened again after `cursor`).
 *  - what retention removed is named in `gaps`, never skipped in silence.
 *  - retries are bounded: failures without an event, or a while of quiet life, between them end in
 *    `stale`, which only a person (or the browser coming back online) leaves.
 *
 * The module is pure: time and randomness are arguments, and what must be done outside is returned as
 * effects. `follow-session.ts` carries them out.
 */

/** Milliseconds before the n-th retry; after the last of them the tail is stale. */
export const RETRY_DELAYS_MS = [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000] as const

/** A tail that was live this long has proved its connection: the next failure counts as the first. */
export const PROVEN_LIVE_MS = 30_000

/** A part of the journal that retention had already removed when it was asked for; both ends included. */
export interface JournalGap {
  from: number
  to: number
}

export type TailEndReason = 'SESSION_CLOSED' | 'SESSION_DELETED' | 'REVOKED' | 'STOPPED'
export type WatchEndReason =
  | 'REPLAY_GAP'
  | 'OVERFLOW'
  | 'SESSION_CLOSED'
  | 'SESSION_DELETED'
  | 'REVOKED'
  | 'SHUTTING_DOWN'

interface Position {
  /** The last sequence handed on; 0 before the first. */
  cursor: number
  gaps: readonly JournalGap[]
  /** Failures since the last sign of life; indexes `RETRY_DELAYS_MS`. */
  failures: number
}

export type TailState =
  | { name: 'idle' }
  /** `target` is null until the probe that runs beside the watch has said where the journal ends. */
  | (Position & { name: 'replaying'; target: number | null; progressed: boolean })
  | (Position & { name: 'live'; since: number; progressed: boolean })
  | (Position & { name: 'reconnecting'; since: number })
  | (Position & { name: 'stale'; since: number })
  | (Position & { name: 'ended'; reason: TailEndReason })

export type TailInput =
  | { type: 'start'; after: number }
  /** The probe answered: the server is reachable and its journal ends at `latest`. */
  | { type: 'probed'; latest: number }
  | { type: 'event'; sequence: number }
  | { type: 'end'; reason: WatchEndReason; resumeAfter: number; earliest: number | null }
  /** The watch or the probe failed, or the stream completed without saying why. */
  | { type: 'dropped' }
  | { type: 'retryDue' }
  /** A person asked to go on, or the browser says it is online again. */
  | { type: 'resume' }
  | { type: 'stop' }

export type TailEffect =
  /** Open a watch after this cursor and probe the journal's end; whatever was open before is closed. */
  | { type: 'open'; after: number }
  | { type: 'close' }
  /** Hand on the event that was the input. */
  | { type: 'deliver' }
  | { type: 'retryIn'; ms: number }

export interface TailStep {
  state: TailState
  effects: readonly TailEffect[]
}

export const idleTail: TailState = { name: 'idle' }

/**
 * One step. Total: an input that means nothing in a state changes nothing.
 * @param now milliseconds since the epoch, only stored as `since`
 * @param random 0…1, spreads retries by ±20 % so that many consoles don't come back at once
 */
export function stepTail(state: TailState, input: TailInput, now: number, random: number): TailStep {
  switch (input.type) {
    case 'start':
      return open({ cursor: input.after, gaps: [], failures: 0 })
    case 'probed':
      return probed(state, input.latest, now)
    case 'event':
      return arrived(state, input.sequence, now, random)
    case 'end':
      return isWatching(state) ? watchEnded(state, input, now, random) : same(state)
    case 'dropped':
      return isWatching(state) ? failed(state, now, random) : same(state)
    case 'retryDue':
      return state.name === 'reconnecting' ? open(state) : same(state)
    case 'resume':
      return state.name === 'reconnecting' || state.name === 'stale'
        ? open({ ...state, failures: 0 })
        : same(state)
    case 'stop':
      return state.name === 'idle' || state.name === 'ended'
        ? same(state)
        : { state: { ...position(state), name: 'ended', reason: 'STOPPED' }, effects: [{ type: 'close' }] }
    default:
      return unreachable(input)
  }
}

type Watching = Extract<TailState, { name: 'replaying' | 'live' }>

function isWatching(state: TailState): state is Watching {
  return state.name === 'replaying' || state.name === 'live'
}

function position(state: Position): Position {
  return { cursor: state.cursor, gaps: state.gaps, failures: state.failures }
}

function same(state: TailState): TailStep {
  return { state, effects: [] }
}

function open(from: Position): TailStep {
  return {
    state: { ...position(from), name: 'replaying', target: null, progressed: false },
    effects: [{ type: 'open', after: from.cursor }],
  }
}

function probed(state: TailState, latest: number, now: number): TailStep {
  if (state.name !== 'replaying') return same(state)
  const next = { ...position(state), progressed: state.progressed }
  return same(
    state.cursor >= latest
      ? { ...next, name: 'live', since: now }
      : { ...next, name: 'replaying', target: latest },
  )
}

function arrived(state: TailState, sequence: number, now: number, random: number): TailStep {
  if (!isWatching(state) || sequence <= state.cursor) return same(state)
  // A dense journal never jumps: a jump means that something was lost on the way.
  if (sequence !== state.cursor + 1) return failed(state, now, random)
  const next = { cursor: sequence, gaps: state.gaps, failures: 0, progressed: true }
  return { state: moved(state, next, now), effects: [{ type: 'deliver' }] }
}

function moved(state: Watching, next: Position & { progressed: boolean }, now: number): TailState {
  if (state.name === 'live') return { ...next, name: 'live', since: state.since }
  return state.target !== null && next.cursor >= state.target
    ? { ...next, name: 'live', since: now }
    : { ...next, name: 'replaying', target: state.target }
}

function watchEnded(
  state: Watching,
  end: Extract<TailInput, { type: 'end' }>,
  now: number,
  random: number,
): TailStep {
  switch (end.reason) {
    case 'SESSION_CLOSED':
    case 'SESSION_DELETED':
    case 'REVOKED':
      return {
        state: { ...position(state), name: 'ended', reason: end.reason },
        effects: [{ type: 'close' }],
      }
    case 'OVERFLOW':
      // `resumeAfter` of an unfiltered watch is the last event it delivered, which is `cursor`; ours is kept
      // because it can't be wrong about what was handed on. A reader that got nothing at all backs off.
      return state.progressed ? open(state) : failed(state, now, random)
    case 'REPLAY_GAP': {
      const earliest = end.earliest ?? state.cursor + 1
      if (earliest <= state.cursor + 1) return failed(state, now, random)
      const gap = { from: state.cursor + 1, to: earliest - 1 }
      return open({ ...state, cursor: earliest - 1, gaps: [...state.gaps, gap] })
    }
    case 'SHUTTING_DOWN':
      return failed(state, now, random)
    default:
      return unreachable(end.reason)
  }
}

function failed(state: Watching, now: number, random: number): TailStep {
  const proven = state.name === 'live' && now - state.since >= PROVEN_LIVE_MS
  const failures = proven ? 0 : state.failures
  const delay = RETRY_DELAYS_MS[failures]
  if (delay === undefined)
    return { state: { ...position(state), name: 'stale', since: now }, effects: [{ type: 'close' }] }
  return {
    state: { ...position(state), failures: failures + 1, name: 'reconnecting', since: now },
    effects: [{ type: 'close' }, { type: 'retryIn', ms: Math.round(delay * (0.8 + 0.4 * random)) }],
  }
}

function unreachable(value: never): never {
  throw new TypeError(`Not a tail input: ${String(value)}`)
}
