import { createHash } from 'node:crypto'
import { auditRetentionDays } from '@wheelhouse/server/domains/access/audit/rules'
import { forgetAudit } from '@wheelhouse/server/domains/access/retention/operations'
import {
  loadProjectEvent,
  openProjectTail,
  readFeed,
  watchProject,
} from '@wheelhouse/server/domains/projects/feed/operations'
import { updateProjectLimits } from '@wheelhouse/server/domains/projects/operations'
import { feedRetention } from '@wheelhouse/server/domains/projects/retention/operations'
import {
  acknowledgeSignals,
  noteLife,
  unheardSignals,
} from '@wheelhouse/server/domains/runs/runtimes/operations'
import {
  openSessionTail,
  readEvents,
  watchSession,
} from '@wheelhouse/server/domains/sessions/journal/operations'
import { journalRetention } from '@wheelhouse/server/domains/sessions/retention/operations'
import { transactOnce } from '@wheelhouse/server/platform/idempotency'
import type { Ref } from '@wheelhouse/server/platform/ids'
import { createLogger } from '@wheelhouse/server/platform/logger'
import { iterate, type Watch } from '@wheelhouse/server/platform/watch'
import { retentionChores } from '@wheelhouse/server/retention'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Story, startStory } from '../kit/agent.ts'
import { eventually } from '../kit/eventually.ts'
import { callOf } from '../kit/platform.ts'
import { statements } from '../kit/statements.ts'

let given: Story
beforeEach(async () => {
  given = await startStory()
})
afterEach(() => given.close())

const day = 24 * 3_600_000
const keep = (eventRetentionDays: number, projectId = given.projectId) =>
  updateProjectLimits(given.platform, callOf(given.owner), { projectId, limits: { eventRetentionDays } })
const page = (session: Ref, after = 0) =>
  readEvents(given.platform, session, { after, first: 500, filter: {} })
const sequences = async (session: Ref) => (await page(session)).events.map((event) => event.sequence)
/** Time passes, and the runtime is still there. */
const later = async (ms: number) => {
  given.clock.advance(ms)
  await noteLife(given.platform, given.runtimeId)
}
const retainAll = async () => {
  for (const chore of retentionChores(given.platform)) await chore.run()
}

describe('the journal of a session', () => {
  test('case 06: loses its front when it is older than the project keeps, and says where it begins', async () => {
    await keep(10)
    const session = await given.session()
    await given.completes(await given.running(session), 'Old.')
    const old = (await page(session)).latest
    await later(9 * day)
    await given.completes(await given.running(session), 'New.')
    await retainAll()
    expect(await sequences(session)).toContain(1)
    await later(day + 1)
    await retainAll()
    const { events, earliest, latest } = await page(session)
    expect(earliest).toBe(old + 1)
    expect(events.map((event) => event.sequence)).toEqual(
      Array.from({ length: latest - old }, (_, index) => old + 1 + index),
    )
    expect(await given.db.message.count({ where: { sessionId: session.id } })).toBe(4)
  })

  test('keeps everything from the beginning of a run that is alive', async () => {
    await keep(1)
    const session = await given.session()
    await given.completes(await given.running(session), 'Done.')
    const before = (await page(session)).latest
    const run = await given.running(session)
    await given.says(run, [{ type: 'ANSWER_DELTA', payload: { text: 'Half of ' } }])
    await later(3 * day)
    await journalRetention(given.platform)()
    expect((await page(session)).earliest).toBe(before + 1)
    await given.completes(run, 'Half of ')
    await journalRetention(given.platform)()
    expect((await page(session)).events.map((event) => event.type)).toContain('RUN_COMPLETED')
  })

  test('may be gone as a whole, and goes on where it was', async () => {
    await keep(1)
    const session = await given.session()
    await later(2 * day)
    await journalRetention(given.platform)()
    expect(await page(session)).toMatchObject({ events: [], earliest: 2, latest: 1, hasMore: false })
    await given.offered(session)
    expect((await sequences(session))[0]).toBe(2)
  })

  test('case 41: is shortened in bounded passes, each going on where the last stopped', async () => {
    await keep(1)
    const sessions: Ref[] = []
    for (let number = 0; number < 3; number += 1) {
      const session = await given.session()
      sessions.push(session)
      await given.db.$executeRaw`
        INSERT INTO session_events (project_id, session_id, sequence, type, payload, at)
        SELECT ${session.projectId}::uuid, ${session.id}::uuid, n, 'INFO', '{}', ${given.clock.now()}::timestamptz
          FROM generate_series(2, 12000) n`
      await given.db.session.update({ where: { projectId_id: session }, data: { lastSequence: 12_000 } })
    }
    await later(2 * day)
    const pass = journalRetention(given.platform)
    const passes: number[] = []
    do passes.push(await pass())
    while (passes.at(-1) !== 0)
    expect(Math.max(...passes)).toBeLessThanOrEqual(20_000)
    expect(passes.reduce((sum, removed) => sum + removed)).toBe(36_000)
    for (const session of sessions) expect((await page(session, 12_000)).earliest).toBe(12_001)
  })

  test('is passed over with one statement when nothing in it is old', async () => {
    for (let number = 0; number < 5; number += 1) await given.session()
    expect(await statements(journalRetention(given.platform))).toBe(1)
  })

  test('stays dense and whole for a writer who writes meanwhile', async () => {
    await keep(1)
    const session = await given.session()
    const run = await given.running(session)
    await given.completes(run, 'Old.')
    await later(2 * day)
    const live = await given.running(session)
    const pass = journalRetention(given.platform)
    await Promise.all([
      ...Array.from({ length: 10 }, () => given.says(live, [{ type: 'INFO', payload: {} }])),
      pass(),
      journalRetention(given.platform)(),
    ])
    const { events, earliest, latest } = await page(session)
    expect(events.map((event) => event.sequence)).toEqual(
      Array.from({ length: latest - earliest + 1 }, (_, index) => earliest + index),
    )
    expect(earliest).toBeGreaterThan(1)
  })
})

/** The same database, where `purge` happens once, just before the first read of a page of events. */
function purgedBefore(read: string, purge: () => Promise<unknown>): Story['platform'] {
  let due = true
  const db = given.db.$extends({
    query: {
      async $queryRaw({ args, query }) {
        if (due && args.sql.includes(read)) {
          due = false
          await purge()
        }
        return query(args)
      },
    },
  })
  return { ...given.platform, db: db as unknown as Story['db'] }
}

describe('case 06: a replay that meets a purge', () => {
  const log = createLogger('silent')
  async function firstOf<Item, Cursor>(watch: Watch<Item, Cursor>) {
    try {
      return await iterate(watch, (taken) => taken).next()
    } finally {
      watch.leave()
    }
  }

  for (const types of [undefined, ['MESSAGE']]) {
    test(`of a session’s journal says that there is a gap, ${types ? 'with' : 'without'} a filter`, async () => {
      await keep(1)
      const session = await given.session()
      await given.completes(await given.running(session), 'Old.')
      await later(2 * day)
      await given.completes(await given.running(session), 'New.')
      const platform = purgedBefore('FROM session_events e', journalRetention(given.platform))
      const tail = openSessionTail(given.platform, log)
      const watch = await watchSession(platform, tail, session, { after: 0, filter: { types } })
      const { earliest } = await page(session)
      expect(earliest).toBe(1)
      expect((await firstOf(watch)).value).toMatchObject({ end: { reason: 'REPLAY_GAP', resumeAfter: 0 } })
      expect((await page(session)).earliest).toBeGreaterThan(1)
      await tail.close()
    })
  }

  test('of a project’s feed says that there is a gap', async () => {
    await keep(1)
    await given.session('Old')
    await later(2 * day)
    const session = await given.session('New')
    const bounds = () => readFeed(given.platform, given.projectId, { first: 500, filter: {} })
    await eventually(async () => {
      expect((await bounds()).events.map((event) => event.sessionId)).toContain(session.id)
    })
    const { cursor } = await readFeed(given.platform, given.projectId, { first: 1, filter: {} })
    const platform = purgedBefore('FROM project_events', feedRetention(given.platform))
    const tail = openProjectTail(given.platform, log)
    const { watch } = await watchProject(platform, tail, given.projectId, {
      after: cursor,
      filter: {},
      visible: 'all',
    })
    expect((await firstOf(watch)).value).toMatchObject({ end: { reason: 'REPLAY_GAP' } })
    await tail.close()
  })
})

describe('the feed of a project', () => {
  const feed = (after?: string) =>
    readFeed(given.platform, given.projectId, { after, first: 500, filter: {} })
  const sessionsIn = async (after?: string) => (await feed(after)).events.map((event) => event.sessionId)
  /** The feed is read, and purged, only below the oldest transaction of the whole cluster. */
  const settled = (session: Ref) =>
    eventually(async () => {
      const page = await feed()
      expect(page.events.map((event) => event.sessionId)).toContain(session.id)
      return page
    })

  test('loses its front, and a cursor from there is told so', async () => {
    await keep(10)
    await settled(await given.session('Old'))
    const { cursor } = await readFeed(given.platform, given.projectId, { first: 1, filter: {} })
    await later(10 * day + 1)
    const other = await given.project('Other')
    const session = await given.session('New')
    await settled(session)
    await feedRetention(given.platform)()
    expect(await sessionsIn()).toEqual([session.id])
    await expect(feed(cursor)).rejects.toEqual(expect.objectContaining({ code: 'INVALID_CURSOR' }))
    expect(await given.db.projectEvent.count({ where: { projectId: other.projectId } })).toBeGreaterThan(0)
    expect(await given.db.session.count({ where: { projectId: given.projectId } })).toBe(2)
  })

  test('keeps a cursor at its new beginning valid', async () => {
    await keep(10)
    const { cursor, events } = await settled(await given.session('Old'))
    await later(10 * day + 1)
    const session = await given.session('New')
    await settled(session)
    expect(await feedRetention(given.platform)()).toBe(events.length)
    expect(await sessionsIn(cursor)).toEqual([session.id])
    const last = events.at(-1)
    expect(await loadProjectEvent(given.platform, given.projectId, last?.position ?? 0n)).toBeNull()
  })
})

test('a signal that was heard is removed after a day, one that was not stays', async () => {
  const session = await given.session()
  await given.fails(await given.running(session))
  const other = await given.offered(session)
  const [cancelled] = await unheardSignals(given.platform, given.runtimeId, 0, 10)
  await acknowledgeSignals(given.platform, {
    runtimeId: given.runtimeId,
    signalIds: [{ projectId: given.projectId, id: cancelled?.id ?? '' }],
  })
  await later(day + 1)
  await retainAll()
  expect(await given.db.runtimeSignal.findMany()).toMatchObject([{ kind: 'RUN_OFFER', runId: other.id }])
})

test('an idempotency key is kept for 48 hours', async () => {
  const call = callOf(given.owner, 'once', 'key', {})
  let done = 0
  const once = () =>
    transactOnce(given.platform, call, async () => {
      done += 1
      return { done }
    })
  await once()
  await later(2 * day)
  await retainAll()
  expect(await once()).toEqual({ done: 1 })
  await later(1)
  await retainAll()
  expect(await once()).toEqual({ done: 2 })
})

test('a message that was handed over is removed after 30 days; one that was not, or could not be, stays', async () => {
  for (const [key, state, sentAt] of [
    ['sent', 'SENT', given.clock.now()],
    ['queued', 'QUEUED', null],
    ['dead', 'DEAD', null],
  ] as const) {
    const [id, at] = [given.platform.ids.next(), given.clock.now()]
    await given.db.outboxEntry.create({
      data: {
        projectId: given.projectId,
        id,
        channel: 'none',
        key,
        payload: {},
        state,
        sentAt,
        dueAt: at,
        createdAt: at,
      },
    })
  }
  const keys = async () =>
    (await given.db.outboxEntry.findMany({ orderBy: { key: 'asc' } })).map(({ key }) => key)
  await later(30 * day)
  await retainAll()
  expect(await keys()).toEqual(['dead', 'queued', 'sent'])
  await later(1)
  await retainAll()
  expect(await keys()).toEqual(['dead', 'queued'])
})

test('an audit entry is kept for ten years, and then removed in bounded passes', async () => {
  const entries = () => given.db.auditEntry.count()
  const first = await entries()
  await given.db.$executeRaw`
    INSERT INTO audit_entries (id, at, action, channel)
    SELECT gen_random_uuid(), ${given.clock.now()}::timestamptz, 'token.created', 'SYSTEM' FROM generate_series(1, 20001)`
  await later(auditRetentionDays * day)
  expect(await forgetAudit(given.platform)).toBe(0)
  await later(1)
  expect(await forgetAudit(given.platform)).toBe(20_000)
  expect(await forgetAudit(given.platform)).toBe(first + 1)
  expect(await entries()).toBe(0)
})

test('ended links and sign-ins are removed a day later, valid ones stay', async () => {
  const at = (ms: number) => new Date(given.clock.now().getTime() + ms)
  const code = (byte: number) => new Uint8Array(32).fill(byte)
  for (const [byte, expiresAt] of [
    [1, at(0)],
    [2, at(2 * day)],
  ] as const) {
    await given.db.invitation.create({
      data: {
        id: given.platform.ids.next(),
        kind: 'PERSON',
        codeHash: code(byte),
        createdAt: at(0),
        expiresAt,
      },
    })
  }
  const times = { createdAt: at(0), updatedAt: at(0) }
  await given.db.authUser.create({ data: { id: 'u', name: 'U', email: 'u@example.org', ...times } })
  for (const [id, expiresAt] of [
    ['ended', at(0)],
    ['valid', at(2 * day)],
  ] as const) {
    await given.db.authSession.create({
      data: { id, token: createHash('sha256').update(id).digest('hex'), userId: 'u', expiresAt, ...times },
    })
  }
  await later(day + 1)
  await retainAll()
  expect(
    await given.db.invitation.findMany({ where: { codeHash: { in: [code(1), code(2)] } } }),
  ).toHaveLength(1)
  expect(await given.db.authSession.findMany()).toMatchObject([{ id: 'valid' }])
})
