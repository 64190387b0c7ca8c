import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openSessionTail, watchSession } from '@wheelhouse/server/domains/sessions/journal/operations'
import { createLogger } from '@wheelhouse/server/platform/logger'
import { iterate } from '@wheelhouse/server/platform/watch'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Story, startStory } from '../kit/agent.ts'

let given: Story
beforeEach(async () => {
  given = await startStory()
})
afterEach(() => given.close())

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
/** What is really held, in bytes. */
function held(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const events = 4_000
const bytes = 4_096
const watchers = 40
const queueSize = 16

test('case 05: forty readers far behind, who stall, hold no more than their queues; each still gets everything', async () => {
  const session = await given.session()
  await given.db.$executeRaw`
    INSERT INTO session_events (project_id, session_id, sequence, type, payload, at)
    SELECT ${session.projectId}::uuid, ${session.id}::uuid, n, 'INFO', jsonb_build_object('text', repeat('x', ${bytes}::int)), now()
      FROM generate_series(2, ${events}::int) n`
  await given.db.session.update({ where: { projectId_id: session }, data: { lastSequence: events } })
  const tail = openSessionTail(given.platform, createLogger('silent'))
  const before = held()
  const readers = await Promise.all(
    Array.from({ length: watchers }, async () => {
      const watch = await watchSession(given.platform, tail, session, { after: 0, queueSize, filter: {} })
      const reader = iterate(watch, (taken) => ('item' in taken ? taken.item.sequence : undefined))
      await reader.next()
      return reader
    }),
  )
  // All of it for all of them would be 40 journals of 16 MB.
  expect(held() - before).toBeLessThan(0.1 * watchers * events * bytes)
  const [first, ...others] = readers
  for (const other of others) await other.return?.()
  for (let expected = 2; expected <= events; expected += 1) {
    const { value } = (await first?.next()) ?? {}
    if (value !== expected) expect(value).toBe(expected)
  }
  expect(held() - before).toBeLessThan(events * bytes)
  await first?.return?.()
  await tail.close()
})
