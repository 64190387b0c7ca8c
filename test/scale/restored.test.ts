import { afterAll, beforeAll, expect, test } from 'vitest'
import { audit } from '../kit/audit.ts'
import { eventually } from '../kit/eventually.ts'
import { asks, does, givenGuarded, segmentOf, underway } from '../kit/guarded.ts'
import { type Servers, startServers } from '../kit/servers.ts'

let world: Servers
beforeAll(async () => {
  world = await startServers(2)
}, 60_000)
afterAll(() => world.close())

test('kill -9 of its server and of PostgreSQL: the agent goes on through the other one, in the segment and on the task that it had', async () => {
  const [first, second] = world.servers
  if (!first || !second) throw new Error('two servers were started')
  const story = await underway(await givenGuarded(first), 'Which region sold best?', 'data-analysis')
  await does(story, 'inspect_schema', { tables: 3 })
  const before = await segmentOf(story)
  await first.kill()
  await world.killDatabase()
  const elsewhere = Object.assign(Object.create(Object.getPrototypeOf(story)) as typeof story, story, {
    owner: second.owner,
  })
  // Its connections died with PostgreSQL: until it has noticed, it answers with an error that says so.
  await eventually(() => segmentOf(elsewhere))
  const { runToken } = await elsewhere.owner.do<{ runToken: string }>(
    'startRun',
    { runId: story.runId, runtimeId: story.runtimeId },
    'runToken',
  )
  elsewhere.runToken = runToken
  expect(await segmentOf(elsewhere)).toEqual(before)
  expect((await asks(elsewhere, 'preview_table')).decision).toBe('ALLOWED')
  const restored = (await elsewhere.journal()).filter(({ payload }) => payload.source === 'RESTORED')
  expect(restored.map(({ type, payload }) => [type, payload.reasons])).toEqual([
    ['ROUTE_DECIDED', ['PROTOCOL_SEGMENT_RESTORED']],
  ])
  await elsewhere.writes.fail()
  expect(await audit(world.databaseUrl)).toEqual([])
}, 60_000)
