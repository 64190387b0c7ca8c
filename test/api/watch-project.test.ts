import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { freshDatabase } from '../kit/database.ts'
import { eventually } from '../kit/eventually.ts'
import { givenSession, type Story } from '../kit/story.ts'
import { range } from '../kit/watching.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

interface Item {
  __typename: string
  type: string
  cursor: string
  payload: Record<string, unknown>
  reason: string
  resumeAfter: string
  earliest: string | null
}
const query = `subscription($id:ID!,$after:String,$filter:ProjectEventFilter){projectEvents(projectId:$id,after:$after,filter:$filter){
  __typename ...on ProjectEvent{type cursor payload} ...on ProjectWatchEnd{reason resumeAfter earliest}}}`
const watch = (story: Story, more: { after?: string; filter?: object } = {}) =>
  story.owner.watch<Item>(query, { id: story.projectId, ...more })
const open = (count: number) => eventually(() => app.app.projects.watches === count)
/** The whole feed, in pages. */
async function feed(story: Story): Promise<Item[]> {
  const items: Item[] = []
  for (let after: string | null = null; ; ) {
    const { project }: { project: { events: { events: Item[]; cursor: string; hasMore: boolean } } } =
      await story.owner.query(
        'query($id:ID!,$after:String){project(id:$id){events(after:$after,first:7){events{__typename type cursor payload} cursor hasMore}}}',
        { id: story.projectId, after },
      )
    items.push(...project.events.events)
    after = project.events.cursor
    if (!project.events.hasMore) return items
  }
}

describe('S10: a project’s watch', () => {
  test('delivers the event that took its place first and was committed last', async () => {
    const story = await givenSession(app)
    const seen = watch(story)
    await open(1)
    const [row] = await app.db.$queryRaw<
      { id: string }[]
    >`SELECT project_id AS id FROM project_load ORDER BY project_id DESC LIMIT 1`
    const slow = new pg.Client({ connectionString: app.databaseUrl })
    await slow.connect()
    try {
      await slow.query('BEGIN')
      await slow.query(
        `INSERT INTO project_events (project_id, type, payload, at) VALUES ($1, 'PROJECT_UPDATED', '{"late": true}', now())`,
        [row?.id],
      )
      await story.session('While it waits')
      // The other one has committed and is told in the session's journal; the feed holds it back.
      expect(await story.journal()).toHaveLength(1)
      expect(await feed(story)).not.toContainEqual(
        expect.objectContaining({
          type: 'SESSION_CREATED',
          payload: expect.objectContaining({ title: 'While it waits' }),
        }),
      )
      expect(seen.items).toEqual([])
      await slow.query('COMMIT')
    } finally {
      await slow.end()
    }
    await eventually(() => seen.items.length === 2)
    expect(seen.items.map((item) => item.type)).toEqual(['PROJECT_UPDATED', 'SESSION_CREATED'])
    expect((await feed(story)).slice(-2)).toEqual(seen.items)
    await seen.stop()
  })

  test('is held up by no transaction of another database', async () => {
    const elsewhere = await freshDatabase()
    const slow = new pg.Client({ connectionString: elsewhere.url })
    await slow.connect()
    try {
      await slow.query('BEGIN')
      await slow.query('SELECT pg_current_xact_id()')
      const story = await givenSession(app)
      const seen = watch(story)
      await open(1)
      await story.session('Meanwhile')
      await eventually(() => seen.items.some((item) => item.payload.title === 'Meanwhile'))
      expect((await feed(story)).at(-1)?.payload.title).toBe('Meanwhile')
      await seen.stop()
    } finally {
      await slow.end()
      await elsewhere.drop()
    }
  })

  test('goes on from any cursor with exactly what follows, while eight write', async () => {
    const story = await givenSession(app, { maxOpenSessions: 1_000 })
    const live = watch(story)
    await open(1)
    const before = await feed(story)
    const writing = Promise.all(
      range(1, 8).map(async () => {
        for (let n = 0; n < 6; n += 1)
          await story.owner.do('createSession', { projectId: story.projectId }, 'session{id}')
      }),
    )
    const during = watch(story, { after: before[0]?.cursor ?? '' })
    await writing
    await eventually(() => live.items.length === 48)
    const all = await feed(story)
    expect(all).toHaveLength(before.length + 48)
    expect(live.items).toEqual(all.slice(before.length))
    for (const at of [0, 1, 20, all.length - 2]) {
      const resumed = watch(story, { after: all[at]?.cursor ?? '' })
      await eventually(() => resumed.items.length === all.length - at - 1)
      expect(resumed.items).toEqual(all.slice(at + 1))
      await resumed.stop()
    }
    await eventually(() => during.items.length === all.length - 1)
    expect(during.items).toEqual(all.slice(1))
    await during.stop()
    await live.stop()
    await open(0)
  })

  test('keeps to its filter', async () => {
    const story = await givenSession(app)
    const sessionId = story.sessionId
    const filtered = watch(story, {
      filter: { types: ['RUN_OFFERED', 'RUN_CANCELLED'], sessionIds: [sessionId] },
    })
    await open(1)
    await story.turn()
    await story.owner.do('cancelRun', { runId: story.runId, reason: 'x' }, 'run{id}')
    await story.session()
    await story.turn()
    await eventually(() => filtered.items.length === 2)
    await story.owner.do('cancelRun', { runId: story.runId, reason: 'x' }, 'run{id}')
    await eventually(async () => (await feed(story)).at(-1)?.type === 'RUN_CANCELLED')
    expect(filtered.items.map((item) => item.type)).toEqual(['RUN_OFFERED', 'RUN_CANCELLED'])
    await filtered.stop()
  })

  test('of a cursor that is none, or beyond the latest, is INVALID_CURSOR and registers nothing', async () => {
    const story = await givenSession(app)
    const { cursor = '' } = (await feed(story)).at(-1) ?? {}
    const [incarnation, xid, position] = Buffer.from(cursor, 'base64url').toString().split('.')
    const made = (xid: bigint, position: bigint) =>
      Buffer.from(`${incarnation}.${xid}.${position}`).toString('base64url')
    const next = made(BigInt(xid ?? 0), BigInt(position ?? 0) + 1n)
    // Other databases of the cluster count the same transactions.
    const later = made(BigInt(xid ?? 0) + 1_000_000_000n, 1n)
    for (const after of ['', 'x', `${cursor}=`, next, later]) {
      const wrong = watch(story, { after })
      await wrong.ended
      expect(wrong.items).toEqual([])
      expect(JSON.stringify(wrong.failure())).toContain('INVALID_CURSOR')
    }
    expect(app.app.openWatches.size).toBe(0)
  })

  test('of a cursor from before a restore is REPLAY_GAP', async () => {
    const story = await givenSession(app)
    const [{ cursor } = { cursor: '' }] = await feed(story)
    const [, xid, position] = Buffer.from(cursor, 'base64url').toString().split('.')
    const foreign = `00000000-0000-4000-8000-000000000000.${xid}.${position}`
    const gap = watch(story, { after: Buffer.from(foreign).toString('base64url') })
    await gap.ended
    expect(gap.items).toEqual([
      expect.objectContaining({
        __typename: 'ProjectWatchEnd',
        reason: 'REPLAY_GAP',
        earliest: expect.any(String),
      }),
    ])
    const again = watch(story, { after: gap.items[0]?.earliest ?? '' })
    const all = await feed(story)
    await eventually(() => again.items.length === all.length)
    expect(again.items).toEqual(all)
    await again.stop()
  })
})
