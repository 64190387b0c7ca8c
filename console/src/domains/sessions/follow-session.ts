import { idleTail, stepTail, type TailInput, type TailState, type WatchEndReason } from './event-tail.ts'

/** What one opened watch reports. Calls after `close` are ignored. */
export interface WatchSink<Event> {
  event(event: Event): void
  end(reason: WatchEndReason, resumeAfter: number, earliest: number | null): void
  /** The transport failed or completed without a closing item. */
  dropped(): void
}

export interface FollowPorts<Event> {
  /** Opens a watch after a cursor; returns what closes it. */
  watch(after: number, sink: WatchSink<Event>): () => void
  /** The sequence of the journal's last event now. Rejects when the server can't be reached. */
  probe(): Promise<number>
  now(): number
  /** 0…1 */
  random(): number
  /** Runs a callback after so many milliseconds; returns what cancels it. */
  later(ms: number, run: () => void): () => void
  /** Runs a callback with the next animation frame; returns what cancels it. */
  frame(run: () => void): () => void
  onEvents(events: readonly Event[]): void
  onState(state: TailState): void
}

export interface SessionFollower {
  start(after: number): void
  resume(): void
  stop(): void
  state(): TailState
}

/**
 * Carries out the effects of the tail's state machine. Events of one animation frame are handed on
 * together and in order, so that 200 of them a second cost at most 60 renders.
 */
export function followSession<Event extends { sequence: number }>(
  ports: FollowPorts<Event>,
): SessionFollower {
  let state: TailState = idleTail
  let closeWatch: () => void = () => {}
  let cancelRetry: () => void = () => {}
  let cancelFrame: (() => void) | null = null
  let batch: Event[] = []

  const flush = () => {
    cancelFrame?.()
    cancelFrame = null
    if (batch.length === 0) return
    const events = batch
    batch = []
    ports.onEvents(events)
  }

  const hand = (event: Event) => {
    batch.push(event)
    cancelFrame ??= ports.frame(() => {
      cancelFrame = null
      flush()
    })
  }

  const open = (after: number) => {
    closeWatch()
    cancelRetry()
    let current = true
    let close: (() => void) | null = null
    const accept = (input: TailInput, event?: Event) => {
      if (current) take(input, event)
    }
    closeWatch = () => {
      current = false
      closeWatch = () => {}
      close?.()
    }
    const closed = ports.watch(after, {
      event: (event) => accept({ type: 'event', sequence: event.sequence }, event),
      end: (reason, resumeAfter, earliest) => accept({ type: 'end', reason, resumeAfter, earliest }),
      dropped: () => accept({ type: 'dropped' }),
    })
    // The watch may have failed while it was being opened; then nobody else closes it.
    if (current) close = closed
    else closed()
    if (!current) return
    ports.probe().then(
      (latest) => accept({ type: 'probed', latest }),
      () => accept({ type: 'dropped' }),
    )
  }

  const take = (input: TailInput, event?: Event) => {
    const before = state
    const step = stepTail(state, input, ports.now(), ports.random())
    state = step.state
    for (const effect of step.effects) {
      if (effect.type === 'open') open(effect.after)
      else if (effect.type === 'close') closeWatch()
      else if (effect.type === 'retryIn')
        cancelRetry = ports.later(effect.ms, () => take({ type: 'retryDue' }))
      else if (event !== undefined) hand(event)
    }
    // The last events belong before the news that nothing follows them.
    if (state.name !== before.name && state.name !== 'live') flush()
    if (state !== before && (state.name !== before.name || input.type !== 'event')) ports.onState(state)
  }

  return {
    start: (after) => take({ type: 'start', after }),
    resume: () => take({ type: 'resume' }),
    stop: () => {
      cancelRetry()
      closeWatch()
      cancelFrame?.()
      cancelFrame = null
      batch = []
      take({ type: 'stop' })
    },
    state: () => state,
  }
}
