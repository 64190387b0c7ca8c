import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { audit } from '../kit/audit.ts'
import type { Client } from '../kit/client.ts'
import { eventually } from '../kit/eventually.ts'
import { seeded } from '../kit/hostile-values.ts'
import { type Servers, startServers } from '../kit/servers.ts'
import { given } from '../kit/story.ts'
import { range, type Watched, watchSession } from '../kit/watching.ts'

/*
 * 20 writing connections over 8 runs in 4 sessions, 50 watchers that drop and come back at random, two server processes
 * on one database; servers and PostgreSQL are killed in between. Short in the suite, long with TEST_LONG=1.
 */
const long = process.env.TEST_LONG === '1'
const seed = Number(process.env.TEST_SEED ?? 20_261_130)
const batches = long ? 400 : 14
const faults = long ? 24 : 3
const [writerCount, watcherCount, sessionCount, runsPerSession] = [20, 50, 4, 2]

let world: Servers
beforeAll(async () => {
  world = await startServers(2)
}, 120_000)
afterAll(() => world.close(), 120_000)

const random = seeded(seed)
const upTo = (n: number) => Math.floor(random() * n)
const anyServer = () => world.servers[upTo(world.servers.length)] as (typeof world.servers)[number]

interface Writer {
  runId: string
  runToken: string
  sessionId: string
}
/** A mutation that the server has acknowledged. */
interface Receipt {
  key: string
  sessionId: string
  cursor: number
  size: number
}

/** Sends one batch until it is acknowledged, whatever happens to servers and database meanwhile. */
async function write(writer: Writer, key: string, size: number): Promise<Receipt> {
  const { runId, runToken, sessionId } = writer
  const events = range(1, size).map((n) => ({ type: 'INFO', payload: { key, n } }))
  for (;;) {
    try {
      const { cursor } = await anyServer().owner.do<{ cursor: number }>(
        'recordRunEvents',
        { runId, runToken, events, idempotencyKey: key },
        'cursor',
      )
      return { key, sessionId, cursor, size }
    } catch (error) {
      // Only what says nothing of the outcome is tried again; a refusal would be a failure of the test.
      if (String(error).includes('was refused')) throw error
      await pause(20)
    }
  }
}

interface Watcher {
  sessionId: string
  events: Watched[]
  reconnects: number
  stop(): Promise<void>
}

/** Watches a session for as long as it takes, going on each time after what it has. */
function watcher(sessionId: string): Watcher {
  let stopped = false
  let leave: (() => void) | null = null
  const state: Watcher = {
    sessionId,
    events: [],
    reconnects: -1,
    async stop() {
      stopped = true
      leave?.()
      await running
    },
  }
  const running = (async () => {
    let after = 0
    while (!stopped) {
      state.reconnects += 1
      const watch = watchSession(anyServer().owner, { sessionId, after, queueSize: 16 + upTo(100) })
      const patience = upTo(40)
      let taken = 0
      const dropped = new Promise<void>((resolve) => {
        leave = resolve
        watch.onItem((item) => {
          if (item.__typename === 'WatchEnd') after = item.resumeAfter
          else {
            state.events.push(item)
            after = item.sequence
          }
          taken += 1
          if (taken > patience && !stopped) resolve()
        })
      })
      await Promise.race([watch.ended, dropped])
      watch.onItem(() => undefined)
      await watch.stop()
      if (taken === 0) await pause(20)
    }
  })()
  return state
}

test(
  `every watcher ends with the same dense sequence, and nothing acknowledged is lost (seed ${seed})`,
  async () => {
    const [first] = world.servers
    const owner = first?.owner as Client
    const story = await given({ owner }).project({
      maxConcurrentRuns: 100,
      maxLiveRunsPerSession: runsPerSession,
      runtimeGraceMs: 3_600_000,
      runTimeoutMs: 604_800_000,
    })
    await story.runtime(100)
    const runs: Writer[] = []
    for (let n = 0; n < sessionCount; n += 1) {
      await story.session()
      for (let k = 0; k < runsPerSession; k += 1) {
        const { runId, runToken, sessionId } = await story.run()
        runs.push({ runId, runToken, sessionId })
      }
    }
    const sessionIds = [...new Set(runs.map((run) => run.sessionId))]
    const watchers = range(1, watcherCount).map((n) => watcher(sessionIds[n % sessionIds.length] as string))

    const receipts: Receipt[] = []
    const total = writerCount * batches
    const writing = Promise.all(
      range(1, writerCount).map(async (w) => {
        for (let n = 0; n < batches; n += 1) {
          const run = runs[(w + n) % runs.length] as Writer
          receipts.push(await write(run, `${w}-${n}`, 1 + upTo(5)))
        }
      }),
    )
    const breaking = (async () => {
      for (let n = 0; n < faults; n += 1) {
        await eventually(() => receipts.length >= ((n + 1) * total) / (faults + 2), 600_000)
        if (n % 3 === 1) await world.killDatabase()
        else {
          const server = world.servers[(n % 3) / 2] as (typeof world.servers)[number]
          await server.kill()
          await server.start()
        }
      }
    })()
    await Promise.all([writing, breaking])
    expect(receipts).toHaveLength(total)

    const client = new pg.Client({ connectionString: world.databaseUrl })
    await client.connect()
    try {
      const journals = new Map<
        string,
        { sequence: number; type: string; payload: Record<string, unknown> }[]
      >()
      for (const sessionId of sessionIds) {
        const journal = await given({ owner }).journal(sessionId)
        expect(journal.map((event) => event.sequence)).toEqual(range(1, journal.length))
        journals.set(sessionId, journal)
      }
      const { rows } = await client.query<{ key: string; n: number; last: number }>(
        `SELECT payload->>'key' AS key, count(*)::int AS n, max(sequence) AS last FROM session_events WHERE type = 'INFO' GROUP BY 1`,
      )
      const written = new Map(rows.map((row) => [row.key, row]))
      for (const receipt of receipts)
        expect(written.get(receipt.key)).toEqual({ key: receipt.key, n: receipt.size, last: receipt.cursor })
      expect(written.size).toBe(total)

      for (const each of watchers) {
        const journal = journals.get(each.sessionId) ?? []
        await eventually(() => each.events.length >= journal.length, 60_000)
        await each.stop()
        const seen = each.events.map(({ sequence, type, payload }) => ({ sequence, type, payload }))
        expect(seen).toEqual(journal.map(({ sequence, type, payload }) => ({ sequence, type, payload })))
      }
      expect(watchers.reduce((sum, each) => sum + each.reconnects, 0)).toBeGreaterThan(watcherCount)
      expect(await audit(world.databaseUrl)).toEqual([])
    } finally {
      await client.end()
      await Promise.all(watchers.map((each) => each.stop()))
    }
  },
  long ? 1_800_000 : 240_000,
)
