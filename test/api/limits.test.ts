import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { eventually } from '../kit/eventually.ts'
import { RawSocket } from '../kit/hostile-socket.ts'
import { openAndLeave } from '../kit/hostile-stream.ts'
import { givenPerson } from '../kit/person.ts'
import { givenSession, type Story } from '../kit/story.ts'

let app: TestApp
let story: Story
const sockets: RawSocket[] = []
beforeAll(async () => {
  app = await startApp()
  story = await (await givenSession(app)).run()
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate()
})
afterAll(() => app.close())

const connect = (
  ...more: ConstructorParameters<typeof RawSocket> extends [string, ...infer R] ? R : never
) => {
  const socket = new RawSocket(app.url, ...more)
  sockets.push(socket)
  return socket
}
const watch = 'subscription($s:ID!,$a:Int){sessionEvents(sessionId:$s,after:$a){__typename}}'
const codeIn = (payload: unknown) => (payload as { extensions?: { code?: string } }[])[0]?.extensions?.code

describe('a WebSocket', () => {
  test('of another protocol, or of none, is closed', async () => {
    expect((await connect([]).end()).code).toBe(4406)
    // The other side gives up by itself when its protocols are not taken.
    expect([4406, 1006]).toContain((await connect(['graphql-ws', 'mqtt']).end()).code)
  })

  test.each([
    ['no token', undefined],
    ['a token that never was', 'wh_nothing-like-a-token-0123456789'],
    ['a token that no header can carry', 'wh_\n\u{1f600}'],
    ['an empty token', ''],
    ['a token that is no text', { admin: true }],
    ['a token of 100 kB', 'A'.repeat(100_000)],
  ])('with %s is closed as forbidden', async (_, token) => {
    expect((await (await connect().signedIn(token)).end()).code).toBe(4403)
  })

  test.each([['2'], [2], [0], ['one'], [{}], [[1]]])(
    'of the API version %j is told that it is not supported',
    async (api) => {
      const end = await (await connect().signedIn(app.owner.token, { api })).end()
      expect(end).toEqual({ code: 4400, reason: 'UNSUPPORTED_VERSION' })
    },
  )

  test('that asks before it is let in is closed', async () => {
    const socket = await connect().opened()
    socket.ask('1', '{viewer{channel}}')
    expect((await socket.end()).code).toBe(4401)
  })

  test('that signs in twice is closed', async () => {
    const socket = await connect().signedIn(app.owner.token)
    socket.send({ type: 'connection_init', payload: { token: app.owner.token } })
    expect((await socket.end()).code).toBe(4429)
  })

  test.each([
    ['words', 'hello'],
    ['an unfinished object', '{"type":"sub'],
    ['a number', '7'],
    ['null', 'null'],
    ['an unknown type', '{"type":"admin"}'],
    ['no id', '{"type":"subscribe","payload":{"query":"{viewer{channel}}"}}'],
    ['no payload', '{"id":"1","type":"subscribe"}'],
    ['a query that is no text', '{"id":"1","type":"subscribe","payload":{"query":{}}}'],
    ['variables that are a list', '{"id":"1","type":"subscribe","payload":{"query":"{a}","variables":[]}}'],
    [
      'an id of 1 000 characters',
      JSON.stringify({ id: 'a'.repeat(1_000), type: 'subscribe', payload: { query: '{a}' } }),
    ],
    ['an object with __proto__', '{"__proto__":{"type":"ping"},"constructor":1}'],
    ['100 000 lists', '['.repeat(100_000)],
  ])('that sends %s is closed as a bad request', async (_, text) => {
    const socket = await connect().signedIn(app.owner.token)
    socket.send(text)
    expect((await socket.end()).code).toBe(4400)
  })

  test('that sends a message over 1 MiB is closed', async () => {
    const socket = await connect().signedIn(app.owner.token)
    socket.send('x'.repeat(1_048_577))
    expect((await socket.end()).code).toBe(1009)
  })

  test.each([
    ['an unmasked frame', Buffer.from([0x81, 0x02, 0x7b, 0x7d])],
    ['a reserved opcode', Buffer.from([0x83, 0x80, 0, 0, 0, 0])],
    ['a control frame of 126 bytes', Buffer.from([0x89, 0xfe, 0, 126, 0, 0, 0, 0])],
    ['text that is not UTF-8', Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28])],
    ['a continuation of nothing', Buffer.from([0x80, 0x80, 0, 0, 0, 0])],
  ])('that sends %s is closed', async (_, bytes) => {
    const socket = await connect().signedIn(app.owner.token)
    socket.raw(bytes)
    expect([1002, 1006, 1007]).toContain((await socket.end()).code)
  })

  test('carries 64 watches; the 65th is RATE_LIMITED, and one that ends makes room', async () => {
    const socket = await connect().signedIn(app.owner.token)
    for (let i = 0; i < 64; i += 1) socket.ask(`w${i}`, watch, { s: story.sessionId, a: 0 })
    await eventually(() => app.app.openWatches.size === 64)
    socket.ask('w64', watch, { s: story.sessionId, a: 0 })
    await eventually(() => socket.about('w64').length > 0)
    expect(codeIn(socket.about('w64')[0]?.payload)).toBe('RATE_LIMITED')
    socket.send({ id: 'w0', type: 'complete' })
    await eventually(() => app.app.openWatches.size === 63)
    socket.ask('again', watch, { s: story.sessionId, a: 0 })
    await eventually(() => socket.about('again').some(({ type }) => type === 'next'))
  })

  test('carries 32 requests at once; of 200 sent together all are answered, the surplus with RATE_LIMITED', async () => {
    const socket = await connect().signedIn(app.owner.token)
    for (let i = 0; i < 200; i += 1) socket.ask(`q${i}`, '{projects{nodes{id}}}')
    const answered = () => socket.frames.filter(({ type }) => type === 'error' || type === 'next')
    await eventually(() => answered().length === 200)
    const refused = answered().filter(({ type }) => type === 'error')
    expect(refused.length).toBeGreaterThanOrEqual(200 - 64 - 32)
    for (const { payload } of refused) expect(codeIn(payload)).toBe('RATE_LIMITED')
    socket.ask('later', '{projects{nodes{id}}}')
    await eventually(() => socket.about('later').some(({ type }) => type === 'next'))
  })

  test('that asks for no operation by name is refused, and its place is free again', async () => {
    const socket = await connect().signedIn(app.owner.token)
    for (let i = 0; i < 40; i += 1) {
      socket.ask(`n${i}`, 'query A{viewer{channel}} query B{viewer{channel}}')
      await eventually(() => socket.about(`n${i}`).length > 0)
      expect(codeIn(socket.about(`n${i}`)[0]?.payload)).toBe('GRAPHQL_INVALID')
    }
  })

  test('that breaks while its watches are being opened leaves none behind', async () => {
    for (let i = 0; i < 5; i += 1) {
      const socket = await connect().signedIn(app.owner.token)
      for (let j = 0; j < 10; j += 1) socket.ask(`w${j}`, watch, { s: story.sessionId })
      socket.ask('feed', 'subscription($p:ID!){projectEvents(projectId:$p){__typename}}', {
        p: story.projectId,
      })
      socket.terminate()
    }
    // A request on a connection of its own comes after what was sent before.
    await app.owner.query('{viewer{channel}}')
    await eventually(() => app.app.openWatches.size === 0)
    await eventually(async () => {
      await app.owner.query('{viewer{channel}}')
      return app.app.openWatches.size === 0
    })
  })

  test('of another page is not let in by the cookie that a browser sends along', async () => {
    const grants = [{ capabilities: ['project.own'], projectId: story.projectId }]
    const { cookie } = await (await givenPerson(app.owner, grants)).signIn()
    const enter = async (headers: Record<string, string>) => {
      const socket = await connect('graphql-transport-ws', headers).opened()
      socket.send({ type: 'connection_init' })
      await eventually(() => socket.closed !== null || socket.frames.length > 0)
      return socket.frames[0]?.type ?? (await socket.end()).code
    }
    expect(await enter({ cookie, origin: app.url })).toBe('connection_ack')
    expect(await enter({ cookie, origin: 'https://elsewhere.example' })).toBe(4403)
    expect(await enter({ cookie, origin: 'null' })).toBe(4403)
    expect(await enter({ cookie })).toBe(4403)
    const post = async (headers: Record<string, string>) => {
      const answer = await fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query: '{viewer{channel}}' }),
      })
      return {
        status: answer.status,
        body: (await answer.json()) as { errors?: { extensions: { code: string } }[] },
      }
    }
    expect((await post({ 'x-wheelhouse-api': '1' })).body).toEqual({
      data: { viewer: { channel: 'CONSOLE' } },
    })
    const bare = await post({})
    expect(bare.status).toBe(403)
    expect(bare.body.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
  })
})

describe('an operation', () => {
  const nested = (levels: number) =>
    `{${'... on Query {'.repeat(levels)}viewer{channel}${'}'.repeat(levels)}}`
  test.each([
    ['60 aliases', `{${Array.from({ length: 60 }, (_, i) => `a${i}:viewer{channel}`).join(' ')}}`],
    ['20 levels', `{projects{nodes{runtimes{${'project{runtimes{'.repeat(10)}id${'}}'.repeat(10)}}}}}`],
    ['fragments that spread each other', '{...A} fragment A on Query{...B} fragment B on Query{...A}'],
    [
      'fragments that double each other',
      `{...F0} ${Array.from({ length: 30 }, (_, i) => `fragment F${i} on Query{...F${i + 1} ...F${i + 1}}`).join(' ')} fragment F30 on Query{viewer{channel}}`,
    ],
    ['1 000 levels of fragments', nested(1_000)],
    // What its tokens still allow is more than a parser's stack holds.
    ['1 990 lists in a list', `{node(id:${'['.repeat(1_990)}${']'.repeat(1_990)}){id}}`],
    ['1 900 lists as a type', `query($a:${'['.repeat(1_900)}Int${']'.repeat(1_900)}){viewer{channel}}`],
    ['60 directives', `{viewer${' @include(if:true)'.repeat(60)}{channel}}`],
    ['5 000 tokens', `{${'viewer{channel} '.repeat(1_500)}}`],
    ['100 000 braces', '{'.repeat(100_000)],
    [
      'pages of pages',
      '{projects(first:100){nodes{runtimes{project{runtimes{project{runtimes{project{runtimes{id}}}}}}}}}}',
    ],
    ['nothing', ''],
    ['no such operation', 'query A{viewer{channel}} query B{viewer{channel}}'],
  ])('of %s is refused before it runs, on every transport, and the connection goes on', async (_, query) => {
    const socket = await connect().signedIn(app.owner.token)
    socket.ask('it', query)
    socket.ask('next', '{viewer{channel}}')
    await eventually(() => socket.closed !== null || socket.about('next').length === 2)
    await eventually(() => socket.closed !== null || socket.about('it').length > 0)
    const [http, stream] = [
      (await app.owner.request(query)).errors?.[0]?.extensions.code,
      (await openAndLeave(app, app.owner.token, JSON.stringify({ query }))).errors[0]?.extensions?.code,
    ]
    const payload = socket.about('it')[0]?.payload
    const codes = { http, stream, socket: codeIn((payload as { errors?: object }).errors ?? payload) }
    expect(['GRAPHQL_INVALID', 'TOO_COMPLEX']).toContain(http)
    expect(codes).toEqual({ http, stream: http, socket: http })
  })
})
