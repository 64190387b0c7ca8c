import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  idleTail,
  PROVEN_LIVE_MS,
  RETRY_DELAYS_MS,
  stepTail,
  type TailInput,
  type TailState,
} from '../../console/src/domains/sessions/event-tail.ts'
import { followSession, type WatchSink } from '../../console/src/domains/sessions/follow-session.ts'

type Name = TailState['name']
type Type = TailInput['type']

const at = 1_000
const position = { cursor: 4, gaps: [], failures: 0 }
const states: Record<Name, TailState> = {
  idle: idleTail,
  replaying: { ...position, name: 'replaying', target: 5, progressed: true },
  live: { ...position, name: 'live', since: at, progressed: true },
  reconnecting: { ...position, failures: 1, name: 'reconnecting', since: at },
  stale: { ...position, failures: RETRY_DELAYS_MS.length, name: 'stale', since: at },
  ended: { ...position, name: 'ended', reason: 'SESSION_CLOSED' },
}
const inputs: Record<Type, TailInput> = {
  start: { type: 'start', after: 9 },
  probed: { type: 'probed', latest: 4 },
  event: { type: 'event', sequence: 5 },
  end: { type: 'end', reason: 'OVERFLOW', resumeAfter: 4, earliest: null },
  dropped: { type: 'dropped' },
  retryDue: { type: 'retryDue' },
  resume: { type: 'resume' },
  stop: { type: 'stop' },
}

/** The state after each input in each state; null: nothing changes. */
const table: Record<Name, Record<Type, Name | null>> = {
  idle: {
    start: 'replaying',
    probed: null,
    event: null,
    end: null,
    dropped: null,
    retryDue: null,
    resume: null,
    stop: null,
  },
  replaying: {
    start: 'replaying',
    probed: 'live',
    event: 'live',
    end: 'replaying',
    dropped: 'reconnecting',
    retryDue: null,
    resume: null,
    stop: 'ended',
  },
  live: {
    start: 'replaying',
    probed: null,
    event: 'live',
    end: 'replaying',
    dropped: 'reconnecting',
    retryDue: null,
    resume: null,
    stop: 'ended',
  },
  reconnecting: {
    start: 'replaying',
    probed: null,
    event: null,
    end: null,
    dropped: null,
    retryDue: 'replaying',
    resume: 'replaying',
    stop: 'ended',
  },
  stale: {
    start: 'replaying',
    probed: null,
    event: null,
    end: null,
    dropped: null,
    retryDue: null,
    resume: 'replaying',
    stop: 'ended',
  },
  ended: {
    start: 'replaying',
    probed: null,
    event: null,
    end: null,
    dropped: null,
    retryDue: null,
    resume: null,
    stop: null,
  },
}

const step = (state: TailState, input: TailInput, now = at) => stepTail(state, input, now, 0.5)

describe('the tail of a session journal', () => {
  for (const from of Object.keys(table) as Name[])
    for (const type of Object.keys(table[from]) as Type[])
      test(`${from} + ${type} → ${table[from][type] ?? 'no change'}`, () => {
        const { state, effects } = step(states[from], inputs[type])
        const expected = table[from][type]
        if (expected === null) {
          expect(state).toBe(states[from])
          expect(effects).toEqual([])
        } else expect(state.name).toBe(expected)
      })

  test('case 02: a new watch starts after the last event handed on, not where the first one started', () => {
    let state = step(idleTail, { type: 'start', after: 0 }).state
    state = step(state, { type: 'event', sequence: 1 }).state
    state = step(state, { type: 'event', sequence: 2 }).state
    state = step(state, { type: 'dropped' }).state
    expect(step(state, { type: 'retryDue' }).effects).toEqual([{ type: 'open', after: 2 }])
  })

  test('an event that was handed on before is dropped, a hole opens the watch again', () => {
    expect(step(states.live, { type: 'event', sequence: 4 })).toEqual({ state: states.live, effects: [] })
    const hole = step(states.live, { type: 'event', sequence: 7 })
    expect(hole.state).toMatchObject({ name: 'reconnecting', cursor: 4 })
    expect(hole.effects).toEqual([{ type: 'close' }, { type: 'retryIn', ms: 250 }])
  })

  test('case 03: retries back off, are bounded, and end in a state that a person can leave', () => {
    let state: TailState = { ...states.replaying, target: null } as TailState
    const waits: number[] = []
    for (let n = 0; n <= RETRY_DELAYS_MS.length; n++) {
      const failed = step(state, { type: 'dropped' })
      for (const effect of failed.effects) if (effect.type === 'retryIn') waits.push(effect.ms)
      state = step(failed.state, { type: 'retryDue' }).state
    }
    expect(waits).toEqual([...RETRY_DELAYS_MS])
    expect(state.name).toBe('stale')
    const resumed = step(state, { type: 'resume' })
    expect(resumed.effects).toEqual([{ type: 'open', after: 4 }])
    expect(resumed.state).toMatchObject({ failures: 0 })
  })

  test('an answered probe alone does not make retries endless, a while of quiet life does start them anew', () => {
    let state: TailState = step({ ...states.live, failures: 3 } as TailState, { type: 'dropped' }).state
    expect(state).toMatchObject({ failures: 4 })
    state = step(state, { type: 'retryDue' }).state
    state = step(state, { type: 'probed', latest: 4 }).state
    expect(step(state, { type: 'dropped' }, at + PROVEN_LIVE_MS - 1).state).toMatchObject({ failures: 5 })
    expect(step(state, { type: 'dropped' }, at + PROVEN_LIVE_MS).state).toMatchObject({ failures: 1 })
  })

  test('case 09: an overflow resumes at once after the last event, and backs off when nothing came', () => {
    expect(step(states.live, inputs.end).effects).toEqual([{ type: 'open', after: 4 }])
    const nothing: TailState = { ...position, name: 'replaying', target: null, progressed: false }
    expect(step(nothing, inputs.end).state.name).toBe('reconnecting')
  })

  test('case 06: what retention removed is named and the tail goes on at the earliest event', () => {
    const gap = step(states.replaying, { type: 'end', reason: 'REPLAY_GAP', resumeAfter: 4, earliest: 90 })
    expect(gap.state).toMatchObject({ name: 'replaying', cursor: 89, gaps: [{ from: 5, to: 89 }] })
    expect(gap.effects).toEqual([{ type: 'open', after: 89 }])
  })

  test('a closed, deleted or withdrawn session ends the tail with its reason', () => {
    for (const reason of ['SESSION_CLOSED', 'SESSION_DELETED', 'REVOKED'] as const) {
      const ended = step(states.live, { type: 'end', reason, resumeAfter: 4, earliest: null })
      expect(ended.state).toMatchObject({ name: 'ended', reason, cursor: 4 })
      expect(ended.effects).toEqual([{ type: 'close' }])
    }
  })
})

interface Numbered {
  sequence: number
}

/** A journal and a clock whose every move the test makes. */
function world(length: number) {
  const sinks: { after: number; sink: WatchSink<Numbered>; open: boolean }[] = []
  const probes: { resolve: (latest: number) => void; reject: () => void }[] = []
  const timers = new Set<() => void>()
  const frames = new Set<() => void>()
  const delivered: number[] = []
  const batches: number[] = []
  const names: Name[] = []
  const callLater = (queue: Set<() => void>) => (run: () => void) => {
    queue.add(run)
    return () => void queue.delete(run)
  }
  const later = callLater(timers)
  const follower = followSession<Numbered>({
    watch: (after, sink) => {
      const watch = { after, sink, open: true }
      sinks.push(watch)
      return () => {
        watch.open = false
      }
    },
    probe: () =>
      new Promise((resolve, reject) =>
        probes.push({ resolve, reject: () => reject(new Error('unreachable')) }),
      ),
    now: () => at,
    random: () => 0.5,
    later: (_ms, run) => later(run),
    frame: callLater(frames),
    onEvents: (events) => {
      batches.push(events.length)
      delivered.push(...events.map((event) => event.sequence))
    },
    onState: (state) => names.push(state.name),
  })
  const runAll = (queue: Set<() => void>) => {
    const due = [...queue]
    queue.clear()
    for (const run of due) run()
  }
  return {
    follower,
    sinks,
    probes,
    delivered,
    batches,
    names,
    journal: length,
    frame: () => runAll(frames),
    tick: () => runAll(timers),
  }
}

describe('following a session', () => {
  test('events of one frame are handed on together and in order', () => {
    const it = world(500)
    it.follower.start(0)
    for (let sequence = 1; sequence <= 500; sequence++) it.sinks[0]!.sink.event({ sequence })
    expect(it.batches).toEqual([])
    it.frame()
    expect(it.batches).toEqual([500])
    expect(it.delivered.at(-1)).toBe(500)
  })

  test('the last events arrive before the news that the session is closed', () => {
    const it = world(2)
    it.follower.start(0)
    it.sinks[0]!.sink.event({ sequence: 1 })
    it.sinks[0]!.sink.end('SESSION_CLOSED', 1, null)
    expect(it.delivered).toEqual([1])
    expect(it.names.at(-1)).toBe('ended')
  })

  test('a watch that was replaced is closed and can no longer speak', () => {
    const it = world(3)
    it.follower.start(0)
    it.sinks[0]!.sink.dropped()
    it.tick()
    expect(it.sinks.map((watch) => watch.open)).toEqual([false, true])
    it.sinks[0]!.sink.event({ sequence: 1 })
    it.frame()
    expect(it.delivered).toEqual([])
  })

  test('after stop nothing is handed on and no retry is left', () => {
    const it = world(3)
    it.follower.start(0)
    it.sinks[0]!.sink.event({ sequence: 1 })
    it.follower.stop()
    it.frame()
    it.tick()
    expect(it.delivered).toEqual([])
    expect(it.sinks).toHaveLength(1)
  })

  test('a server that fails the probe is tried again', async () => {
    const it = world(3)
    it.follower.start(0)
    it.probes[0]!.reject()
    await expect.poll(() => it.follower.state().name).toBe('reconnecting')
    it.tick()
    it.probes[1]!.resolve(0)
    await expect.poll(() => it.follower.state().name).toBe('live')
  })

  test('case 01: whatever the connection does, each event is handed on once and in order', () => {
    const move = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ do: fc.constant('send' as const), count: fc.integer({ min: 1, max: 9 }) }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('drop' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('overflow' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('shutdown' as const) }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('frame' as const) }) },
    )
    fc.assert(
      fc.property(fc.array(move, { maxLength: 80 }), (moves) => {
        const total = 60
        const it = world(total)
        it.follower.start(0)
        const sent = new Map<object, number>()
        const current = () => it.sinks.at(-1)!
        const next = () => sent.get(current()) ?? current().after
        const send = (skip: number) => {
          const sequence = next() + 1 + skip
          if (!current().open || sequence > total) return
          sent.set(current(), sequence)
          current().sink.event({ sequence })
        }
        const revive = () => {
          it.tick()
          if (!current().open) it.follower.resume()
        }
        for (const action of moves) {
          if (action.do === 'send') for (let n = 0; n < action.count; n++) send(0)
          else if (action.do === 'drop') current().sink.dropped()
          else if (action.do === 'overflow') current().sink.end('OVERFLOW', next(), null)
          else if (action.do === 'shutdown') current().sink.end('SHUTTING_DOWN', next(), null)
          else if (action.do === 'repeat') current().sink.event({ sequence: Math.max(1, next()) })
          else if (action.do === 'lose') send(1)
          else it.frame()
          revive()
        }
        while (next() < total) send(0)
        it.frame()
        expect(it.delivered).toEqual(Array.from({ length: total }, (_, n) => n + 1))
      }),
      { numRuns: 300 },
    )
  })
})
