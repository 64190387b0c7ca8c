import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { eventually } from '../kit/eventually.ts'
import { hear, type Signal } from '../kit/signals.ts'
import { givenSession, type Story } from '../kit/story.ts'
import { range } from '../kit/watching.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

const countOf = async (story: Story, type: string) =>
  (await story.journal()).filter((event) => event.type === type).length

describe('signals', () => {
  type SignalState = 'UNHEARD' | 'ACKNOWLEDGED'
  type Happens = 'reconnect' | 'acknowledge' | 'runEnds'
  const offers: Record<SignalState, Record<Happens, SignalState>> = {
    UNHEARD: { reconnect: 'UNHEARD', acknowledge: 'ACKNOWLEDGED', runEnds: 'ACKNOWLEDGED' },
    ACKNOWLEDGED: { reconnect: 'ACKNOWLEDGED', acknowledge: 'ACKNOWLEDGED', runEnds: 'ACKNOWLEDGED' },
  }
  const others: typeof offers = {
    UNHEARD: { reconnect: 'UNHEARD', acknowledge: 'ACKNOWLEDGED', runEnds: 'UNHEARD' },
    ACKNOWLEDGED: { reconnect: 'ACKNOWLEDGED', acknowledge: 'ACKNOWLEDGED', runEnds: 'ACKNOWLEDGED' },
  }
  const acknowledge = (story: Story, signalIds: string[]) =>
    story.owner.do<{ acknowledged: number }>(
      'acknowledgeSignals',
      { runtimeId: story.runtimeId, signalIds },
      'acknowledged',
    )
  /** What a connection made now begins with, up to a mark that is made now. */
  async function unheard(story: Story, marker: string): Promise<Signal[]> {
    const text = `mark ${await countOf(story, 'RUN_STEERED')}`
    await story.owner.do('steerRun', { runId: marker, text }, 'cursor')
    const heard = hear(story.owner, story.runtimeId)
    await eventually(() => heard.items.at(-1)?.text === text)
    await heard.stop()
    return heard.items
  }

  test.each(
    [['RunOffer', offers] as const, ['RunSteered', others] as const].flatMap(([kind, states]) =>
      Object.entries(states).flatMap(([state, events]) =>
        Object.entries(events).map(
          ([happens, outcome]) => [kind, state as SignalState, happens as Happens, outcome] as const,
        ),
      ),
    ),
  )('%s that is %s and %s: is %s', async (kind, state, happens, outcome) => {
    const story = await givenSession(app, { maxLiveRunsPerSession: 2 })
    const { runId: marker } = await story.run()
    await story.run()
    await story.owner.do('steerRun', { runId: story.runId, text: 'Guidance.' }, 'cursor')
    const heard = await unheard(story, marker)
    const signal = heard.find((each) => each.__typename === kind && each.run.id === story.runId) as Signal
    if (state === 'ACKNOWLEDGED')
      expect(await acknowledge(story, [signal.signalId])).toMatchObject({ acknowledged: 1 })
    if (happens === 'reconnect') await unheard(story, marker)
    if (happens === 'acknowledge')
      expect(await acknowledge(story, [signal.signalId])).toMatchObject({
        acknowledged: state === 'UNHEARD' ? 1 : 0,
      })
    if (happens === 'runEnds') await story.writes.complete()
    const now = (await unheard(story, marker)).some((each) => each.signalId === signal.signalId)
    expect(now ? 'UNHEARD' : 'ACKNOWLEDGED').toBe(outcome)
  })

  test('come once per connection, in order, on each of two connections', async () => {
    const story = await (await givenSession(app)).run()
    const first = hear(story.owner, story.runtimeId)
    await eventually(() => first.items.length === 1)
    for (const n of range(1, 10))
      await story.owner.do('steerRun', { runId: story.runId, text: `${n}` }, 'cursor')
    const second = hear(story.owner, story.runtimeId)
    await Promise.all(
      range(11, 20).map((n) => story.owner.do('steerRun', { runId: story.runId, text: `${n}` }, 'cursor')),
    )
    await eventually(() => first.items.length === 21 && second.items.length === 21)
    const said = (await story.journal())
      .filter((event) => event.type === 'RUN_STEERED')
      .map((event) => event.payload.text)
    for (const heard of [first, second]) {
      expect(heard.items.map((signal) => signal.text).slice(1)).toEqual(said)
      expect(new Set(heard.items.map((signal) => signal.signalId)).size).toBe(21)
    }
    await first.stop()
    await second.stop()
    await story.writes.complete()
  })

  test('of a cancel reach the runtime on another server at once', async () => {
    const other = await app.another()
    const story = await (await givenSession(app)).run()
    const heard = hear(other.owner, story.runtimeId)
    await eventually(() => heard.items.length === 1)
    await story.owner.do('cancelRun', { runId: story.runId, reason: 'enough' }, 'run{id}')
    await eventually(() => heard.items.length === 2)
    expect(heard.items[1]).toMatchObject({
      __typename: 'RunCancelled',
      reason: 'enough',
      run: { id: story.runId },
    })
    await heard.stop()
    await other.close()
  })
})
