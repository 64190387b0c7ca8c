import { afterAll, beforeAll, expect, test } from 'vitest'
import { openAndLeave } from '../kit/hostile-stream.ts'
import { bodyOf, flawsOfError, labelOf, startWorld, triesOf, type World } from '../kit/hostile-tries.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.app.close())

test('whatever an argument of a watch holds, it is refused by code, or it is a watch that ends when it is left', async () => {
  const flaws: string[] = []
  for (const operation of world.operations.filter((each) => each.kind === 'subscription')) {
    const variables = await operation.variables(world.here)
    for (const { path, hostile } of triesOf(world, operation)) {
      const attempt = { operation, variables, path, hostile }
      const { errors } = await openAndLeave(world.app, operation.caller(world.here).token, bodyOf(attempt))
      for (const error of errors)
        flaws.push(...flawsOfError(error).map((flaw) => `${labelOf(attempt)}: ${flaw}`))
    }
  }
  expect(flaws).toEqual([])
}, 120_000)
