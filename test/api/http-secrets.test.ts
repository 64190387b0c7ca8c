import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@wheelhouse/server/platform/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../kit/client.ts'
import { freshDatabase } from '../kit/database.ts'
import { RawSocket } from '../kit/hostile-socket.ts'
import { bundleFixture, type Running, startNode } from '../kit/processes.ts'
import { given } from '../kit/story.ts'

/*
 * A server that logs everything it can, and secrets that are used in every way there is, right and wrong. Afterwards
 * they are looked for wherever the server writes to or answers from.
 */

const mark = randomBytes(6).toString('hex')
const bootstrap = `boot-${mark}-${randomBytes(24).toString('hex')}`
const password = `pass-${mark} correct horse`
let server: Running
let database: Awaited<ReturnType<typeof freshDatabase>>
let directory: string
let client: Client

beforeAll(async () => {
  database = await freshDatabase()
  directory = mkdtempSync(join(tmpdir(), 'wheelhouse-secrets-'))
  server = startNode([bundleFixture('../server/src/main.ts')], {
    ...process.env,
    DATABASE_URL: database.url,
    WHEELHOUSE_PORT: '0',
    WHEELHOUSE_DATA_DIR: directory,
    WHEELHOUSE_BOOTSTRAP_TOKEN: bootstrap,
    WHEELHOUSE_LOG: 'trace',
    WHEELHOUSE_SAMPLE: '0',
  })
  const [url] = await server.printed(/http:\/\/127\.0\.0\.1:\d+/)
  client = new Client(url, bootstrap)
}, 120_000)
afterAll(async () => {
  server.child.kill('SIGTERM')
  await server.ended
  await database.drop()
  rmSync(directory, { recursive: true, force: true })
})

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${client.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

test('secrets reach no log, no error, no event, no export, no metric and no row', async () => {
  const secrets = new Map([
    ['the bootstrap token', bootstrap],
    ['a password', password],
  ])
  const answers: string[] = []
  const keep = async (response: Response) => {
    answers.push(
      await response.text(),
      JSON.stringify([...response.headers].filter(([name]) => name !== 'set-cookie')),
    )
    return response
  }

  // A token, and the secrets of the ways in.
  const story = await (await given({ owner: client }).project()).session()
  const token = await client.do<{ secret: string; token: { id: string } }>(
    'createToken',
    { name: 'canary', grants: [{ capabilities: ['project.own'], projectId: story.projectId }] },
    'secret token{id}',
  )
  secrets.set('a token', token.secret)
  const { signInUrl } = await client.do<{ signInUrl: string }>(
    'createPrincipal',
    { kind: 'PERSON', name: 'Ada', grants: [{ capabilities: ['project.own'], projectId: story.projectId }] },
    'signInUrl',
  )
  const code = signInUrl.slice(signInUrl.search(/[^/=]+$/))
  secrets.set('an invitation', code)
  const person = { name: 'Ada', email: 'ada@example.org', password }
  await keep(await post('/auth/redeem', { code: 'wrong', ...person }))
  await keep(await post('/auth/redeem', { code, ...person, email: 'no address' }))
  const redeemed = await keep(await post('/auth/redeem', { code, ...person }))
  expect(redeemed.status).toBe(200)
  const cookie = redeemed.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  secrets.set('a cookie', /=([^.%;]+)/.exec(cookie)?.[1] ?? '')
  await keep(await post('/auth/redeem', { code, ...person }))
  await keep(await post('/api/auth/sign-in/email', { email: person.email, password }))
  await keep(await post('/api/auth/sign-in/email', { email: person.email, password: `${password} wrong` }))
  await keep(await post('/api/auth/sign-in/email', { email: password, password: { password } }))
  await keep(await post('/graphql', { query: '{viewer{channel}}' }, { cookie, 'x-wheelhouse-api': '1' }))
  await keep(await fetch(`${client.url}/auth/state`, { headers: { cookie } }))
  await keep(await fetch(`${client.url}/auth/invitation?code=${code}`))

  // A run token, right and stale and in the wrong places.
  await story.runtime()
  await story.run()
  secrets.set('a run token', story.runToken)
  const old = story.runToken
  const again = await client.do<{ runToken: string }>(
    'startRun',
    { runId: story.runId, runtimeId: story.runtimeId },
    'runToken',
  )
  secrets.set('another run token', again.runToken)
  const write = (runToken: unknown) =>
    client.request(
      'mutation($input:RecordRunEventsInput!){recordRunEvents(input:$input){__typename ...on Problem{code message}}}',
      { input: { runId: story.runId, runToken, events: [{ type: 'INFO', payload: { text: 'hello' } }] } },
    )
  for (const runToken of [
    old,
    again.runToken,
    [again.runToken],
    { runToken: old },
    again.runToken.repeat(40),
  ])
    answers.push(JSON.stringify(await write(runToken)))
  for (const wrong of [token.secret, [token.secret], { token: token.secret }])
    answers.push(
      JSON.stringify(await client.request('query($id:ID!){node(id:$id){id}}', { id: wrong })),
      JSON.stringify(await client.request(`{session(id:${JSON.stringify(token.secret)}){id}}`)),
      JSON.stringify(await client.request(`{projects(first:"${token.secret}"){nodes{id}}}`)),
    )
  await client.request('mutation($input:CompleteRunInput!){completeRun(input:$input){__typename}}', {
    input: { runId: story.runId, runToken: again.runToken, answer: 'Done.' },
  })

  // Credentials that are over, or bent.
  const by = client.as(token.secret)
  await by.query('{viewer{channel}}')
  const socket = await new RawSocket(client.url).signedIn(token.secret)
  socket.ask('1', '{viewer{token{id name prefix}}}')
  socket.terminate()
  await client.do('revokeToken', { tokenId: token.token.id }, 'token{id}')
  answers.push(JSON.stringify(await by.request('{viewer{channel}}')))
  await keep(await post('/graphql', { query: '{' }, { authorization: `Basic ${token.secret}` }))
  await keep(await fetch(`${client.url}/graphql?token=${token.secret}`))
  await keep(await fetch(`${client.url}/healthz?token=${token.secret}`))

  // Everything that tells of what was.
  const authorization = { headers: { authorization: `Bearer ${bootstrap}` } }
  const { session } = await client.query<{ session: { a: string; b: string; c: string } }>(
    'query($id:ID!){session(id:$id){a:exportPath(format:JSON) b:exportPath(format:JSONL) c:exportPath(format:MARKDOWN)}}',
    { id: story.sessionId },
  )
  for (const path of [session.a, session.b, session.c, '/exports/audit.csv', '/metrics', '/readyz'])
    expect((await keep(await fetch(`${client.url}${path}`, authorization))).status).toBe(200)
  answers.push(JSON.stringify(await story.journal()))
  answers.push(
    JSON.stringify(
      await client.query(
        '{auditLog(first:100){nodes{action subjectId reason detail}} principals(first:100){nodes{name email tokens{name prefix}}}}',
      ),
    ),
  )
  const db = openDatabase(database.url)
  const tables = await db.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`
  const rows: string[] = []
  for (const { name } of tables) {
    const [all] = await db.$queryRawUnsafe<{ text: string }[]>(
      `SELECT coalesce(json_agg(t)::text, '') AS text FROM "${name}" t`,
    )
    rows.push(all?.text ?? '')
  }
  await db.$disconnect()
  server.child.kill('SIGTERM')
  await server.ended
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))

  const places = new Map([
    ['the log', server.output()],
    ['an answer', answers.join('\n')],
    ['a row', rows.join('\n')],
    ['a file', files.join('\n')],
  ])
  const found: string[] = []
  for (const [secret, text] of secrets) {
    expect(text.length).toBeGreaterThan(15)
    for (const [place, content] of places)
      if (
        content.includes(text) ||
        content.includes(encodeURIComponent(text)) ||
        content.includes(Buffer.from(text).toString('base64').slice(0, -4))
      )
        found.push(`${secret} is in ${place}`)
  }
  expect(found).toEqual([])
  // What was looked through is really there.
  expect(server.output().length).toBeGreaterThan(100)
  expect(places.get('an answer')).toContain('RUN_WRITE_REJECTED')
  expect(places.get('a row')).toContain('canary')
  for (const answer of answers)
    expect(answer).not.toMatch(/node_modules|\.ts:\d|prisma|\bSELECT\b.*\bFROM\b/i)
}, 120_000)
