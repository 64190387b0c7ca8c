import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { administer } from '../kit/database.ts'
import { eventually } from '../kit/eventually.ts'
import { RawSocket } from '../kit/hostile-socket.ts'
import { givenPerson, type Person, type SignIn } from '../kit/person.ts'
import { givenSession, type Story } from '../kit/story.ts'

let app: TestApp
let story: Story
let person: Person
beforeAll(async () => {
  app = await startApp()
  story = await givenSession(app)
  person = await givenPerson(app.owner, [{ capabilities: ['project.own', 'ops.read'] }])
})
afterAll(() => app.close())

const watches: Record<string, () => [string, object]> = {
  sessionEvents: () => [
    'subscription($id:ID!){sessionEvents(sessionId:$id){__typename ...on WatchEnd{reason}}}',
    { id: story.sessionId },
  ],
  projectEvents: () => [
    'subscription($id:ID!){projectEvents(projectId:$id){__typename ...on ProjectWatchEnd{reason}}}',
    { id: story.projectId },
  ],
  inboxChanged: () => ['subscription{inboxChanged{open}}', {}],
  health: () => ['subscription{health{status}}', {}],
}
const names = Object.keys(watches)

async function open(signIn: SignIn, url = app.url): Promise<RawSocket> {
  const headers = { cookie: signIn.cookie, origin: url }
  const socket = await new RawSocket(url, 'graphql-transport-ws', headers).signedIn(undefined)
  for (const [name, watch] of Object.entries(watches)) socket.ask(name, ...watch())
  return socket
}
const ended = (socket: RawSocket) =>
  names.filter((name) => socket.about(name).some(({ type }) => type === 'complete'))

async function stream(signIn: SignIn, name: string): Promise<{ text: Promise<string> }> {
  const [query, variables] = watches[name]?.() ?? []
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      cookie: signIn.cookie,
      'x-wheelhouse-api': '1',
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query, variables }),
  })
  return { text: response.text() }
}

test('an invitation leads to the port that was taken, where any could be', async () => {
  const { signInUrl } = await app.owner.do<{ signInUrl: string }>(
    'createPrincipal',
    {
      kind: 'PERSON',
      name: 'Grace',
      grants: [{ capabilities: ['project.read'], projectId: story.projectId }],
    },
    'signInUrl',
  )
  expect(new URL(signInUrl).origin).toBe(app.url)
})

describe('who signs out', () => {
  test('loses every watch that was opened with that sign-in, on every transport and server, and no other', async () => {
    const other = await app.another()
    const [here, elsewhere] = [await person.signIn(), await person.signIn()]
    const sockets = [await open(here), await open(here, other.url)]
    const kept = await open(elsewhere)
    const streams = await Promise.all(names.map((name) => stream(here, name)))
    await eventually(() => app.app.openWatches.size === 3 * names.length)
    await eventually(() => other.app.openWatches.size === names.length)
    await here.signOut()
    await eventually(() => sockets.every((socket) => ended(socket).length === names.length))
    const texts = await Promise.all(streams.map(({ text }) => text))
    for (const text of texts) expect(text).toMatch(/event: complete/)
    for (const text of texts.slice(0, 2)) expect(text).toMatch(/"reason":"REVOKED"/)
    for (const socket of sockets)
      for (const name of names.slice(0, 2))
        expect(JSON.stringify(socket.about(name).at(-2))).toMatch(/"reason":"REVOKED"/)
    expect(ended(kept)).toEqual([])
    expect(app.app.openWatches.size).toBe(names.length)
    for (const socket of [...sockets, kept]) socket.terminate()
    await eventually(() => app.app.openWatches.size === 0)
  })

  test('can do nothing more on a connection that stays open', async () => {
    const signIn = await person.signIn()
    const headers = { cookie: signIn.cookie, origin: app.url }
    const socket = await new RawSocket(app.url, 'graphql-transport-ws', headers).signedIn(undefined)
    const ask = async (id: string) => {
      socket.ask(id, '{projects{nodes{id}}}')
      await eventually(() => socket.about(id).length > 0)
      return JSON.stringify(socket.about(id)[0]?.payload)
    }
    expect(await ask('before')).toContain(story.projectId)
    await signIn.signOut()
    expect(await ask('after')).toContain('UNAUTHENTICATED')
    socket.terminate()
  })
})

test('a look at open watches that the database breaks off is done again', async () => {
  const signIn = await person.signIn()
  const socket = await open(signIn)
  await eventually(() => app.app.openWatches.size === names.length)
  await app.app.openWatches.check()
  // The sign-in ends while this server can't read who may still watch.
  await administer(app.databaseUrl, 'DELETE FROM auth_sessions; ALTER TABLE grants RENAME TO grants_away')
  await expect(app.app.openWatches.check()).rejects.toThrow()
  expect(ended(socket)).toEqual([])
  await administer(app.databaseUrl, 'ALTER TABLE grants_away RENAME TO grants')
  await app.app.openWatches.check()
  await eventually(() => ended(socket).length === names.length)
  socket.terminate()
})
