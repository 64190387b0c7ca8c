import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { eventually } from '../kit/eventually.ts'
import { givenSession, type Story } from '../kit/story.ts'
import { endOf, endsOf, range, sequencesOf, watchSession } from '../kit/watching.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

describe('a watch ends', () => {
  test('SESSION_CLOSED after all accepted events, when the session is closed under it', async () => {
    const story = await (await givenSession(app)).run()
    const watch = watchSession(story.owner, { sessionId: story.sessionId, after: 0 })
    const begun = await story.latest()
    await eventually(() => watch.items.length === begun)
    await story.owner.do('closeSession', { sessionId: story.sessionId, cancelActive: true }, '__typename')
    const end = await endOf(watch)
    const last = await story.latest()
    expect(end).toMatchObject({ reason: 'SESSION_CLOSED', resumeAfter: last })
    expect(sequencesOf(watch.items)).toEqual(range(1, last))
  })

  test('SESSION_CLOSED after the replay of a closed session, also with nothing to replay', async () => {
    const story = await givenSession(app)
    await story.owner.do('closeSession', { sessionId: story.sessionId }, '__typename')
    for (const after of [0, 1, 2, undefined]) {
      const watch = watchSession(story.owner, {
        sessionId: story.sessionId,
        ...(after !== undefined && { after }),
      })
      expect(await endOf(watch)).toMatchObject({ reason: 'SESSION_CLOSED', resumeAfter: 2 })
      expect(sequencesOf(watch.items)).toEqual(range((after ?? 2) + 1, 2))
    }
  })

  test('not at a close in the past: a session that was opened again is watched on', async () => {
    const story = await givenSession(app)
    await story.owner.do('closeSession', { sessionId: story.sessionId }, '__typename')
    await story.owner.do('openSession', { sessionId: story.sessionId }, '__typename')
    const watch = watchSession(story.owner, { sessionId: story.sessionId, after: 0 })
    await eventually(() => watch.items.length === 3)
    await story.turn()
    const last = await story.latest()
    expect(last).toBeGreaterThan(3)
    await eventually(() => watch.items.length === last)
    expect(sequencesOf(watch.items)).toEqual(range(1, last))
    expect(endsOf(watch.items)).toEqual([])
    await watch.stop()
  })

  test('SESSION_DELETED when the session is deleted, and a new one is NOT_FOUND', async () => {
    const story = await givenSession(app)
    const watch = watchSession(story.owner, { sessionId: story.sessionId, after: 0 })
    await eventually(() => watch.items.length === 1)
    await story.owner.do('deleteSession', { sessionId: story.sessionId }, 'deletedId')
    expect(await endOf(watch)).toMatchObject({ reason: 'SESSION_DELETED', resumeAfter: 1 })
    const late = watchSession(story.owner, { sessionId: story.sessionId, after: 0 })
    await late.ended
    expect(JSON.stringify(late.failure())).toContain('NOT_FOUND')
  })

  test.each(['token', 'grant'] as const)(
    'REVOKED when its %s is withdrawn, without any further event',
    async (what) => {
      const story = await givenSession(app)
      const grants = [{ capabilities: ['session.read', 'event.read'], projectId: story.projectId }]
      const { principal } = await story.owner.do<{ principal: { id: string; grants: { id: string }[] } }>(
        'createPrincipal',
        { kind: 'SERVICE', name: 'dashboard', grants },
        'principal{id grants{id}}',
      )
      const { token, secret } = await story.owner.do<{ token: { id: string }; secret: string }>(
        'createToken',
        { name: 'dashboard', principalId: principal.id, grants },
        'token{id} secret',
      )
      const reader = story.owner.as(secret)
      const watch = watchSession(reader, { sessionId: story.sessionId, after: 0 })
      const feed = reader.watch<{ __typename: string; reason: string }>(
        'subscription($id:ID!){projectEvents(projectId:$id){__typename ...on ProjectWatchEnd{reason}}}',
        { id: story.projectId },
      )
      await eventually(() => watch.items.length === 1 && app.app.projects.watches === 1)
      if (what === 'token') await story.owner.do('revokeToken', { tokenId: token.id }, '__typename')
      else await story.owner.do('revokeGrant', { grantId: principal.grants[0]?.id }, '__typename')
      await story.turn()
      expect(await endOf(watch)).toMatchObject({ reason: 'REVOKED' })
      await feed.ended
      expect(feed.items.at(-1)).toMatchObject({ __typename: 'ProjectWatchEnd', reason: 'REVOKED' })
    },
  )

  test('SHUTTING_DOWN when its server goes, on every transport', async () => {
    const other = await app.another()
    const story = await givenSession(app)
    const watch = watchSession(other.owner, { sessionId: story.sessionId, after: 0 })
    const feed = other.owner.watch<{ reason: string }>(
      'subscription($id:ID!){projectEvents(projectId:$id){...on ProjectWatchEnd{reason}}}',
      { id: story.projectId },
    )
    await eventually(() => watch.items.length === 1 && other.app.projects.watches === 1)
    await other.close()
    expect(await endOf(watch)).toMatchObject({ reason: 'SHUTTING_DOWN', resumeAfter: 1 })
    await feed.ended
    expect(feed.items).toEqual([{ reason: 'SHUTTING_DOWN' }])
    const elsewhere = watchSession(story.owner, { sessionId: story.sessionId, after: 1 })
    await story.turn()
    const last = await story.latest()
    await eventually(() => elsewhere.items.length === last - 1)
    expect(sequencesOf(elsewhere.items)).toEqual(range(2, last))
    await elsewhere.stop()
  })

  test('case 06: REPLAY_GAP when its cursor is older than what is kept, and says where that begins', async () => {
    const day = 24 * 3_600_000
    const story = await (await givenSession(app, { eventRetentionDays: 1 })).run()
    await story.writes.complete()
    const old = await story.latest()
    await app.pass(2 * day)
    await eventually(async () => {
      await app.pass(60_000)
      return (await kept(story)).earliest === old + 1
    })
    expect(await kept(story)).toEqual({ earliest: old + 1, latest: old, events: [] })
    for (const after of [0, old - 1]) {
      const watch = watchSession(story.owner, { sessionId: story.sessionId, after })
      expect(await endOf(watch)).toMatchObject({
        reason: 'REPLAY_GAP',
        resumeAfter: after,
        earliest: old + 1,
      })
      expect(watch.items).toHaveLength(1)
    }
    const watch = watchSession(story.owner, { sessionId: story.sessionId, after: old })
    await story.owner.do('heartbeatRuntime', { runtimeId: story.runtimeId }, 'runtime{state}')
    await story.turn()
    const now = await story.latest()
    expect(now).toBeGreaterThan(old)
    await eventually(() => watch.items.length === now - old)
    expect(sequencesOf(watch.items)).toEqual(range(old + 1, now))
    await watch.stop()
    expect(await kept(story)).toMatchObject({ earliest: old + 1, latest: now })
    await story.owner.do('cancelRun', { runId: story.runId, reason: 'x' }, 'run{id}')
  })
})

async function kept(story: Story) {
  const { session } = await story.owner.query<{
    session: { events: { earliest: number; latest: number; events: { sequence: number }[] } }
  }>('query($id:ID!){session(id:$id){events(after:0){earliest latest events{sequence}}}}', {
    id: story.sessionId,
  })
  return session.events
}
