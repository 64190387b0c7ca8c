import { type Capability, capabilities } from '@wheelhouse/server/domains/access/rules'
import { commands } from '@wheelhouse/server/graphql/command'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../kit/client.ts'
import { readDigest } from '../kit/hostile-digest.ts'
import type { Operation } from '../kit/hostile-schema.ts'
import { startWorld, type World } from '../kit/hostile-tries.ts'
import { principalWith } from '../kit/hostile-world.ts'
import { ask } from '../kit/matrix.ts'

/*
 * What a command answers is read like everything else. Who may do something in a session and not see it is told of it the
 * ids that it needs to go on, and nothing that anybody wrote there.
 */

let world: World
let blind: Client
/** The types of which this caller sees nothing, as `node` has it. */
const unseen = new Set<string>()
beforeAll(async () => {
  world = await startWorld()
  const { app, here } = world
  const names = (Object.keys(capabilities) as Capability[]).filter(
    (name) => !['session.read', 'run.execute', 'project.own'].includes(name),
  )
  const grants = [
    {
      capabilities: names.filter((name) => (capabilities[name].scopes as string[]).includes('PROJECT')),
      projectId: here.ids.Project,
    },
  ]
  blind = (await principalWith(app, 'blind', grants)).client
  for (const [type, id] of Object.entries(here.ids)) {
    const { data } = await blind.request<{ node: object | null }>('query($id:ID!){node(id:$id){id}}', { id })
    if (!data?.node) unseen.add(type)
  }
  unseen.add('Requirement')
})
afterAll(() => world.app.close())

interface Answered {
  name: string
  type: string
}
/** What each command of a session answers: its fields that are objects, by the schema as it is served. */
async function objectsOf(mutation: string): Promise<Answered[]> {
  const type = `${mutation[0]?.toUpperCase()}${mutation.slice(1)}Success`
  interface Of {
    name: string | null
    ofType?: Of
  }
  const { __type } = await blind.query<{
    __type: { fields: { name: string; type: Of }[] }
  }>(
    'query($type:String!){__type(name:$type){fields{name type{name ofType{name ofType{name ofType{name}}}}}}}',
    { type },
  )
  const named = (each: Of): string => each.name ?? (each.ofType ? named(each.ofType) : '')
  return __type.fields.map(({ name, type: each }) => ({ name, type: named(each) }))
}

/** A run that is not seen is not there, for a command neither: which session's it is would be told otherwise. */
const toNobody = /^NotFound NOT_FOUND /
const refusedToShow = new RegExp(
  `^PermissionDenied PERMISSION_DENIED This needs the capability session\\.read\\.|${toNobody.source}`,
)
const mutations = () => world.operations.filter(({ kind }) => kind === 'mutation')
const nameOf = (operation: Operation) => operation.name.slice('Mutation.'.length)
/** The commands that this caller may give and that answer something of a session. */
async function blindly() {
  const found: { operation: Operation; hidden: Answered[] }[] = []
  for (const operation of mutations()) {
    const capability = commands.get(nameOf(operation))
    if (
      !capability ||
      capability === 'run.execute' ||
      !(capabilities[capability].scopes as string[]).includes('PROJECT')
    )
      continue
    const hidden = (await objectsOf(nameOf(operation))).filter(({ type }) => unseen.has(type))
    if (hidden.length > 0) found.push({ operation, hidden })
  }
  return found
}

test('who may act in a session and not see it is refused an answer that shows it, and nothing is done', async () => {
  const digest = await readDigest(world.app.db)
  const flaws: string[] = []
  const asked = await blindly()
  for (const { operation } of asked) {
    const variables = await operation.variables(world.here)
    const before = await digest()
    const { outcome } = await ask(blind, operation.document, variables)
    if (!refusedToShow.test(outcome)) flaws.push(`${operation.name}: ${outcome}`)
    if ((await digest()) !== before) flaws.push(`${operation.name}: something was written`)
  }
  expect(flaws).toEqual([])
  expect(asked.length).toBeGreaterThan(15)
}, 60_000)

test('it may ask for the ids of all that is answered, and is told nothing else', async () => {
  const flaws: string[] = []
  for (const { operation, hidden } of await blindly()) {
    const name = nameOf(operation)
    const ids = hidden.map((each) => `${each.name}{__typename id}`).join(' ')
    const type = `${name[0]?.toUpperCase()}${name.slice(1)}`
    const { outcome, text } = await ask(
      blind,
      `mutation($input:${type}Input!){${name}(input:$input){__typename ...on ${type}Success{${ids}} ...on Problem{code message}}}`,
      await operation.variables(world.here),
    )
    if (outcome !== 'Success' && !toNobody.test(outcome)) flaws.push(`${operation.name}: ${outcome}`)
    if (text.includes(world.here.name)) flaws.push(`${operation.name} tells: ${text}`)
  }
  expect(flaws).toEqual([])
}, 60_000)

const success = (selected: string) => `...on CreateSessionSuccess{${selected}}`
test.each([
  ['a fragment', '...it', 'fragment it on CreateSessionSuccess{session{title}}'],
  ['a fragment of the object', success('session{...it}'), 'fragment it on Session{title}'],
  ['another name', success('session{id:title}'), ''],
  ['fragments within each other', success('session{...on Node{...on Session{title}}}'), ''],
  ['what a problem is about', '...on Conflict{current{...on Session{title}}}', ''],
])('what is asked for by way of %s counts like what is asked for at once', async (_, selected, fragment) => {
  const answer = await blind.request<{ createSession: object }>(
    `mutation($input:CreateSessionInput!){createSession(input:$input){${selected} ...on PermissionDenied{code capability}}} ${fragment}`,
    { input: { projectId: world.here.ids.Project, title: 'unseen' } },
  )
  expect(answer.data?.createSession).toEqual({ code: 'PERMISSION_DENIED', capability: 'session.read' })
})

test('who sees one session is shown it by its commands, and of a fork of it the id', async () => {
  const { app, here } = world
  const { Project: projectId, Session: sessionId } = here.ids
  const { client } = await principalWith(app, 'of one session', [
    { capabilities: ['session.read', 'session.rename', 'session.fork'], projectId, sessionId },
  ])
  const renamed = await client.do('renameSession', { sessionId, title: 'alpha again' }, 'session{title}')
  expect(renamed).toMatchObject({ session: { title: 'alpha again' } })
  const fork = { sessionId, checkpointId: here.ids.Checkpoint }
  expect(await client.mutate('forkSession', fork, 'session{title}')).toMatchObject({
    code: 'PERMISSION_DENIED',
    capability: 'session.read',
  })
  const { session } = await client.do<{ session: { id: string } }>('forkSession', fork, 'session{id}')
  expect(await client.refusedQuery('query($id:ID!){session(id:$id){id}}', { id: session.id })).toBe(
    'NOT_FOUND',
  )
}, 30_000)
