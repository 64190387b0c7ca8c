import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, tryEverything, type World } from '../kit/hostile-tries.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.app.close())

test('each valid input that hostile ones are made from is taken', async () => {
  const refused: string[] = []
  for (const operation of world.operations.filter((each) => each.kind !== 'subscription')) {
    const variables = await operation.variables(world.here)
    const answer = await operation.caller(world.here).request(operation.document, variables)
    const member = Object.values(answer.data ?? {})[0] as { __typename?: string } | null
    const taken = operation.kind === 'mutation' ? member?.__typename?.endsWith('Success') : member !== null
    if (answer.errors || !taken) refused.push(`${operation.name}: ${JSON.stringify(answer).slice(0, 500)}`)
  }
  expect(refused).toEqual([])
})

test(
  'whatever a field of a mutation holds, the answer is typed, and a refusal writes nothing',
  async () => {
    expect(await tryEverything(world, 'mutation')).toEqual([])
  },
  process.env.TEST_LONG ? 1_200_000 : 240_000,
)

test('after all of it the server works as before', async () => {
  const { run } = await (await world.here.run()).writes.complete()
  expect(run.state).toBe('COMPLETED')
})
