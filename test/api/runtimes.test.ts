import { RunSweep } from '@wheelhouse/server/domains/runs/sweep'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { administer } from '../kit/database.ts'
import { eventually } from '../kit/eventually.ts'
import { readDigest } from '../kit/hostile-digest.ts'
import { principalWith } from '../kit/hostile-world.ts'
import { hear } from '../kit/signals.ts'
import { given, givenSession, type Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

const beat = (story: Story, client = story.owner) =>
  client.do<{ runtime: { state: string } }>(
    'heartbeatRuntime',
    { runtimeId: story.runtimeId },
    'runtime{state}',
  )
const runtimeState = async (story: Story) => {
  const { node } = await story.owner.query<{ node: { state: string; liveRuns: number } }>(
    'query($id:ID!){node(id:$id){...on Runtime{state liveRuns}}}',
    { id: story.runtimeId },
  )
  return node.state
}
const countOf = async (story: Story, type: string) =>
  (await story.journal()).filter((event) => event.type === type).length
const info = { type: 'INFO', payload: { n: 1 } }
const write = (story: Story) => ({ runId: story.runId, runToken: story.runToken, events: [info] })
/** Time in which the runtime gives signs of life. */
async function live(story: Story, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 20_000) {
    await beat(story)
    await app.pass(Math.min(left, 20_000))
  }
}

describe('S12: a runtime that is away', () => {
  test('while its run waits has its grace from the answer on, and resumes once', async () => {
    const story = await (await givenSession(app)).run()
    const { id } = await story.writes.ask()
    for (let n = 0; n < 10; n += 1) await app.pass(60_000)
    expect(await runtimeState(story)).toBe('DISCONNECTED')
    expect(await story.runNow()).toMatchObject({ state: 'WAITING_APPROVAL' })
    await story.owner.do('resolveApproval', { approvalId: id, decision: 'allow' }, 'approval{id}')
    await app.pass(59_000)
    expect(await story.runNow()).toMatchObject({ state: 'RUNNING' })
    const heard = hear(story.owner, story.runtimeId)
    await eventually(() => heard.items.length === 2)
    await app.pass(29_000)
    expect(heard.items.map((signal) => signal.__typename)).toEqual(['RunOffer', 'ApprovalResolved'])
    await heard.stop()
    expect(await countOf(story, 'RUN_RESUMED')).toBe(1)
    expect((await story.writes.complete()).run.state).toBe('COMPLETED')
  })

  test('beyond the grace after the answer loses the run, effects unknown, and the session goes on', async () => {
    const story = await (await givenSession(app)).run()
    const { id } = await story.writes.ask()
    for (let n = 0; n < 10; n += 1) await app.pass(60_000)
    await story.owner.do('resolveApproval', { approvalId: id, decision: 'allow' }, 'approval{id}')
    await app.pass(59_999)
    expect(await story.runNow()).toMatchObject({ state: 'RUNNING' })
    await app.pass(1)
    expect(await story.runNow()).toMatchObject({
      state: 'FAILED',
      failureCode: 'RUNTIME_LOST',
      effects: 'UNKNOWN',
    })
    await beat(story)
    await (await story.run()).writes.complete()
  })

  test('for 20 s carries on with its token; silent for 30 s it is DISCONNECTED; for 61 s it is fenced', async () => {
    const story = await (await givenSession(app)).run()
    await app.pass(20_000)
    expect(await runtimeState(story)).toBe('CONNECTED')
    await beat(story)
    await story.writes.events(info)
    await app.pass(29_999)
    expect(await runtimeState(story)).toBe('CONNECTED')
    await app.pass(1)
    expect(await runtimeState(story)).toBe('DISCONNECTED')
    await app.pass(29_999)
    expect(await story.runNow()).toMatchObject({ state: 'RUNNING' })
    expect((await beat(story)).runtime.state).toBe('CONNECTED')
    await story.writes.events(info)
    await app.pass(61_000)
    expect(await story.runNow()).toMatchObject({ state: 'FAILED', failureCode: 'RUNTIME_LOST' })
    await beat(story)
    expect((await story.owner.refused('recordRunEvents', write(story))).code).toBe('RUN_FENCED')
    expect(await countOf(story, 'RUN_WRITE_REJECTED')).toBe(1)
  })

  test('case 15: when a server starts has its grace from then on, and never blocks its session for ever', async () => {
    const before = await app.another()
    const { sessionId, runId, runtimeId, projectId } = await (await givenSession(before)).run()
    await before.close()
    app.clock.advance(600_000)
    const after = await app.another()
    const story = Object.assign(given(after), { sessionId, runId, runtimeId, projectId })
    const wait = async (ms: number) => {
      app.clock.advance(ms)
      await after.app.sweeper.sweep()
      return (await story.runNow()).state
    }
    expect(await wait(0)).toBe('RUNNING')
    expect(await wait(59_000)).toBe('RUNNING')
    expect(await wait(1_000)).toBe('FAILED')
    expect(await story.runNow()).toMatchObject({ failureCode: 'RUNTIME_LOST', effects: 'UNKNOWN' })
    const { session } = await after.owner.query<{ session: { recovery: { status: string }[] } }>(
      'query($id:ID!,$ids:[ID!]!){session(id:$id){recovery(probeRunIds:$ids){status}}}',
      { id: sessionId, ids: [runId, sessionId, 'nothing'] },
    )
    expect(session.recovery.map((probe) => probe.status)).toEqual(['LOST', 'UNKNOWN', 'UNKNOWN'])
    await beat(story)
    await (await story.run()).writes.complete()
    await after.close()
  })

  test('is said in the project’s feed when it goes and when it comes back, by whatever sign of life', async () => {
    const story = await givenSession(app, { offerTimeoutMs: 120_000 })
    const types = async () => {
      const { project } = await story.owner.query<{ project: { events: { events: { type: string }[] } } }>(
        'query($id:ID!){project(id:$id){events(filter:{types:[RUNTIME_REGISTERED,RUNTIME_CONNECTED,RUNTIME_DISCONNECTED]}){events{type}}}}',
        { id: story.projectId },
      )
      return project.events.events.map((event) => event.type.replace('RUNTIME_', ''))
    }
    await app.pass(31_000)
    await beat(story)
    await beat(story)
    await app.pass(31_000)
    const heard = hear(story.owner, story.runtimeId)
    await eventually(async () => (await runtimeState(story)) === 'CONNECTED')
    await heard.stop()
    await eventually(() => app.app.signals.watches === 0)
    await story.turn()
    await app.pass(31_000)
    await story.owner.do('startRun', { runId: story.runId, runtimeId: story.runtimeId }, 'runToken')
    expect(await types()).toEqual([
      'REGISTERED',
      'DISCONNECTED',
      'CONNECTED',
      'DISCONNECTED',
      'CONNECTED',
      'DISCONNECTED',
      'CONNECTED',
    ])
    await story.owner.do('cancelRun', { runId: story.runId, reason: 'x' }, 'run{id}')
  })
})

type RuntimeState = 'CONNECTED' | 'DISCONNECTED'
type Sign = 'register' | 'heartbeat' | 'signals' | 'start' | 'silent30s' | 'write'
const table: Record<RuntimeState, Record<Sign, RuntimeState>> = {
  CONNECTED: {
    register: 'CONNECTED',
    heartbeat: 'CONNECTED',
    signals: 'CONNECTED',
    start: 'CONNECTED',
    silent30s: 'DISCONNECTED',
    // A write keeps its run, it does not offer to take more.
    write: 'CONNECTED',
  },
  DISCONNECTED: {
    register: 'CONNECTED',
    heartbeat: 'CONNECTED',
    signals: 'CONNECTED',
    start: 'CONNECTED',
    silent30s: 'DISCONNECTED',
    write: 'DISCONNECTED',
  },
}
const cells = Object.entries(table).flatMap(([state, signs]) =>
  Object.entries(signs).map(([sign, outcome]) => [state as RuntimeState, sign as Sign, outcome] as const),
)
test.each(cells)('a runtime that is %s and gives %s is %s', async (state, sign, outcome) => {
  const story = await (await givenSession(app)).run()
  const { runId, runtimeId } = story
  if (state === 'DISCONNECTED') await app.pass(31_000)
  expect(await runtimeState(story)).toBe(state)
  const signs: Record<Sign, () => Promise<unknown>> = {
    register: async () => {
      const { node } = await story.owner.query<{ node: { name: string } }>(
        'query($id:ID!){node(id:$id){...on Runtime{name}}}',
        { id: runtimeId },
      )
      const again = { projectId: story.projectId, name: node.name, maxConcurrentRuns: 2 }
      const { runtime } = await story.owner.do<{ runtime: { id: string } }>(
        'registerRuntime',
        again,
        'runtime{id}',
      )
      expect(runtime.id).toBe(runtimeId)
    },
    heartbeat: () => beat(story),
    signals: async () => {
      const heard = hear(story.owner, runtimeId)
      await eventually(() => heard.items.length > 0)
      await heard.stop()
    },
    start: () => story.owner.do('startRun', { runId, runtimeId }, 'runToken'),
    silent30s: () => app.pass(30_000),
    write: () => story.writes.events(info),
  }
  await signs[sign]()
  expect(await runtimeState(story)).toBe(outcome)
  if ((await story.runNow()).state === 'RUNNING')
    await story.owner.do('cancelRun', { runId, reason: 'over' }, 'run{id}')
})

describe('an offer', () => {
  test('that nobody starts ends with nothing done, and its session is free', async () => {
    const story = await (await givenSession(app)).turn()
    await app.pass(29_999)
    expect(await story.runNow()).toMatchObject({ state: 'OFFERED' })
    await app.pass(1)
    expect(await story.runNow()).toMatchObject({
      state: 'FAILED',
      failureCode: 'OFFER_EXPIRED',
      effects: 'NONE',
    })
    const start = { runId: story.runId, runtimeId: story.runtimeId }
    expect((await story.owner.refused('startRun', start)).code).toBe('CONFLICT')
    await beat(story)
    await (await story.run()).writes.complete()
  })

  test('past its time can’t be started, though nobody has ended it yet', async () => {
    const story = await (await givenSession(app)).turn()
    app.clock.advance(30_000)
    const start = { runId: story.runId, runtimeId: story.runtimeId }
    expect((await story.owner.refused('startRun', start)).code).toBe('CONFLICT')
    await app.pass(0)
    expect(await story.runNow()).toMatchObject({ failureCode: 'OFFER_EXPIRED' })
  })

  test('is for its own runtime and principal only', async () => {
    const story = await (await givenSession(app)).turn()
    const { runId, runtimeId } = story
    const other = await (await given(app).project()).runtime()
    const second = await (await givenSession(app)).runtime()
    const stranger = await principalWith(app, 'stranger', [
      { capabilities: ['run.execute'], projectId: story.projectId },
    ])
    for (const input of [
      { runId, runtimeId: other.runtimeId },
      { runId, runtimeId: second.runtimeId },
    ])
      expect((await story.owner.refused('startRun', input)).code).toBe('NOT_FOUND')
    expect((await stranger.client.refused('startRun', { runId, runtimeId })).code).toBe('NOT_FOUND')
    expect((await stranger.client.refused('heartbeatRuntime', { runtimeId })).code).toBe('NOT_FOUND')
    const heard = hear(stranger.client, runtimeId)
    await heard.ended
    expect(JSON.stringify(heard.failure())).toContain('NOT_FOUND')
    await story.owner.do('cancelRun', { runId, reason: 'x' }, 'run{id}')
  })
})

test('a run past its time ends TIMED_OUT; the time in which it waited does not count', async () => {
  const story = await givenSession(app, { runTimeoutMs: 100_000 })
  await story.run()
  await live(story, 40_000)
  const first = await story.writes.ask()
  const second = await story.writes.ask()
  await live(story, 200_000)
  expect(await story.runNow()).toMatchObject({ state: 'WAITING_APPROVAL', deadlineAt: null })
  for (const { id } of [first, second])
    await story.owner.do('resolveApproval', { approvalId: id, decision: 'allow' }, 'approval{id}')
  await story.owner.do('startRun', { runId: story.runId, runtimeId: story.runtimeId }, 'runToken')
  expect(Date.parse((await story.runNow()).deadlineAt ?? '')).toBe(app.clock.now().getTime() + 60_000)
  await live(story, 59_999)
  expect(await story.runNow()).toMatchObject({ state: 'RUNNING' })
  await live(story, 1)
  expect(await story.runNow()).toMatchObject({ state: 'TIMED_OUT', effects: 'UNKNOWN', deadlineAt: null })
  const heard = hear(story.owner, story.runtimeId)
  await eventually(() => heard.items.some((signal) => signal.__typename === 'RunCancelled'))
  await heard.stop()
})

describe('a run token', () => {
  test('is fenced by a new start: what it writes is refused and recorded, at most twenty times', async () => {
    const story = await (await givenSession(app)).run()
    const stale = { runId: story.runId, runToken: story.runToken }
    const { runToken } = await story.owner.do<{ runToken: string }>(
      'startRun',
      { runId: story.runId, runtimeId: story.runtimeId },
      'runToken',
    )
    const writes: [string, object][] = [
      ['recordRunEvents', { events: [info] }],
      ['recordUsage', { inputTokens: 1 }],
      ['requestApproval', { kind: 'TOOL', title: 'x', payload: {} }],
      ['completeRun', { answer: 'x' }],
      ['failRun', { code: 'X', message: 'x' }],
    ]
    for (const [name, input] of writes)
      expect(await story.owner.refused(name, { ...stale, ...input })).toMatchObject({
        code: 'RUN_FENCED',
        current: { id: story.runId },
      })
    const rejected = (await story.journal()).filter((event) => event.type === 'RUN_WRITE_REJECTED')
    expect(rejected.map((event) => event.payload.operation)).toEqual(writes.map(([name]) => name))
    for (let n = 0; n < 20; n += 1) await story.owner.refused('recordRunEvents', { ...stale, events: [info] })
    expect(await countOf(story, 'RUN_WRITE_REJECTED')).toBe(20)
    const digest = await readDigest(app.db)
    const before = await digest()
    for (const forged of [`${runToken}x`, 'rt_1_AAAA', 'nonsense', runToken.replace('rt_2', 'rt_3')])
      expect(
        (await story.owner.refused('recordRunEvents', { ...stale, runToken: forged, events: [info] })).code,
      ).toBe('RUN_FENCED')
    expect(await digest()).toBe(before)
    story.runToken = runToken
    await story.writes.complete()
    expect((await story.owner.refused('completeRun', { ...stale, runToken, answer: 'x' })).code).toBe(
      'RUN_FENCED',
    )
  })

  test('of one run is none of another’s', async () => {
    const story = await givenSession(app, { maxLiveRunsPerSession: 2 })
    const { runToken, runId } = await story.run()
    await story.run()
    expect((await story.owner.refused('recordRunEvents', { ...write(story), runToken })).code).toBe(
      'RUN_FENCED',
    )
    expect((await story.owner.refused('recordRunEvents', { ...write(story), runId })).code).toBe('RUN_FENCED')
    expect(await countOf(story, 'RUN_WRITE_REJECTED')).toBe(0)
    await story.owner.do('closeSession', { sessionId: story.sessionId, cancelActive: true }, 'session{id}')
  })
})

test('case 16: a cancel ends the record of a run whose runtime is gone, and its session takes turns again', async () => {
  const story = await (await givenSession(app)).run()
  await story.writes.events({ type: 'TOOL_CALL', payload: { tool: 'send_mail' } })
  await app.pass(45_000)
  const { run } = await story.owner.do<{ run: { state: string; effects: string } }>(
    'cancelRun',
    { runId: story.runId, reason: 'stuck' },
    'run{state effects}',
  )
  expect(run).toEqual({ state: 'CANCELLED', effects: 'UNKNOWN' })
  expect((await story.owner.refused('cancelRun', { runId: story.runId, reason: 'again' })).code).toBe(
    'CONFLICT',
  )
  await beat(story)
  await (await story.run()).writes.complete()
})

describe('a run is not lost for a silence in which nobody could be heard', () => {
  const minutes = 60_000

  test('while the database was away: the grace begins when it is back', async () => {
    const story = await (await givenSession(app)).run()
    await administer(app.databaseUrl, 'ALTER TABLE approvals RENAME TO approvals_away')
    await expect(app.pass(10 * minutes)).rejects.toThrow()
    await administer(app.databaseUrl, 'ALTER TABLE approvals_away RENAME TO approvals')
    await app.pass(0)
    await app.pass(59_000)
    expect(await story.runNow()).toMatchObject({ state: 'RUNNING' })
    await app.pass(2_000)
    expect(await story.runNow()).toMatchObject({ state: 'FAILED', failureCode: 'RUNTIME_LOST' })
  })

  test('while the machine slept, or because its clock was set: the grace begins with the next pass', async () => {
    const story = await (await givenSession(app)).run()
    const sweep = new RunSweep(app.app, { notesPauses: true })
    const stateAfter = async (ms: number) => {
      app.clock.advance(ms)
      await sweep.pass()
      return (await story.runNow()).state
    }
    expect(await stateAfter(0)).toBe('RUNNING')
    expect(await stateAfter(30 * minutes)).toBe('RUNNING')
    for (let n = 0; n < 5; n += 1) expect(await stateAfter(10_000)).toBe('RUNNING')
    expect(await stateAfter(10_000)).toBe('FAILED')
  })
})
