import { spawn } from 'node:child_process'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
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

interface Frame {
  id: string | null
  event: string | null
  data: {
    data?: Record<string, { sequence?: number; reason?: string; cursor?: string; type?: string }>
    errors?: unknown
  } | null
}
function framesOf(text: string): Frame[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((block) => !block.startsWith(':'))
    .map((block) => {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1] ?? null
      const data = field('data')
      return { id: field('id'), event: field('event'), data: data ? JSON.parse(data) : null }
    })
}

const events =
  'subscription($id:ID!,$after:Int){sessionEvents(sessionId:$id,after:$after){...on SessionEvent{sequence} ...on WatchEnd{reason}}}'
const feed =
  'subscription($id:ID!,$after:String){projectEvents(projectId:$id,after:$after,filter:{types:[SESSION_CREATED]}){...on ProjectEvent{type cursor} ...on ProjectWatchEnd{reason}}}'

/** A stream that is read as it comes. */
async function stream(query: string, variables: object, headers: Record<string, string> = {}, url = app.url) {
  const leave = new AbortController()
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${app.owner.token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
    signal: leave.signal,
  })
  let text = ''
  const ended = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
  })().catch(() => undefined)
  const frames = () => framesOf(text)
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    frames,
    sequences: () => frames().flatMap((frame) => frame.data?.data?.sessionEvents?.sequence ?? []),
    ended,
    leave: async () => {
      leave.abort()
      await ended
    },
  }
}
const infos = (count: number) => range(1, count).map((n) => ({ type: 'INFO', payload: { n } }))
const idle = () => eventually(() => app.app.sessions.watches + app.app.projects.watches === 0)

describe('server-sent events', () => {
  test('carry each event with its sequence as id, then the end, then complete', async () => {
    const story = await (await givenSession(app)).run()
    const watch = await stream(events, { id: story.sessionId, after: 0 })
    expect([watch.status, watch.type]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const replayed = await story.latest()
    await eventually(() => watch.sequences().length === replayed)
    await story.writes.events(...infos(3))
    await story.owner.do('closeSession', { sessionId: story.sessionId, cancelActive: true }, 'session{id}')
    await watch.ended
    const last = await story.latest()
    expect(watch.sequences()).toEqual(range(1, last))
    const frames = watch.frames()
    expect(frames.slice(0, last).map((frame) => frame.id)).toEqual(range(1, last).map(String))
    expect(frames.slice(last)).toEqual([
      { id: String(last), event: 'next', data: { data: { sessionEvents: { reason: 'SESSION_CLOSED' } } } },
      { id: null, event: 'complete', data: null },
    ])
    await idle()
  })

  test.each(['-1', 'abc', '1e3', '0x1', '7, 8', '12345678901', '9999999999'])(
    'are refused a Last-Event-ID of %s, instead of going on from elsewhere',
    async (id) => {
      const story = await givenSession(app)
      for (const [query, of] of [
        [events, story.sessionId],
        [feed, story.projectId],
      ] as const) {
        const watch = await stream(query, { id: of }, { 'last-event-id': id })
        await watch.ended
        expect(JSON.stringify(watch.frames()[0]?.data?.errors)).toContain('INVALID_CURSOR')
      }
    },
  )

  test('resume after Last-Event-ID, whatever the operation’s own cursor says', async () => {
    const story = await (await givenSession(app)).run()
    await story.writes.events(...infos(5))
    const last = await story.latest()
    const watch = await stream(
      events,
      { id: story.sessionId, after: 0 },
      { 'last-event-id': String(last - 3) },
    )
    await eventually(() => watch.sequences().length === 3)
    expect(watch.sequences()).toEqual(range(last - 2, last))
    await watch.leave()
    await idle()
    for (const id of [String(last + 1), '4000000000'])
      expect(JSON.stringify((await finished(story, id)).frames())).toContain('INVALID_CURSOR')
    await idle()
    await story.writes.complete()
  })
  async function finished(story: Story, id: string) {
    const watch = await stream(events, { id: story.sessionId }, { 'last-event-id': id })
    await watch.ended
    return watch
  }

  test('carry a project’s feed with its cursors as ids, and resume it', async () => {
    const story = await (await givenSession(app)).turn()
    const watch = await stream(feed, { id: story.projectId })
    await eventually(() => app.app.projects.watches === 1)
    for (let n = 0; n < 3; n += 1) await story.session()
    await eventually(() => watch.frames().length === 3)
    const [first] = watch.frames()
    expect(first?.id).toBe(first?.data?.data?.projectEvents?.cursor)
    await watch.leave()
    const again = await stream(feed, { id: story.projectId }, { 'last-event-id': first?.id ?? '' })
    await eventually(() => again.frames().length === 2)
    expect(again.frames()).toEqual(watch.frames().slice(1))
    await again.leave()
    await idle()
    await story.owner.do('cancelRun', { runId: story.runId, reason: 'x' }, 'run{id}')
  })

  test('carry refusals and errors as one result, then complete; nothing is registered', async () => {
    const story = await givenSession(app)
    const wrong: [string, object, string][] = [
      [events, { id: story.sessionId, after: -1 }, 'INVALID_CURSOR'],
      [events, { id: story.sessionId, after: 'x' }, 'GRAPHQL_INVALID'],
      [events, { id: 'nothing' }, 'NOT_FOUND'],
      ['subscription{nothing}', {}, 'GRAPHQL_INVALID'],
      [feed, { id: story.projectId, after: 'x' }, 'INVALID_CURSOR'],
    ]
    for (const [query, variables, code] of wrong) {
      const watch = await stream(query, variables)
      await watch.ended
      const frames = watch.frames()
      expect(frames.map((frame) => frame.event)).toEqual(['next', 'complete'])
      expect(JSON.stringify(frames[0]?.data?.errors)).toContain(code)
    }
    expect(app.app.openWatches.size).toBe(0)
  })

  test('are told SHUTTING_DOWN by a server that goes', async () => {
    const other = await app.another()
    const story = await givenSession(app)
    const watches = [
      await stream(events, { id: story.sessionId }, {}, other.url),
      await stream(feed, { id: story.projectId }, {}, other.url),
    ]
    await eventually(() => other.app.openWatches.size === 2)
    await other.close()
    for (const watch of watches) {
      await watch.ended
      expect(watch.frames().map((frame) => frame.event)).toEqual(['next', 'complete'])
      expect(JSON.stringify(watch.frames()[0])).toContain('SHUTTING_DOWN')
    }
  })

  test('work with curl -N', async () => {
    const story = await (await givenSession(app)).run()
    const query = `subscription{sessionEvents(sessionId:"${story.sessionId}",after:0){...on SessionEvent{sequence type}}}`
    const curl = spawn('curl', [
      '-sN',
      `${app.url}/graphql`,
      '-H',
      `authorization: Bearer ${app.owner.token}`,
      '-H',
      'accept: text/event-stream',
      '-H',
      'content-type: application/json',
      '-d',
      JSON.stringify({ query }),
    ])
    let text = ''
    curl.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    const replayed = await story.latest()
    await eventually(() => framesOf(text).length === replayed)
    await story.writes.events(...infos(1))
    const sequence = replayed + 1
    await eventually(() => framesOf(text).length === sequence)
    expect(framesOf(text)[replayed]).toEqual({
      id: String(sequence),
      event: 'next',
      data: { data: { sessionEvents: { sequence, type: 'INFO' } } },
    })
    curl.kill()
    await idle()
    await story.writes.complete()
  })

  test('of a stalled reader stop without a leak, and the reader who leaves is forgotten', async () => {
    const story = await (await givenSession(app)).run()
    const watches = await Promise.all(range(1, 5).map(() => stream(events, { id: story.sessionId })))
    await eventually(() => app.app.sessions.watches === 5)
    for (const watch of watches) await watch.leave()
    await idle()
    await story.writes.complete()
  })
})
