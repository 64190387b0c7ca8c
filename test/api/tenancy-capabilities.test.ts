import { type Capability, capabilities } from '@wheelhouse/server/domains/access/rules'
import { commands } from '@wheelhouse/server/graphql/command'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../kit/client.ts'
import { readDigest } from '../kit/hostile-digest.ts'
import { startWorld, type World } from '../kit/hostile-tries.ts'
import { principalWith } from '../kit/hostile-world.ts'
import { ask } from '../kit/matrix.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.app.close())

/** Mutations that decide by themselves ask for this where the caller does not act for itself alone. */
const byItself: Capability = 'access.manage'

/** Who holds everything in the project and everywhere, but for one capability and for those that imply it. */
async function allBut(capability: Capability): Promise<Client> {
  const { app, here } = world
  const left = (Object.keys(capabilities) as Capability[]).filter(
    (name) => name !== capability && name !== 'project.own',
  )
  const at = (scope: 'ALL' | 'PROJECT') =>
    left.filter((name) => (capabilities[name].scopes as string[]).includes(scope))
  const grants = [{ capabilities: at('PROJECT'), projectId: here.ids.Project }]
  // What can only be held everywhere is held everywhere; the rest in the project, so that the project can be seen.
  const everywhere = at('ALL').filter((name) => !(capabilities[name].scopes as string[]).includes('PROJECT'))
  if (everywhere.length > 0) grants.push({ capabilities: everywhere } as (typeof grants)[number])
  return (await principalWith(app, `all but ${capability}`, grants)).client
}

test('every mutation needs the capability that it names: with all the others it is refused, and writes nothing', async () => {
  const digest = await readDigest(world.app.db)
  const flaws: string[] = []
  const callers = new Map<Capability, Client>()
  for (const operation of world.operations.filter((each) => each.kind === 'mutation')) {
    const mutation = operation.name.slice('Mutation.'.length)
    const declared = commands.get(mutation)
    if (declared === undefined) flaws.push(`${mutation} is not a command`)
    const capability = declared ?? byItself
    const client = callers.get(capability) ?? (await allBut(capability))
    callers.set(capability, client)
    const variables = await operation.variables(world.here)
    const before = await digest()
    const { outcome } = await ask(client, operation.document, variables)
    // Who can't even see it hears nothing of capabilities.
    const expected = new RegExp(
      `^(PermissionDenied PERMISSION_DENIED This needs the capability ${capability}\\.|NotFound NOT_FOUND )`,
    )
    if (!expected.test(outcome)) flaws.push(`${mutation} without ${capability}: ${outcome}`)
    if ((await digest()) !== before) flaws.push(`${mutation} without ${capability}: something was written`)
  }
  expect(flaws).toEqual([])
}, 120_000)

interface Action {
  action: string
  allowed: boolean
  reason: string | null
}
const actionsOf = async (client: Client) => {
  const found: [type: string, actions: Action[]][] = []
  const { __type } = await client.query<{ __type: { possibleTypes: { name: string }[] } }>(
    '{__type(name:"Node"){possibleTypes{name}}}',
  )
  for (const { name } of __type.possibleTypes) {
    const { data } = await client.request<{ node: { allowedActions: Action[] } | null }>(
      `query($id:ID!){node(id:$id){...on ${name}{allowedActions{action allowed reason}}}}`,
      { id: world.here.ids[name as keyof typeof world.here.ids] },
    )
    if (data?.node) found.push([name, data.node.allowedActions])
  }
  return found
}

// Case 43
test('who may only read is offered nothing, and is told why of each action', async () => {
  const { app, here } = world
  const reader = await principalWith(app, 'reader', [
    {
      capabilities: ['session.read', 'event.read', 'project.read', 'audit.read'],
      projectId: here.ids.Project,
    },
  ])
  const seen = await actionsOf(reader.client)
  const offered = seen.flatMap(([type, actions]) =>
    actions.filter(({ allowed, reason }) => allowed || !reason).map(({ action }) => `${type}.${action}`),
  )
  expect(offered).toEqual([])
  const owned = await actionsOf(here.owner)
  expect(owned.flatMap(([, actions]) => actions.filter(({ allowed }) => allowed)).length).toBeGreaterThan(10)
  // The owner sees the same things and more; what the reader sees is not empty for lack of looking.
  expect(seen.map(([type]) => type)).toEqual(
    expect.arrayContaining(['Session', 'Run', 'Approval', 'InboxItem', 'Project']),
  )
})
