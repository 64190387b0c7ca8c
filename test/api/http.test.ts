import { request as open } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { administer } from '../kit/database.ts'
import { knownCodes } from '../kit/hostile-schema.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

async function send(
  path: string,
  init: { method?: string; headers?: Record<string, string>; body?: string } = {},
) {
  const response = await fetch(`${app.url}${path}`, {
    method: 'POST',
    ...init,
    headers: {
      authorization: `Bearer ${app.owner.token}`,
      'content-type': 'application/json',
      ...init.headers,
    },
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text }
}
const codesOf = (text: string) =>
  (JSON.parse(text) as { errors: { extensions: { code: string } }[] }).errors.map(
    ({ extensions }) => extensions.code,
  )
const ask = (query: string) => JSON.stringify({ query })

describe('POST /graphql', () => {
  test.each([
    ['no JSON', '{"query'],
    ['nothing', ''],
    ['a number', '7'],
    ['null', 'null'],
    ['a batch', '[{"query":"{viewer{channel}}"},{"query":"{viewer{channel}}"}]'],
    ['a query that is no text', '{"query":{}}'],
    ['no query', '{"variables":{}}'],
    ['variables that are a list', '{"query":"{viewer{channel}}","variables":[1]}'],
    ['variables that are a text', '{"query":"{viewer{channel}}","variables":"a"}'],
    ['an operation name that is a number', '{"query":"{viewer{channel}}","operationName":7}'],
    ['a name of no operation', '{"query":"query A{viewer{channel}}","operationName":"B"}'],
    ['__proto__', '{"__proto__":{"query":"{viewer{channel}}"}}'],
    ['100 000 lists', '['.repeat(100_000)],
  ])('with %s is refused by a known code, over both kinds of answer', async (_, body) => {
    for (const headers of [{}, { accept: 'text/event-stream' }]) {
      const { status, text } = await send('/graphql', { body, headers })
      expect(status).toBeLessThan(500)
      const json = /^data: (.+)$/m.exec(text)?.[1] ?? text
      for (const code of codesOf(json)) expect(knownCodes).toContain(code)
    }
  })

  test('that can’t be read is refused without its own words', async () => {
    for (const body of ['{"canary', '{"query":canary}', '"canary"', '{"query":"{viewer{channel}}"canary']) {
      const { text } = await send('/graphql', { body })
      expect(codesOf(text)).toEqual(['GRAPHQL_INVALID'])
      expect(text).not.toContain('canary')
    }
  })

  const never = ask('mutation{createProject(input:{name:"never"}){__typename}}')
  test.each(['text/html', 'image/*', 'multipart/mixed', 'application/jsonx', 'x'])(
    'whose answer must be %s is refused before it does anything',
    async (accept) => {
      for (const body of [never, ask('subscription{inboxChanged{open}}')]) {
        const { status, text } = await send('/graphql', { body, headers: { accept } })
        expect([status, codesOf(text)]).toEqual([406, ['INVALID_INPUT']])
      }
      expect(await app.db.project.count()).toBe(0)
      expect(app.app.openWatches.size).toBe(0)
    },
  )

  test('of a subscription is refused unless a stream is asked for, and opens nothing', async () => {
    const body = ask('subscription{inboxChanged{open}}')
    for (const accept of ['*/*', 'application/json', 'application/graphql-response+json']) {
      const { status, text } = await send('/graphql', { body, headers: { accept } })
      expect([status, codesOf(text)]).toEqual([406, ['GRAPHQL_INVALID']])
      expect(app.app.openWatches.size).toBe(0)
    }
  })

  test.each([
    '*/*',
    'application/*',
    'text/html, application/json;q=0.9',
    'multipart/mixed, application/json',
  ])('whose answer may be %s is served', async (accept) => {
    const { status, text } = await send('/graphql', { body: ask('{viewer{channel}}'), headers: { accept } })
    expect([status, text.match(/{.*}/)?.[0]]).toEqual([200, '{"data":{"viewer":{"channel":"API"}}}'])
  })

  test('of a body over 8 MiB, or of unknown length, is refused without being read', async () => {
    const operation = ask(`{viewer{channel}} #${'x'.repeat(8_388_608)}`)
    expect(await upload('/graphql', 'POST', operation)).toBe(413)
    const credentials = JSON.stringify({ code: 'x'.repeat(70_000) })
    expect(await upload('/auth/redeem', 'POST', credentials)).toBe(413)
    for (const path of ['/graphql', '/auth/redeem', '/api/auth/sign-in/email'])
      for (const method of ['POST', 'PUT', 'PATCH']) expect(await upload(path, method)).toBe(413)
  })

  test('as a form, or as a file, is refused', async () => {
    for (const type of [
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
    ]) {
      const { status } = await send('/graphql', {
        headers: { 'content-type': type },
        body: 'query={viewer{channel}}',
      })
      expect(status).toBe(415)
    }
  })

  test.each([['2'], ['0'], ['-1'], ['1.5'], ['one'], ['']])(
    'of the API version %j is UNSUPPORTED_VERSION',
    async (version) => {
      const { text } = await send('/graphql', {
        headers: { 'x-wheelhouse-api': version },
        body: ask('mutation{createProject(input:{name:"never"}){__typename}}'),
      })
      expect(codesOf(text)).toEqual(['UNSUPPORTED_VERSION'])
      expect(await app.db.project.count()).toBe(0)
    },
  )

  test('asks for the schema only when signed in', async () => {
    const query = ask('{__schema{types{name}}}')
    expect((await send('/graphql', { body: query })).text).toContain('"Session"')
    for (const path of [query, ask('query A{...F} fragment F on Query{__type(name:"Run"){name}}')]) {
      const response = await fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: path,
      })
      const text = await response.text()
      expect(codesOf(text)).toEqual(['UNAUTHENTICATED'])
      expect(text).not.toContain('"Run"')
    }
  })

  test('changes nothing by GET or any other method, whatever the answer’s form', async () => {
    const mutation = 'mutation{createProject(input:{name:"never"}){__typename}}'
    for (const accept of ['application/json', 'text/event-stream'])
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
        const response = await fetch(`${app.url}/graphql?query=${encodeURIComponent(mutation)}`, {
          method,
          headers: { authorization: `Bearer ${app.owner.token}`, 'content-type': 'application/json', accept },
          ...(method !== 'GET' && { body: ask(mutation) }),
        })
        const text = await response.text()
        expect(text).toMatch(/GRAPHQL_INVALID|INVALID_INPUT/)
        if (accept === 'application/json' || method !== 'GET') expect(response.status).toBe(405)
      }
    expect(await app.db.project.count()).toBe(0)
  })

  test.each(['variables=%7B', 'variables=%E0%A4%A', 'extensions=%7B', 'variables=[', 'variables=canary'])(
    'by GET with %s is refused without its own words',
    async (rest) => {
      for (const accept of ['application/json', 'text/event-stream']) {
        const response = await fetch(`${app.url}/graphql?query={viewer{channel}}&${rest}`, {
          headers: { authorization: `Bearer ${app.owner.token}`, accept },
        })
        const text = await response.text()
        expect([response.status, codesOf(text)]).toEqual([400, ['INVALID_INPUT']])
        expect(text).not.toContain('canary')
      }
    },
  )
})

/** The status of a request on a connection of its own; without a body, of one whose body never ends. */
const upload = (path: string, method: string, body?: string) =>
  new Promise<number>((resolve, reject) => {
    const { hostname, port } = new URL(app.url)
    const request = open({
      hostname,
      port,
      path,
      method,
      agent: false,
      headers: {
        authorization: `Bearer ${app.owner.token}`,
        'content-type': 'application/json',
        ...(body === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': body.length }),
        ...(path === '/graphql' && { accept: 'text/event-stream' }),
      },
    })
    let status = 0
    request.on('response', (response) => {
      status = response.statusCode ?? 0
      resolve(status)
      request.destroy()
    })
    request.on('error', (error) => status === 0 && reject(error))
    if (body === undefined) request.write('{"query":"')
    else request.end(body)
  })

test('what is no HTTP is answered with 400, and the server goes on', async () => {
  const { hostname, port } = new URL(app.url)
  for (const text of [
    'GARBAGE\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-length: -5\r\n\r\n',
    'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
  ]) {
    const answer = await new Promise<string>((resolve, reject) => {
      let got = ''
      const socket = connect(Number(port), hostname, () => socket.write(text))
      socket.on('data', (chunk) => {
        got += String(chunk)
      })
      socket.on('close', () => resolve(got))
      socket.on('error', reject)
    })
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
  }
  await app.owner.query('{viewer{channel}}')
})

test.each([
  ['/'],
  ['/projects/x'],
  ['/%2e%2e/%2e%2e/etc/passwd'],
  ['/..%5c..%5cetc'],
  ['/%00'],
  ['/%ff'],
  ['//evil.example/'],
])('a page at %s comes with a policy that lets no inline script run', async (path) => {
  const { hostname, port } = new URL(app.url)
  const { headers, body } = await new Promise<{ headers: Record<string, unknown>; body: string }>(
    (resolve, reject) => {
      open({ hostname, port, path }, (response) => {
        let body = ''
        response.on('data', (chunk) => {
          body += String(chunk)
        })
        response.on('end', () => resolve({ headers: response.headers, body }))
      })
        .on('error', reject)
        .end()
    },
  )
  const policy = String(headers['content-security-policy'])
  expect(policy).toContain("script-src 'self'")
  expect(/script-src[^;]*/.exec(policy)?.[0]).not.toMatch(/unsafe|\*|data:/)
  expect(policy).toContain("frame-ancestors 'none'")
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(body).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>/)
  expect(body).not.toContain('root:')
})

test('a Host that is none is refused on every path, and nothing of the server is told', async () => {
  const { hostname, port } = new URL(app.url)
  for (const path of ['/graphql', '/healthz', '/auth/state', '/exports/sessions/x', '/sessions'])
    for (const host of ['a b<>', '][', 'a:b:c', 'x:99999', '%']) {
      const socket = connect({ host: hostname, port: Number(port) })
      let text = ''
      socket.on('data', (chunk) => {
        text += String(chunk)
      })
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      await new Promise((resolve) => socket.on('close', resolve))
      expect(text).toMatch(/^HTTP\/1.1 400 /)
      expect(text).not.toMatch(/at .*:\d+:\d+|Invalid URL/)
    }
})

test('that the process lives is said whoever asks, also while the database can’t tell who that is', async () => {
  await administer(app.databaseUrl, 'ALTER TABLE tokens RENAME TO tokens_away')
  try {
    for (const path of ['/healthz', '/readyz'])
      expect((await send(path, { method: 'GET' })).status, path).toBe(200)
  } finally {
    await administer(app.databaseUrl, 'ALTER TABLE tokens_away RENAME TO tokens')
  }
})
