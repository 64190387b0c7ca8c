import { createLogger } from '@wheelhouse/server/platform/logger'
import {
  type Channel,
  drainOutbox,
  enqueue,
  FinalFailure,
  retryDelayMs,
} from '@wheelhouse/server/platform/outbox'
import { transact } from '@wheelhouse/server/platform/transaction'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPlatform, type TestPlatform } from '../kit/platform.ts'

let given: TestPlatform
beforeAll(async () => {
  given = await startPlatform()
})
afterAll(() => given.close())

const log = createLogger('silent')
const queue = (channel: string, key: string) =>
  transact(given.platform, (unit) =>
    enqueue(unit, { projectId: unit.ids.next(), channel, key, payload: { n: 1 } }),
  )
const drain = (channels: Record<string, Channel>) => drainOutbox(given.platform, channels, log, () => 0.5)
const states = (channel: string) =>
  given.db.outboxEntry.findMany({
    where: { channel },
    select: { state: true, attempts: true, lastError: true },
    orderBy: { id: 'asc' },
  })

test('a message that is queued with a change is handed over once, and not when the change is rolled back', async () => {
  const heard: string[] = []
  await queue('once', 'a')
  await expect(
    transact(given.platform, async (unit) => {
      await enqueue(unit, { projectId: unit.ids.next(), channel: 'once', key: 'b', payload: {} })
      throw new Error('the change failed')
    }),
  ).rejects.toThrow('the change failed')
  const channel: Channel = async (_unit, message) => void heard.push(message.key)
  expect(await drain({ once: channel })).toBe(1)
  expect(await drain({ once: channel })).toBe(0)
  expect(heard).toEqual(['a'])
  expect(await states('once')).toEqual([{ state: 'SENT', attempts: 1, lastError: null }])
})

test('senders on several connections share the work, and no message is handed over twice', async () => {
  for (let n = 0; n < 20; n += 1) await queue('shared', `m${n}`)
  const heard: string[] = []
  const channel: Channel = async (_unit, message) => void heard.push(message.key)
  await Promise.all([1, 2, 3, 4].map(() => drain({ shared: channel })))
  expect(heard.toSorted()).toEqual(Array.from({ length: 20 }, (_, n) => `m${n}`).toSorted())
})

test('a passing failure is tried again later under the same key, and what it wrote is undone', async () => {
  await queue('flaky', 'f')
  const heard: string[] = []
  let fail = true
  const channel: Channel = async (unit, message) => {
    heard.push(message.key)
    await unit.tx.$executeRaw`UPDATE outbox SET last_error = 'half done' WHERE channel = 'flaky'`
    if (fail) throw new Error('not now')
  }
  expect(await drain({ flaky: channel })).toBe(0)
  expect(await states('flaky')).toEqual([{ state: 'QUEUED', attempts: 1, lastError: 'not now' }])
  expect(await drain({ flaky: channel })).toBe(0)
  expect(heard).toEqual(['f'])
  fail = false
  given.clock.advance(retryDelayMs(1, 0.5))
  expect(await drain({ flaky: channel })).toBe(1)
  expect(heard).toEqual(['f', 'f'])
})

test('the tenth passing failure is the last, and a final one the first and last', async () => {
  await queue('down', 'd')
  await queue('gone', 'g')
  for (let attempt = 1; attempt <= 12; attempt += 1) {
    await drain({
      down: () => Promise.reject(new Error('still down')),
      gone: () => Promise.reject(new FinalFailure('no such address')),
    })
    given.clock.advance(3_600_000)
  }
  expect(await states('down')).toEqual([{ state: 'DEAD', attempts: 10, lastError: 'still down' }])
  expect(await states('gone')).toEqual([{ state: 'DEAD', attempts: 1, lastError: 'no such address' }])
})

test('the delay doubles with each attempt, a quarter more or less, and stays within ten minutes and its quarter', () => {
  expect([1, 2, 3, 4].map((attempts) => retryDelayMs(attempts, 0.5))).toEqual([1_000, 2_000, 4_000, 8_000])
  expect([retryDelayMs(3, 0), retryDelayMs(3, 1)]).toEqual([3_000, 5_000])
  expect(retryDelayMs(30, 0.5)).toBe(600_000)
})
