import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { eventually } from '../kit/eventually.ts'
import { givenSession, type Story } from '../kit/story.ts'
import { endsOf, range, sequencesOf, watchSession } from '../kit/watching.ts'

let app: TestApp
let other: Awaited<ReturnType<TestApp['another']>>
beforeAll(async () => {
  app = await startApp()
  other = await app.another()
})
/** Every race leaves sound data, and no two writers ever waited for each other in a circle. */
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
  const [row] = await app.db.$queryRaw<{ deadlocks: bigint }[]>`
    SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
  expect(row?.deadlocks).toBe(0n)
})
afterAll(() => app.close())

const rounds = process.env.TEST_LONG ? 200 : 12
const codesOf = (answers: { __typename: string; code?: string }[]) =>
  answers.map((each) => each.code ?? each.__typename).sort()
const count = (answers: { __typename: string; code?: string }[]) => {
  const counts: Record<string, number> = {}
  for (const code of codesOf(answers)) counts[code] = (counts[code] ?? 0) + 1
  return counts
}
const submit = (story: Story, sessionId = story.sessionId, owner = story.owner, more: object = {}) =>
  owner.mutate<{ code?: string; run: { id: string } }>(
    'submitTurn',
    { sessionId, text: 'Go on.', ...more },
    'run{id}',
  )
const sessions = async (story: Story, many: number) => {
  const ids: string[] = []
  for (let n = 0; n < many; n += 1) ids.push((await story.session()).sessionId)
  return ids
}

describe('at once', () => {
  test('a cancel and a completion: one ends the run, the other is told', async () => {
    const story = await givenSession(app)
    for (let n = 0; n < rounds; n += 1) {
      const { runId, runToken } = await story.run()
      const answers = await Promise.all([
        other.owner.mutate<{ code?: string }>('cancelRun', { runId, reason: 'stop' }, 'run{state}'),
        story.owner.mutate<{ code?: string }>('completeRun', { runId, runToken, answer: 'x' }, 'run{state}'),
      ])
      const { state } = await story.runNow()
      const codes = answers.map((each) => each.code ?? null)
      expect(codes).toEqual(state === 'CANCELLED' ? [null, 'RUN_FENCED'] : ['CONFLICT', null])
    }
  })

  test('a close and a turn: the turn is taken before it, or finds the session closed', async () => {
    const story = await givenSession(app, { maxConcurrentRuns: 100 })
    for (const sessionId of await sessions(story, rounds)) {
      const [turn, close] = await Promise.all([
        submit(story, sessionId),
        other.owner.mutate<{ code?: string }>('closeSession', { sessionId }, 'session{state}'),
      ])
      expect([
        [undefined, 'CONFLICT'],
        ['SESSION_CLOSED', undefined],
      ]).toContainEqual([turn.code, close.code])
      if (!turn.code) await story.owner.do('cancelRun', { runId: turn.run.id, reason: 'x' }, 'run{id}')
    }
  })

  test('a close that cancels and turns of eight runs: no run survives the close', async () => {
    const story = await givenSession(app, { maxConcurrentRuns: 100, maxLiveRunsPerSession: 8 })
    for (let n = 0; n < 3; n += 1) await story.runtime(8)
    for (const sessionId of await sessions(story, rounds)) {
      const turns = Promise.all(
        range(1, 10).map((n) => submit(story, sessionId, n % 2 ? story.owner : other.owner)),
      )
      const close = story.owner.do('closeSession', { sessionId, cancelActive: true }, 'session{state}')
      await Promise.all([turns, close])
      const { session } = await story.owner.query<{ session: { state: string; liveRuns: number } }>(
        'query($id:ID!){session(id:$id){state liveRuns}}',
        { id: sessionId },
      )
      expect(session).toEqual({ state: 'CLOSED', liveRuns: 0 })
    }
  })

  test('a deletion and watches: each watch ends once, as deleted, or was too late', async () => {
    const story = await givenSession(app)
    for (const sessionId of await sessions(story, rounds)) {
      const watches = range(1, 6).map((n) =>
        watchSession(n % 2 ? story.owner : other.owner, { sessionId, after: n % 3 ? 0 : 1 }),
      )
      await other.owner.do('deleteSession', { sessionId }, 'deletedId')
      for (const watch of watches) {
        await watch.ended
        const [end, ...more] = endsOf(watch.items)
        expect(more).toEqual([])
        if (end) expect(end.reason).toBe('SESSION_DELETED')
        else expect(JSON.stringify(watch.failure())).toMatch(/NOT_FOUND|INVALID_CURSOR/)
      }
    }
    await eventually(() => app.app.sessions.watches + other.app.sessions.watches === 0)
  })

  test('twenty turns of one session: one is taken', async () => {
    const story = await givenSession(app)
    const answers = await Promise.all(
      range(1, 20).map((n) => submit(story, story.sessionId, n % 2 ? story.owner : other.owner)),
    )
    expect(count(answers)).toEqual({ SubmitTurnSuccess: 1, SESSION_BUSY: 19 })
  })

  test('twenty turns for four slots of the project: four are taken', async () => {
    const story = await givenSession(app)
    await story.runtime(100)
    const answers = await Promise.all(
      (await sessions(story, 20)).map((id, n) => submit(story, id, n % 2 ? story.owner : other.owner)),
    )
    expect(count(answers)).toEqual({ SubmitTurnSuccess: 4, CAPACITY: 16 })
  })

  test('as many turns as three runtimes have slots: each finds its slot, and one more none', async () => {
    for (let n = 0; n < rounds / 4; n += 1) {
      const story = await givenSession(app, { maxConcurrentRuns: 100 })
      await story.runtime(1)
      await story.runtime(3)
      const ids = await sessions(story, 8)
      const answers = await Promise.all(
        ids.map((id, k) => submit(story, id, k % 2 ? story.owner : other.owner)),
      )
      expect(count(answers)).toEqual({ SubmitTurnSuccess: 8 })
      const [more] = await sessions(story, 1)
      expect((await submit(story, more)).code).toBe('RUNTIME_UNAVAILABLE')
    }
  })

  test('answers, cancels and new turns of many sessions with shared runtimes', async () => {
    const story = await givenSession(app, { maxConcurrentRuns: 100 })
    await story.runtime(50)
    const runs: { runId: string; runToken: string; approvalId: string }[] = []
    for (let n = 0; n < 10; n += 1) {
      await story.session()
      const turn = await submit(story, story.sessionId, story.owner, { runtimeId: story.runtimeId })
      const runId = turn.run.id
      const { runToken } = await story.owner.do<{ runToken: string }>(
        'startRun',
        { runId, runtimeId: story.runtimeId },
        'runToken',
      )
      const { approval } = await story.owner.do<{ approval: { id: string } }>(
        'requestApproval',
        { runId, runToken, kind: 'TOOL', title: 'May I?', payload: {} },
        'approval{id}',
      )
      runs.push({ runId, runToken, approvalId: approval.id })
    }
    const fresh = await sessions(story, 10)
    const results = await Promise.all([
      ...runs.map(({ approvalId }) =>
        story.owner.mutate('resolveApproval', { approvalId, decision: 'allow' }, '__typename'),
      ),
      ...runs.map(({ runId }) => other.owner.mutate('cancelRun', { runId, reason: 'x' }, '__typename')),
      ...runs.map(({ runId }) => story.owner.mutate('steerRun', { runId, text: 'Hurry.' }, '__typename')),
      ...fresh.map((id) => submit(story, id, other.owner, { runtimeId: story.runtimeId })),
    ])
    for (const result of results) expect(result.__typename).toMatch(/Success$|^Conflict$/)
  })

  test('an expiry and a start of an offer, and sweeps of two servers: one of them decides', async () => {
    // What earlier tests left offered is due as well by now, and a pass takes fifty.
    app.clock.advance(30_000)
    while ((await app.db.run.count({ where: { state: 'OFFERED' } })) > 0) await app.app.sweeper.sweep()
    const story = await givenSession(app, { maxConcurrentRuns: 100 })
    for (const sessionId of await sessions(story, Math.min(rounds, 20))) {
      const turn = await submit(story, sessionId)
      expect(turn.code).toBeUndefined()
      app.clock.advance(29_999)
      const runtime = { runId: turn.run.id, runtimeId: story.runtimeId }
      const start = story.owner.mutate<{ code?: string }>('startRun', runtime, 'runToken')
      app.clock.advance(1)
      await Promise.all([start, app.app.sweeper.sweep(), other.app.sweeper.sweep()])
      const run = await story.runNow(turn.run.id)
      if ((await start).code)
        expect(run).toMatchObject({ state: 'FAILED', failureCode: 'OFFER_EXPIRED', effects: 'NONE' })
      else {
        expect(run.state).toBe('RUNNING')
        await story.owner.do('cancelRun', { runId: turn.run.id, reason: 'x' }, 'run{id}')
      }
      await story.owner.do('heartbeatRuntime', { runtimeId: story.runtimeId }, 'runtime{state}')
    }
  })

  test('a new start, a cancel and the writes of the old token: nothing of them lies behind either', async () => {
    const story = await givenSession(app)
    for (let n = 0; n < rounds; n += 1) {
      const { runId, runToken, runtimeId } = await story.run()
      const ends = n % 2 === 0
      const write = (k: number) =>
        (k % 2 ? other : app).owner.mutate<{ code?: string; cursor: number }>(
          'recordRunEvents',
          { runId, runToken, events: [1, 2].map((m) => ({ type: 'INFO', payload: { n, k, m } })) },
          'cursor',
        )
      const fence = ends
        ? story.owner.mutate<{ code?: string }>('cancelRun', { runId, reason: 'x' }, '__typename')
        : story.owner.mutate<{ code?: string }>('startRun', { runId, runtimeId }, 'runToken')
      const [fenced, ...writes] = await Promise.all([fence, ...range(1, 8).map(write)])
      expect(fenced?.code).toBeUndefined()
      const journal = await story.journal()
      const behind = journal.findLast(({ type }) => type === (ends ? 'RUN_CANCELLED' : 'RUN_STARTED'))
      const taken = writes.filter(({ code }) => code === undefined)
      for (const { code } of writes) expect([undefined, 'RUN_FENCED', 'CONFLICT']).toContain(code)
      for (const { cursor } of taken) expect(cursor).toBeLessThan(behind?.sequence ?? 0)
      const written = journal.filter((event) => event.type === 'INFO' && event.payload.n === n)
      expect(written.length).toBe(2 * taken.length)
      if (!ends) await story.owner.do('cancelRun', { runId, reason: 'x' }, '__typename')
    }
  })

  test('a session’s writers and its watchers on two servers: dense for all', async () => {
    const story = await givenSession(app, { maxLiveRunsPerSession: 8, maxConcurrentRuns: 8 })
    await story.runtime(8)
    const writers = []
    for (let n = 0; n < 6; n += 1) {
      const turn = await submit(story, story.sessionId, story.owner, { runtimeId: story.runtimeId })
      const { runToken } = await story.owner.do<{ runToken: string }>(
        'startRun',
        { runId: turn.run.id, runtimeId: story.runtimeId },
        'runToken',
      )
      writers.push({ runId: turn.run.id, runToken })
    }
    const watches = [app, other, app, other].map((server) =>
      watchSession(server.owner, { sessionId: story.sessionId, after: 0 }),
    )
    await Promise.all(
      writers.map(async (writer, k) => {
        for (let n = 0; n < 10; n += 1)
          await (k % 2 ? other : app).owner.do(
            'recordRunEvents',
            { ...writer, events: range(1, 1 + (n % 4)).map((m) => ({ type: 'INFO', payload: { m } })) },
            'cursor',
          )
      }),
    )
    const last = (await story.journal()).length
    for (const watch of watches) {
      await eventually(() => watch.items.at(-1)?.sequence === last)
      expect(sequencesOf(watch.items)).toEqual(range(1, last))
      await watch.stop()
    }
  })
})
