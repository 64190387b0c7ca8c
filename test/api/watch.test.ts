import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { eventually } from '../kit/eventually.ts'
import { givenSession, type Story } from '../kit/story.ts'
import { endOf, endsOf, range, sequencesOf, sessionWatch, watchSession } from '../kit/watching.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

const open = () => app.app.sessions.watches
const infos = (count: number, from = 0) =>
  range(from + 1, from + count).map((n) => ({ type: 'INFO', payload: { n } }))
const latest = (story: Story) => story.latest()

describe('S10: a watch', () => {
  test('after 4 000 of 10 000 events of 8 writers delivers each later one once, rising', async () => {
    const story = await givenSession(app, { maxLiveRunsPerSession: 8, maxConcurrentRuns: 8 })
    await story.runtime(8)
    const runs = []
    for (let n = 0; n < 8; n += 1) runs.push((await story.turn()).runId)
    const writers = await Promise.all(
      runs.map(async (runId) => {
        const { run } = await story.owner.query<{ run: { runtime: { id: string } } }>(
          'query($id:ID!){run(id:$id){runtime{id}}}',
          { id: runId },
        )
        const { runToken } = await story.owner.do<{ runToken: string }>(
          'startRun',
          { runId, runtimeId: run.runtime.id },
          'runToken',
        )
        return { runId, runToken }
      }),
    )
    let reached = 0
    const write = async (batches: number) => {
      await Promise.all(
        writers.map(async (writer) => {
          for (let n = 0; n < batches; n += 1) {
            const { cursor } = await story.owner.do<{ cursor: number }>(
              'recordRunEvents',
              { ...writer, events: infos(100) },
              'cursor',
            )
            reached = Math.max(reached, cursor)
          }
        }),
      )
    }
    await write(6)
    const writing = write(7)
    const watches = [4_000, 4_000, 0].map((after) =>
      watchSession(story.owner, { sessionId: story.sessionId, after }),
    )
    await writing
    const last = await latest(story)
    expect(last).toBe(reached)
    expect(last).toBeGreaterThan(10_000)
    for (const [index, watch] of watches.entries()) {
      await eventually(() => watch.items.at(-1)?.sequence === last)
      expect(sequencesOf(watch.items)).toEqual(range(index === 2 ? 1 : 4_001, last))
      await watch.stop()
    }
    await eventually(() => open() === 0)
  })

  test('page with a filter that matches nothing gets on by its scan limit', async () => {
    const story = await (await givenSession(app)).run()
    for (let n = 0; n < 12; n += 1) await story.writes.events(...infos(100))
    const page = async (variables: object) => {
      const { session } = await story.owner.query<{ session: { events: Record<string, unknown> } }>(
        `query($id:ID!,$after:Int,$scanLimit:Int,$first:Int,$filter:SessionEventFilter){session(id:$id){
          events(after:$after,first:$first,scanLimit:$scanLimit,filter:$filter){events{sequence} cursor scannedThrough hasMore latest earliest}}}`,
        { id: story.sessionId, after: 0, first: 100, ...variables },
      )
      return session.events
    }
    const nothing = { filter: { types: ['GOAL_CHANGED'] } }
    const last = await latest(story)
    expect(await page({ ...nothing, scanLimit: 1_000 })).toEqual({
      events: [],
      cursor: 1_000,
      scannedThrough: 1_000,
      hasMore: true,
      latest: last,
      earliest: 1,
    })
    expect(await page({ ...nothing, after: 1_000, scanLimit: 1_000 })).toMatchObject({
      events: [],
      cursor: last,
      hasMore: false,
    })
    expect(await page({ after: last })).toMatchObject({ events: [], cursor: last, hasMore: false })
    // AND across the fields, OR within one.
    const both = { types: ['RUN_STARTED', 'MESSAGE'], runIds: [story.runId] }
    const wanted = (await story.journal()).filter(({ type }) => both.types.includes(type))
    expect(wanted).toHaveLength(2)
    expect(await page({ filter: both })).toMatchObject({
      events: wanted.map(({ sequence }) => ({ sequence })),
    })
    const { runId: elsewhere } = await (await givenSession(app)).turn()
    expect(await page({ filter: { ...both, runIds: [elsewhere] } })).toMatchObject({ events: [] })
  })

  test('case 09: of a stalled reader overflows once, alone, and resuming is complete', async () => {
    const story = await (await givenSession(app)).run()
    const stalled = watchSession(story.owner, {
      sessionId: story.sessionId,
      after: story.cursor,
      queueSize: 16,
    })
    const other = watchSession(story.owner, { sessionId: story.sessionId, after: story.cursor })
    await eventually(() => stalled.items.length === 1 && other.items.length === 1)
    const resume = stalled.pause()
    // Beyond what the sockets' buffers take.
    const big = 'x'.repeat(200_000)
    for (let n = 0; n < 80; n += 1) await story.writes.events({ type: 'INFO', payload: { n, big } })
    const last = story.cursor + 81
    await eventually(() => other.items.at(-1)?.sequence === last)
    resume()
    const end = await endOf(stalled)
    expect(end.reason).toBe('OVERFLOW')
    const seen = sequencesOf(stalled.items)
    expect(seen).toEqual(range(story.cursor + 1, end.resumeAfter))
    expect(seen.length).toBeLessThan(81)
    const resumed = watchSession(story.owner, { sessionId: story.sessionId, after: end.resumeAfter })
    await eventually(() => resumed.items.at(-1)?.sequence === last)
    expect([...seen, ...sequencesOf(resumed.items)]).toEqual(range(story.cursor + 1, last))
    expect(sequencesOf(other.items)).toEqual(range(story.cursor + 1, last))
    expect(endsOf(other.items)).toEqual([])
    await Promise.all([resumed.stop(), other.stop()])
    await eventually(() => open() === 0)
  })

  test('of a stalled reader who replays does not overflow: the replay waits', async () => {
    const story = await (await givenSession(app)).run()
    const big = 'x'.repeat(200_000)
    for (let n = 0; n < 60; n += 1) await story.writes.events({ type: 'INFO', payload: { n, big } })
    const last = await latest(story)
    const watch = watchSession(story.owner, { sessionId: story.sessionId, after: 0, queueSize: 16 })
    await eventually(() => watch.items.length >= 1)
    const resume = watch.pause()
    await eventually(() => open() === 1)
    resume()
    await eventually(() => watch.items.at(-1)?.sequence === last)
    expect(sequencesOf(watch.items)).toEqual(range(1, last))
    await watch.stop()
  })

  test.each([-1, 1, 2_000_000_000])(
    'from %d beyond the latest is INVALID_CURSOR and registers nothing',
    async (n) => {
      const story = await givenSession(app)
      const after = n < 0 ? -1 : 1 + n
      const before = open()
      const watch = watchSession(story.owner, { sessionId: story.sessionId, after })
      await watch.ended
      expect(watch.items).toEqual([])
      expect(JSON.stringify(watch.failure())).toContain('INVALID_CURSOR')
      expect(open()).toBe(before)
      expect(app.app.openWatches.size).toBe(0)
      const page = 'query($id:ID!,$after:Int){session(id:$id){events(after:$after){cursor}}}'
      expect(await story.owner.refusedQuery(page, { id: story.sessionId, after })).toBe('INVALID_CURSOR')
    },
  )

  test.each([0, -1, 4_097])('with the queue size %d is refused and registers nothing', async (queueSize) => {
    const story = await givenSession(app)
    const watch = watchSession(story.owner, { sessionId: story.sessionId, queueSize })
    await watch.ended
    expect(JSON.stringify(watch.failure())).toContain('INVALID_INPUT')
    expect(app.app.openWatches.size).toBe(0)
  })
})

describe('a watch', () => {
  test('reads its variables as the schema does: defaults are filled in, wrong types are GraphQL’s own error', async () => {
    const story = await givenSession(app)
    const query = sessionWatch.replace('$after:Int', '$after:Int=0')
    const watch = story.owner.watch<{ sequence: number }>(query, { sessionId: story.sessionId })
    await eventually(() => watch.items.length === 1)
    await watch.stop()
    for (const after of ['0', 1.5, true]) {
      const wrong = story.owner.watch(sessionWatch, { sessionId: story.sessionId, after })
      await wrong.ended
      expect(JSON.stringify(wrong.failure())).toContain('GRAPHQL_INVALID')
    }
    expect(app.app.openWatches.size).toBe(0)
  })

  test('gets what it selected, though another one of the same text selected something else', async () => {
    const story = await (await givenSession(app)).run()
    const { sessionId, runId, runToken } = story
    const document = `
      subscription Short($id:ID!){sessionEvents(sessionId:$id){...on SessionEvent{sequence}}}
      subscription Long($id:ID!){sessionEvents(sessionId:$id){...on SessionEvent{sequence type}}}`
    const fragment = `subscription($id:ID!,$with:Boolean!){sessionEvents(sessionId:$id){...E}}
      fragment E on SessionEvent{sequence type @include(if:$with)}`
    const watches = [
      story.owner.watch(document, { id: sessionId }, 'Short'),
      story.owner.watch(document, { id: sessionId }, 'Long'),
      story.owner.watch(fragment, { id: sessionId, with: false }),
      story.owner.watch(fragment, { id: sessionId, with: true }),
      story.owner.watch(
        'subscription($id:ID!){...S} fragment S on Subscription{sessionEvents(sessionId:$id){...on SessionEvent{type}}}',
        { id: sessionId },
      ),
    ]
    await eventually(() => open() === watches.length)
    const sequence = (await latest(story)) + 1
    await story.owner.do('recordRunEvents', { runId, runToken, events: infos(1) }, 'cursor')
    await eventually(() => watches.every((watch) => watch.items.length === 1))
    expect(watches.map((watch) => watch.items[0])).toEqual([
      { sequence },
      { sequence, type: 'INFO' },
      { sequence },
      { sequence, type: 'INFO' },
      { type: 'INFO' },
    ])
    for (const watch of watches) await watch.stop()
    await eventually(() => open() === 0)
  })

  test('case 01: resumed after a disconnect delivers what was written meanwhile, each once', async () => {
    const story = await (await givenSession(app)).run()
    const first = watchSession(story.owner, { sessionId: story.sessionId, after: 0 })
    const seen = await latest(story)
    await eventually(() => first.items.length === seen)
    await first.stop()
    await eventually(() => open() === 0)
    await story.writes.events(...infos(7))
    await story.writes.complete()
    const again = watchSession(story.owner, { sessionId: story.sessionId, after: seen })
    const last = await latest(story)
    await eventually(() => again.items.at(-1)?.sequence === last)
    expect([...sequencesOf(first.items), ...sequencesOf(again.items)]).toEqual(range(1, last))
    await again.stop()
  })

  test('case 02: moves its cursor past what the filter drops', async () => {
    const story = await (await givenSession(app)).run()
    const watch = watchSession(story.owner, {
      sessionId: story.sessionId,
      after: 0,
      filter: { types: ['RUN_COMPLETED'] },
    })
    for (let n = 0; n < 3; n += 1) await story.writes.events(...infos(100))
    await eventually(() => open() === 1)
    await story.owner.do('closeSession', { sessionId: story.sessionId, cancelActive: true }, '__typename')
    const end = await endOf(watch)
    expect(sequencesOf(watch.items)).toEqual([])
    expect(end).toMatchObject({ reason: 'SESSION_CLOSED', resumeAfter: await latest(story) })
  })

  test('case 04: delivers exactly what its filter says, replayed and live', async () => {
    const story = await (await givenSession(app)).run()
    const filter = { types: ['INFO', 'RUN_COMPLETED'], runIds: [story.runId] }
    await story.writes.events(...infos(2))
    const watch = watchSession(story.owner, { sessionId: story.sessionId, after: 0, filter })
    await eventually(() => watch.items.length === 2)
    await story.writes.events({ type: 'TOOL_CALL', payload: { tool: 't' } }, ...infos(1))
    await story.writes.complete()
    await story.run()
    await story.writes.events(...infos(1))
    await eventually(() => watch.items.length === 4)
    const wanted = (await story.journal()).filter((event) => ['INFO', 'RUN_COMPLETED'].includes(event.type))
    expect(sequencesOf(watch.items)).toEqual(wanted.slice(0, 4).map((event) => event.sequence))
    await watch.stop()
  })

  test('case 07: does not keep a run, nor end one by leaving', async () => {
    const story = await (await givenSession(app)).run()
    const watch = watchSession(story.owner, { sessionId: story.sessionId, after: 0 })
    const last = await latest(story)
    await eventually(() => watch.items.length === last)
    await watch.stop()
    await eventually(() => open() === 0)
    await app.pass(10_000)
    expect(await story.runNow()).toMatchObject({ state: 'RUNNING' })
    await story.writes.complete()
  })

  test('case 08: replays an ask with its answer, and asks nothing again', async () => {
    const story = await (await givenSession(app)).run()
    const { id } = await story.writes.ask()
    await story.owner.do('resolveApproval', { approvalId: id, decision: 'allow' }, 'approval{state}')
    const watch = watchSession(story.owner, { sessionId: story.sessionId, after: 0 })
    const last = await latest(story)
    await eventually(() => watch.items.at(-1)?.sequence === last)
    expect(watch.items.filter((item) => item.type.startsWith('APPROVAL')).map((item) => item.type)).toEqual([
      'APPROVAL_REQUESTED',
      'APPROVAL_ANSWERED',
    ])
    expect(await latest(story)).toBe(last)
    await watch.stop()
  })

  test('left while nothing happens is gone at once', async () => {
    const story = await givenSession(app)
    const watches = [
      watchSession(story.owner, { sessionId: story.sessionId }),
      story.owner.watch('subscription($id:ID!){projectEvents(projectId:$id){__typename}}', {
        id: story.projectId,
      }),
      story.owner.watch('subscription($id:ID!){runtimeSignals(runtimeId:$id){__typename}}', {
        id: story.runtimeId,
      }),
    ]
    await eventually(() => app.app.openWatches.size === 3)
    for (const watch of watches) await watch.stop()
    await eventually(() => app.app.openWatches.size === 0, 1_000)
    expect([app.app.sessions.watches, app.app.projects.watches, app.app.signals.watches]).toEqual([0, 0, 0])
  })
})

describe('a watch across servers', () => {
  test('sees what is written through the other one, and nothing twice', async () => {
    const other = await app.another()
    const story = await (await givenSession(app)).run()
    const watch = watchSession(other.owner, { sessionId: story.sessionId, after: 0 })
    for (let n = 0; n < 10; n += 1) await story.writes.events(...infos(5))
    const last = await latest(story)
    await eventually(() => watch.items.length === last)
    expect(sequencesOf(watch.items)).toEqual(range(1, last))
    await watch.stop()
  })
})
