import { graphql } from '../../data/graphql.ts'
import { liveState, onLiveState, onReconnected, socket } from '../../data/live.ts'
import { watch } from '../../data/watch.ts'
import type { TailState } from './event-tail.ts'
import { followSession, type SessionFollower, type WatchSink } from './follow-session.ts'
import { type SessionEvent, SessionEventFields } from './session-event.ts'

const SessionEvents = graphql(
  `
  subscription SessionEvents($sessionId: ID!, $after: Int) {
    sessionEvents(sessionId: $sessionId, after: $after, queueSize: 4096) {
      __typename
      ... on SessionEvent { ...SessionEventFields }
      ... on WatchEnd { reason resumeAfter earliest }
    }
  }
`,
  [SessionEventFields],
)

const journalEnd = 'query JournalEnd($id: ID!) { session(id: $id) { id events(first: 1) { latest } } }'

/** Asked over the same connection as the watch: an answer says that this connection works. */
function probe(sessionId: string): Promise<number> {
  return new Promise((resolve, reject) => {
    socket().subscribe<{ session: { events: { latest: number } } | null }>(
      { query: journalEnd, variables: { id: sessionId } },
      {
        next: ({ data }) => {
          if (data?.session) resolve(data.session.events.latest)
          else reject(new Error('no session'))
        },
        error: reject,
        complete: () => reject(new Error('no answer')),
      },
    )
  })
}

function open(sessionId: string, after: number, sink: WatchSink<SessionEvent>): () => void {
  let cursor = after
  const stop = watch(SessionEvents, () => ({ sessionId, after: cursor }), {
    next: ({ sessionEvents: item }) => {
      if (item.__typename === 'WatchEnd') {
        sink.end(item.reason, item.resumeAfter, item.earliest)
        return
      }
      cursor = Math.max(cursor, item.sequence)
      sink.event(item)
    },
    ended: () => sink.dropped(),
  })
  const forget = onLiveState(() => {
    const { phase } = liveState()
    if (phase === 'reconnecting' || phase === 'stale') sink.dropped()
  })
  return () => {
    forget()
    stop()
  }
}

/** Follows one session over the console's socket; the socket coming back ends any wait between tries. */
export function followJournal(
  sessionId: string,
  onEvents: (events: readonly SessionEvent[]) => void,
  onState: (state: TailState) => void,
): SessionFollower {
  const follower = followSession<SessionEvent>({
    watch: (after, sink) => open(sessionId, after, sink),
    probe: () => probe(sessionId),
    now: Date.now,
    random: Math.random,
    later: (ms, run) => {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
    frame: pacedFrames(),
    onEvents,
    onState,
  })
  const forget = onReconnected(() => follower.resume())
  return {
    ...follower,
    stop: () => {
      forget()
      follower.stop()
    },
  }
}

/** The eye follows no more updates than this; frames in between stay free for scrolling. In milliseconds. */
const PACE_MS = 48

/**
 * With an animation frame, but not sooner than `PACE_MS` after the one before. A hidden window gets no
 * frames; a timer keeps its batches bounded.
 */
function pacedFrames(): (run: () => void) => () => void {
  let last = 0
  return (run) => {
    if (document.visibilityState === 'hidden') {
      const timer = setTimeout(run, 250)
      return () => clearTimeout(timer)
    }
    let request = 0
    const fire = () => {
      request = requestAnimationFrame((now) => {
        last = now
        run()
      })
    }
    const timer = setTimeout(fire, Math.max(0, last + PACE_MS - performance.now()))
    return () => {
      clearTimeout(timer)
      cancelAnimationFrame(request)
    }
  }
}
