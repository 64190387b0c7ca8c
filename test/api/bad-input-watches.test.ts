import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import {
  bodyOf,
  flawsOfError,
  labelOf,
  startWorld,
  type Try,
  triesOf,
  type World,
} from '../kit/hostile-tries.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.app.close())

/** Opens a watch as server-sent events; leaves it when it has refused, or stands. Gives the errors that it said. */
async function open(attempt: Try): Promise<{ message: string; extensions?: { code?: string } }[]> {
  const { app, here } = world
  const leave = new AbortController()
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    signal: leave.signal,
    headers: {
      authorization: `Bearer ${here.owner.token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: bodyOf(attempt),
  })
  let text = ''
  let over = false
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
  })()
    .catch(() => undefined)
    .finally(() => {
      over = true
    })
  await eventually(() => over || app.app.openWatches.size > 0)
  leave.abort()
  await reading
  await eventually(() => app.app.openWatches.size === 0)
  const data = /^data: (.+)$/m.exec(text)?.[1]
  return data ? ((JSON.parse(data) as { errors?: { message: string }[] }).errors ?? []) : []
}

test('whatever an argument of a watch holds, it is refused by code, or it is a watch that ends when it is left', async () => {
  const flaws: string[] = []
  for (const operation of world.operations.filter((each) => each.kind === 'subscription')) {
    const variables = await operation.variables(world.here)
    for (const { path, hostile } of triesOf(world, operation)) {
      const attempt = { operation, variables, path, hostile }
      for (const error of await open(attempt))
        flaws.push(...flawsOfError(error).map((flaw) => `${labelOf(attempt)}: ${flaw}`))
    }
  }
  expect(flaws).toEqual([])
}, 120_000)
