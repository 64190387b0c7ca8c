import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../kit/client.ts'
import { readDigest } from '../kit/hostile-digest.ts'
import { type Operation, slotsOf, withAt } from '../kit/hostile-schema.ts'
import { openAndLeave } from '../kit/hostile-stream.ts'
import { startWorld, type World } from '../kit/hostile-tries.ts'
import { missingLike } from '../kit/hostile-values.ts'
import { principalWith } from '../kit/hostile-world.ts'
import { ask, tellsOf, withMissingIds } from '../kit/matrix.ts'

/*
 * Every operation and every type of node of one project, asked for by who has no part in it. The operations come from
 * the served schema, so that new ones are here by themselves.
 */

let world: World
let digest: () => Promise<string>
/** Callers that are signed in, but have no part in the project `zebra`. */
const outsiders: Record<string, Client> = {}
/** Callers whose credential is over. */
const ended: Record<string, Client> = {}

beforeAll(async () => {
  world = await startWorld()
  const { app, here, there } = world
  digest = await readDigest(app.db)
  const { Project: projectId, Session: sessionId } = here.ids
  const everywhere = { grants: [{ capabilities: ['project.own'] }] }
  outsiders['an owner of another project'] = here.owner
  outsiders['a member of one session of another project'] = (
    await principalWith(app, 'member', [
      {
        capabilities: ['session.read', 'event.read', 'turn.submit', 'approval.resolve'],
        projectId,
        sessionId,
      },
    ])
  ).client
  const former = await principalWith(app, 'former', [
    { capabilities: ['project.own'], projectId: there.ids.Project },
  ])
  await app.owner.do('revokeGrant', { grantId: await grantOf(former.id) }, 'grant{id}')
  outsiders['a former owner of the project'] = former.client
  const narrow = await app.owner.do<{ secret: string }>(
    'createToken',
    { name: 'narrow', grants: [{ capabilities: ['project.own'], projectId }] },
    'secret',
  )
  outsiders['a token of the owner of everything, narrowed to another project'] = app.owner.as(narrow.secret)
  const expiring = await app.owner.do<{ secret: string }>(
    'createToken',
    { name: 'expiring', ...everywhere, expiresAt: new Date(app.clock.now().getTime() + 1_000).toISOString() },
    'secret',
  )
  ended['an expired token'] = app.owner.as(expiring.secret)
  const revoked = await app.owner.do<{ token: { id: string }; secret: string }>(
    'createToken',
    { name: 'revoked', ...everywhere },
    'token{id} secret',
  )
  await app.owner.do('revokeToken', { tokenId: revoked.token.id }, 'token{id}')
  ended['a revoked token'] = app.owner.as(revoked.secret)
  ended['a token that never was'] = app.owner.as(`wh_${'A'.repeat(43)}`)
  app.clock.advance(1_000)
})
afterAll(() => world.app.close())

const grantOf = async (principalId: string) => {
  const { node } = await world.app.owner.query<{ node: { grants: { id: string; token: unknown }[] } }>(
    'query($id:ID!){node(id:$id){...on Principal{grants{id token{id}}}}}',
    { id: principalId },
  )
  return node.grants.find((grant) => grant.token === null)?.id
}

const questions = (kind: Operation['kind']) => world.operations.filter((each) => each.kind === kind)
const hasIds = (variables: object) => JSON.stringify(withMissingIds(variables)) !== JSON.stringify(variables)

describe('to who has no part in it, a project is not there', () => {
  test('every mutation answers as if its ids named nothing, and writes nothing', async () => {
    const flaws: string[] = []
    for (const operation of questions('mutation')) {
      const variables = await operation.variables(world.there)
      if (!hasIds(variables)) continue
      const before = await digest()
      for (const [name, client] of Object.entries(outsiders)) {
        const real = await ask(client, operation.document, variables)
        for (const missing of [
          withMissingIds(variables),
          withMissingIds(variables, world.there.ids.Project),
        ]) {
          const { outcome } = await ask(client, operation.document, missing)
          if (outcome !== real.outcome)
            flaws.push(`${operation.name} by ${name}: ${real.outcome}; of nothing: ${outcome}`)
        }
        if (!/^NotFound NOT_FOUND /.test(real.outcome))
          flaws.push(`${operation.name} by ${name}: ${real.outcome}`)
        if (tellsOf(world.there, real.text, variables))
          flaws.push(`${operation.name} by ${name} tells: ${real.text.slice(0, 300)}`)
      }
      if ((await digest()) !== before) flaws.push(`${operation.name}: something was written`)
    }
    expect(flaws).toEqual([])
  }, 120_000)

  test('every query answers as if its ids named nothing', async () => {
    const flaws: string[] = []
    for (const operation of questions('query')) {
      const variables = await operation.variables(world.there)
      for (const [name, client] of Object.entries(outsiders)) {
        const real = await ask(client, operation.document, variables)
        if (tellsOf(world.there, real.text, variables))
          flaws.push(`${operation.name} by ${name} tells: ${real.text.slice(0, 300)}`)
        if (!hasIds(variables)) continue
        for (const missing of [
          withMissingIds(variables),
          withMissingIds(variables, world.there.ids.Project),
        ]) {
          const { outcome } = await ask(client, operation.document, missing)
          if (outcome !== real.outcome)
            flaws.push(`${operation.name} by ${name}: ${real.outcome}; of nothing: ${outcome}`)
        }
        if (!real.outcome.startsWith('NOT_FOUND '))
          flaws.push(`${operation.name} by ${name}: ${real.outcome}`)
      }
    }
    expect(flaws).toEqual([])
  }, 120_000)

  test('every watch is refused before anything is registered', async () => {
    const flaws: string[] = []
    for (const operation of questions('subscription')) {
      const variables = await operation.variables(world.there)
      if (!hasIds(variables)) continue
      for (const [name, client] of Object.entries(outsiders)) {
        const body = (of: object) => JSON.stringify({ query: operation.document, variables: of })
        const codes = []
        for (const of of [
          variables,
          withMissingIds(variables),
          withMissingIds(variables, world.there.ids.Project),
        ]) {
          const { errors, stood } = await openAndLeave(world.app, client.token, body(of))
          codes.push(
            stood ? 'stood' : errors.map((error) => `${error.extensions?.code} ${error.message}`).join(),
          )
        }
        if (!codes[0]?.startsWith('NOT_FOUND ') || new Set(codes).size > 1)
          flaws.push(`${operation.name} by ${name}: ${codes.join(' / ')}`)
      }
    }
    expect(flaws).toEqual([])
  }, 120_000)

  test('every node is null, with the answer of a missing one', async () => {
    const flaws: string[] = []
    const document = 'query($id:ID!){node(id:$id){__typename id}}'
    for (const [type, id] of Object.entries(world.there.ids)) {
      for (const [name, client] of Object.entries(outsiders)) {
        const real = await ask(client, document, { id })
        const missing = await ask(client, document, { id: missingLike(id) })
        if (real.outcome !== missing.outcome || !real.outcome.startsWith('NOT_FOUND '))
          flaws.push(`${type} by ${name}: ${real.outcome}; of nothing: ${missing.outcome}`)
      }
    }
    expect(flaws).toEqual([])
  })

  test('every type of node is asked for', async () => {
    const { __type } = await world.app.owner.query<{ __type: { possibleTypes: { name: string }[] } }>(
      '{__type(name:"Node"){possibleTypes{name}}}',
    )
    const missing = __type.possibleTypes.map(({ name }) => name).filter((name) => !(name in world.there.ids))
    expect(missing).toEqual([])
  })

  test('one foreign id among own ones answers as a missing one', async () => {
    const flaws: string[] = []
    for (const operation of [...questions('mutation'), ...questions('query')]) {
      const places = operation.args
        .flatMap((arg) => slotsOf(operation, arg))
        .filter(({ slot }) => slot.type === 'ID' && slot.node)
      for (const { path, slot } of places) {
        const foreign = world.there.ids[slot.node as keyof typeof world.there.ids]
        const outcomes: string[] = []
        for (const id of [foreign, missingLike(foreign)]) {
          const variables = withAt(await operation.variables(world.here), path, slot.list ? [id] : id, false)
          const { outcome, text } = await ask(operation.caller(world.here), operation.document, variables)
          outcomes.push(outcome)
          if (tellsOf(world.there, text, variables))
            flaws.push(`${operation.name} ${path.join('.')} tells: ${text.slice(0, 300)}`)
        }
        if (outcomes[0] !== outcomes[1])
          flaws.push(`${operation.name} ${path.join('.')}: ${outcomes[0]}; of nothing: ${outcomes[1]}`)
      }
    }
    expect(flaws).toEqual([])
  }, 120_000)

  test('exports are not there', async () => {
    const { app, there } = world
    const { session } = await there.owner.query<{ session: { exportPath: string } }>(
      'query($id:ID!){session(id:$id){exportPath(format:JSON)}}',
      { id: there.ids.Session },
    )
    const { auditExportPath } = await there.owner.query<{ auditExportPath: string }>(
      'query($id:ID!){auditExportPath(projectId:$id)}',
      { id: there.ids.Project },
    )
    for (const path of [session.exportPath, auditExportPath]) {
      const get = async (client: Client, from = path) => {
        const response = await fetch(`${app.url}${from}`, {
          headers: { authorization: `Bearer ${client.token}` },
        })
        return { status: response.status, text: await response.text() }
      }
      expect((await get(there.owner)).status).toBe(200)
      for (const client of Object.values(outsiders)) {
        const answer = await get(client)
        expect(answer).toMatchObject({ status: 404 })
        const id = path === auditExportPath ? there.ids.Project : there.ids.Session
        expect(await get(client, path.replace(id, missingLike(id)))).toEqual(answer)
      }
      for (const client of Object.values(ended)) expect((await get(client)).status).toBe(401)
    }
  })
})

test('within a project, who was let into one session sees nothing of the others', async () => {
  const { app, here } = world
  const member = outsiders['a member of one session of another project'] as Client
  const story = await here.run()
  const approval = await story.writes.ask({ kind: 'TOOL', title: 'sibling ask', payload: {} })
  const { session } = await here.owner.query<{ session: { messages: { nodes: { id: string }[] } } }>(
    'query($id:ID!){session(id:$id){messages(first:1){nodes{id}}}}',
    { id: story.sessionId },
  )
  for (const id of [story.sessionId, story.runId, approval.id, session.messages.nodes[0]?.id ?? '']) {
    const { outcome } = await ask(member, 'query($id:ID!){node(id:$id){__typename id}}', { id })
    expect(outcome).toMatch(/^NOT_FOUND /)
  }
  const lists = await member.query<{
    sessions: { nodes: { id: string }[] }
    approvals: { nodes: { session: { id: string } }[] }
    inbox: { nodes: { session: { id: string } }[] }
  }>(
    'query($p:ID!){sessions(projectId:$p){nodes{id}} approvals(projectId:$p){nodes{session{id}}} inbox(projectId:$p){nodes{session{id}}}}',
    { p: here.ids.Project },
  )
  expect(lists.sessions.nodes).toEqual([{ id: here.ids.Session }])
  for (const { session } of [...lists.approvals.nodes, ...lists.inbox.nodes])
    expect(session.id).toBe(here.ids.Session)
  const refused = await member.refused('resolveApproval', { approvalId: approval.id, decision: 'allow' })
  expect(refused.code).toBe('NOT_FOUND')
  expect(
    (
      await app.owner.query<{ node: { state: string } }>(
        'query($id:ID!){node(id:$id){...on Approval{state}}}',
        { id: approval.id },
      )
    ).node.state,
  ).toBe('OPEN')
})

test('a credential that is over opens nothing: each operation is UNAUTHENTICATED, and nothing is written', async () => {
  const flaws: string[] = []
  for (const operation of world.operations) {
    const variables = await operation.variables(world.there)
    const before = await digest()
    for (const [name, client] of Object.entries(ended)) {
      const { outcome } = await ask(client, operation.document, variables)
      if (!/^UNAUTHENTICATED [^|]*$/.test(outcome)) flaws.push(`${operation.name} by ${name}: ${outcome}`)
    }
    if ((await digest()) !== before) flaws.push(`${operation.name}: something was written`)
  }
  expect(flaws).toEqual([])
}, 120_000)
