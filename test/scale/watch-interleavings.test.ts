import { createLogger } from '@wheelhouse/server/platform/logger'
import { type News, Tail } from '@wheelhouse/server/platform/tail'
import { type End, iterate, Watch } from '@wheelhouse/server/platform/watch'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seeded } from '../kit/hostile-values.ts'
import { range } from '../kit/watching.ts'

/*
 * The path from replay to live in one process, against a journal in memory whose reads take some turns of the event loop:
 * whatever the order in which things happen, no watcher misses anything and none gets anything twice.
 */

type Step =
  | { do: 'write'; count: number; hinted: boolean }
  | { do: 'watch'; back: number; queueSize: number }
  | { do: 'read'; watch: number; most: number }
  | { do: 'leave'; watch: number }
  | { do: 'wait'; turns: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('write'),
      count: fc.integer({ min: 1, max: 5 }),
      hinted: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('watch'),
      back: fc.nat(30),
      queueSize: fc.integer({ min: 1, max: 12 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('read'), watch: fc.nat(9), most: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave'), watch: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), turns: fc.integer({ min: 1, max: 6 }) }) },
) as fc.Arbitrary<Step>

interface Reader {
  after: number
  watch: Watch<number, number>
  items: number[]
  end: End<number> | null
}

/** Lets some turns of the event loop pass. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

async function play(steps: Step[], seed: number): Promise<void> {
  const random = seeded(seed)
  const upTo = (n: number) => Math.floor(random() * n)
  let latest = 0
  /** A read sees the journal as it is at some moment between its call and its answer. */
  const reading = async <T>(look: () => T): Promise<T> => {
    await turns(upTo(4))
    const seen = look()
    await turns(upTo(4))
    return seen
  }
  const tail = new Tail<number, number>({
    log: createLogger('silent'),
    pollMs: 3_600_000,
    read: (topics) =>
      reading(() => {
        const news = new Map<string, News<number, number>>()
        for (const { key, cursor } of topics) {
          const items = range(cursor + 1, Math.min(latest, cursor + 4))
          news.set(key, { items, cursor: items.at(-1) ?? cursor, more: (items.at(-1) ?? cursor) < latest })
        }
        return news
      }),
  })
  const open = async (back: number, queueSize: number): Promise<Reader> => {
    const start = await reading(() => latest)
    const after = Math.max(0, start - back)
    const watch: Watch<number, number> = new Watch<number, number>({
      after,
      queueSize,
      stream: { cursorOf: (n) => n, beyond: (a, b) => a > b },
      accepts: (n) => n % 7 !== 3,
      replay: (from, most) =>
        reading(() => {
          const page = range(from + 1, Math.min(latest, from + most))
          return { items: page.filter((n) => n % 7 !== 3), scannedThrough: page.at(-1) ?? from }
        }),
      tail: () => tail.position('journal', start),
      onGone: () => tail.leave('journal', watch),
    })
    tail.join('journal', start, watch)
    return { after, watch, items: [], end: null }
  }
  const take = (reader: Reader, most: number) => {
    for (let n = 0; n < most; n += 1) {
      const taken = reader.watch.take()
      if (!taken) return
      if ('end' in taken) reader.end = taken.end
      else reader.items.push(taken.item)
    }
  }

  const opening: Promise<Reader>[] = []
  const readers: Reader[] = []
  for (const each of steps) {
    if (each.do === 'write') {
      latest += each.count
      if (each.hinted) tail.poke('journal')
    } else if (each.do === 'watch') {
      opening.push(
        open(each.back, each.queueSize).then((reader) => {
          readers.push(reader)
          return reader
        }),
      )
    } else if (each.do === 'wait') await turns(each.turns)
    else {
      const reader = readers[each.watch % Math.max(1, readers.length)]
      if (reader && each.do === 'read') take(reader, each.most)
      if (reader && each.do === 'leave') reader.watch.leave()
    }
  }
  await Promise.all(opening)
  // The poll that comes in the end, however many hints were lost.
  const through = latest
  for (let n = 0; n < 400; n += 1) {
    tail.poke()
    await turns(1)
    for (const reader of readers) take(reader, 50)
  }
  for (const reader of readers) {
    const wanted = (to: number) => range(reader.after + 1, to).filter((n) => n % 7 !== 3)
    expect(reader.items).toEqual(wanted(through).slice(0, reader.items.length))
    if (reader.end) {
      expect(reader.end.reason).toBe('OVERFLOW')
      expect(reader.items).toEqual(wanted(reader.end.resumeAfter))
    } else if (!reader.watch.gone) expect(reader.items).toEqual(wanted(through))
  }
  await tail.close()
}

test('no order of writes, hints, reads, joins and leaves makes a watcher miss or repeat anything', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), fc.integer(), play), {
    seed: 10,
    numRuns: process.env.TEST_LONG ? 20_000 : 300,
  })
})

test('a tail that everybody left during a read skips nothing for who comes back', async () => {
  let latest = 10
  let answer: () => void = () => undefined
  const tail = new Tail<number, number>({
    log: createLogger('silent'),
    pollMs: 3_600_000,
    async read(topics) {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      return new Map(
        topics.map(({ key, cursor }) => [
          key,
          { items: range(cursor + 1, latest), cursor: latest, more: false },
        ]),
      )
    },
  })
  const open = (start: number) => {
    const watch: Watch<number, number> = new Watch<number, number>({
      after: start,
      queueSize: 100,
      stream: { cursorOf: (n) => n, beyond: (a, b) => a > b },
      accepts: () => true,
      replay: async (from) => ({ items: range(from + 1, latest), scannedThrough: latest }),
      tail: () => tail.position('journal', start),
      onGone: () => tail.leave('journal', watch),
    })
    tail.join('journal', start, watch)
    return watch
  }
  const first = open(10)
  await turns(3)
  latest = 20
  first.leave()
  // Somebody who looked up the latest position long ago comes only now.
  const second = open(5)
  answer()
  await turns(3)
  answer()
  await turns(3)
  const items: number[] = []
  for (let taken = second.take(); taken; taken = second.take()) if ('item' in taken) items.push(taken.item)
  expect(items).toEqual(range(6, 20))
  second.leave()
})

test('a reader who leaves a quiet watch is gone at once, and what it waited for is over', async () => {
  let gone = 0
  const watch = new Watch<number, number>({
    after: 0,
    queueSize: 1,
    stream: { cursorOf: (n) => n, beyond: (a, b) => a > b },
    accepts: () => true,
    replay: async () => ({ items: [], scannedThrough: 0 }),
    tail: () => 0,
    onGone: () => {
      gone += 1
    },
  })
  const reading = iterate(watch, (taken) => taken)
  const next = reading.next()
  await reading.return?.()
  expect(gone).toBe(1)
  expect(await next).toEqual({ value: undefined, done: true })
})
