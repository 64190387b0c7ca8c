import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { eventually } from '../kit/eventually.ts'
import { given, givenSession, type Story } from '../kit/story.ts'

/*
 * Each limit that a project can set is obeyed as it is set, and not as it is by default. Those of runs, sizes and
 * retention have tests beside what they bound: sessions-runs, runtimes, retention.
 */

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

const created = (story: Story) =>
  story.owner.do<{ session: { id: string } }>(
    'createSession',
    { projectId: story.projectId, title: 'One more' },
    'session{id}',
  )
const beat = (story: Story) =>
  story.owner.do('heartbeatRuntime', { runtimeId: story.runtimeId }, 'runtime{id}')
const expiry = async (story: Story) => {
  const { run } = await story.owner.query<{ run: { offeredAt: string; offerExpiresAt: string } }>(
    'query($id:ID!){run(id:$id){offeredAt offerExpiresAt}}',
    { id: story.runId },
  )
  return Date.parse(run.offerExpiresAt) - Date.parse(run.offeredAt)
}

test('maxOpenSessions: one more is CAPACITY, created or opened, until one is closed or the limit raised', async () => {
  const story = await given(app).project({ maxOpenSessions: 2 })
  const first = await created(story)
  const second = await created(story)
  const refusal = () =>
    story.owner.refused('createSession', { projectId: story.projectId, title: 'One more' })
  expect(await refusal()).toMatchObject({ code: 'CAPACITY', retryable: true })
  await story.owner.do('closeSession', { sessionId: first.session.id }, 'session{id}')
  await created(story)
  expect(await story.owner.refused('openSession', { sessionId: first.session.id })).toMatchObject({
    code: 'CAPACITY',
  })
  await story.owner.do('deleteSession', { sessionId: second.session.id, reason: 'room' }, 'deletedId')
  await story.owner.do('openSession', { sessionId: first.session.id }, 'session{id}')
  expect((await refusal()).code).toBe('CAPACITY')
  await story.owner.do(
    'updateProjectLimits',
    { projectId: story.projectId, limits: { maxOpenSessions: 3 } },
    'project{id}',
  )
  await created(story)
})

test('runtimeGraceMs: a runtime that is away for less keeps its run, for as much loses it', async () => {
  const story = await (await givenSession(app, { runtimeGraceMs: 200_000 })).run()
  await app.pass(199_999)
  expect(await story.runNow()).toMatchObject({ state: 'RUNNING' })
  await beat(story)
  await app.pass(200_000)
  expect(await story.runNow()).toMatchObject({ state: 'FAILED', failureCode: 'RUNTIME_LOST' })
})

test('offerTimeoutMs: an offer stands so long', async () => {
  const story = await (await givenSession(app, { offerTimeoutMs: 7_000 })).turn()
  expect(await expiry(story)).toBe(7_000)
  await app.pass(7_000)
  expect(await story.runNow()).toMatchObject({ failureCode: 'OFFER_EXPIRED', effects: 'NONE' })
})

test('approvalTtlMs: an ask that names no deadline has this one, and then its default decides', async () => {
  const story = await (await givenSession(app, { approvalTtlMs: 15_000 })).run()
  const asked = app.clock.now().getTime()
  const { id, expiresAt } = await story.writes.ask()
  expect(Date.parse(expiresAt) - asked).toBe(15_000)
  await app.pass(15_000)
  const { node } = await story.owner.query<{ node: object }>(
    'query($id:ID!){node(id:$id){...on Approval{state decision}}}',
    { id },
  )
  expect(node).toEqual({ state: 'EXPIRED', decision: 'deny' })
})

test('a runtime gets with a message the newest 16 before it, and of them at most 12 000 characters', async () => {
  const story = await givenSession(app)
  const windowOf = async (text: string) => {
    const watch = story.owner.watch<{ run: { id: string }; window: { text: string }[] }>(
      'subscription($id:ID!){runtimeSignals(runtimeId:$id){...on RunOffer{run{id} window{text}}}}',
      { id: story.runtimeId },
    )
    await story.run(text)
    const offer = () => watch.items.find(({ run }) => run?.id === story.runId)
    await eventually(() => offer() !== undefined)
    await watch.stop()
    return offer()?.window.map((message) => message.text)
  }
  const said: string[] = []
  for (let n = 1; n <= 9; n += 1) {
    expect(await windowOf(`Ask ${n}`)).toEqual(said.slice(-16))
    await story.writes.complete({ answer: `Answer ${n}` })
    said.push(`Ask ${n}`, `Answer ${n}`)
  }
  expect(await windowOf('All of it?')).toHaveLength(16)
  await story.writes.complete({ answer: 'x'.repeat(11_989) })
  expect(await windowOf('y')).toEqual(['All of it?', 'x'.repeat(11_989)])
  await story.writes.complete({ answer: 'z' })
  expect(await windowOf('And now?')).toEqual(['x'.repeat(11_989), 'y', 'z'])
})

test('recovery asks about at most 32 runs', async () => {
  const story = await (await givenSession(app)).turn()
  const probe = (count: number) =>
    story.owner.request('query($id:ID!,$ids:[ID!]!){session(id:$id){recovery(probeRunIds:$ids){status}}}', {
      id: story.sessionId,
      ids: Array.from({ length: count }, () => story.runId),
    })
  expect((await probe(32)).errors).toBeUndefined()
  expect((await probe(33)).errors?.[0]?.extensions.code).toBe('INVALID_INPUT')
})
