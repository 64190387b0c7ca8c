import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, tryEverything, type World } from '../kit/hostile-tries.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.app.close())

test(
  'whatever an argument of a query holds, the answer is typed, and nothing is written',
  async () => {
    expect(await tryEverything(world, 'query')).toEqual([])
  },
  process.env.TEST_LONG ? 1_200_000 : 240_000,
)
