import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleQueries, statementsOf } from '../kit/counting.ts'
import { startWorld, type World } from '../kit/hostile-tries.ts'
import { principalWith } from '../kit/hostile-world.ts'

/*
 * What a request costs the database, counted: no more statements for 100 rows than for 5, whatever is selected. (Fewer,
 * where the newest 100 are of fewer kinds.)
 */

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.app.close())

let rows = 1
/** `count` of everything that lists show: sessions with asks, principals, tokens, runtimes, views; runs of one session. */
async function growTo(count: number): Promise<void> {
  const { app, here } = world
  const { Project: projectId, Session: sessionId } = here.ids
  for (; rows < count; rows += 1) {
    const name = `${here.name} ${rows}`
    const story = await here.run()
    await story.writes.ask({
      kind: 'QUESTION',
      title: name,
      payload: {},
      options: ['a', 'b'],
      defaultDecision: 'a',
    })
    await principalWith(app, name, [{ capabilities: ['session.read'], projectId }])
    await here.owner.do(
      'createToken',
      { name, grants: [{ capabilities: ['session.read'], projectId }] },
      'token{id}',
    )
    await here.owner.do('registerRuntime', { projectId, name, maxConcurrentRuns: 1 }, 'runtime{id}')
    await here.owner.do('saveView', { projectId, screen: 'sessions', name, state: {} }, 'view{id}')
    await here.owner.do('createSession', { projectId, title: name }, 'session{id}')
    const { run } = await here.owner.do<{ run: { id: string } }>(
      'submitTurn',
      { sessionId, text: name, runtimeId: here.ids.Runtime },
      'run{id}',
    )
    const { runToken } = await here.owner.do<{ runToken: string }>(
      'startRun',
      { runId: run.id, runtimeId: here.ids.Runtime },
      'runToken',
    )
    const fence = { runId: run.id, runToken }
    await here.owner.do(
      'recordRunEvents',
      { ...fence, events: [{ type: 'INFO', payload: { text: name } }] },
      'cursor',
    )
    await here.owner.do('completeRun', { ...fence, answer: name }, 'run{id}')
  }
}

/** What an `id` names, by the field that takes it; where it isn't listed, a session. */
const identified: Record<string, 'Project' | 'Run' | 'Checkpoint'> = {
  project: 'Project',
  run: 'Run',
  node: 'Checkpoint',
}

/** Values for the console's variables, by type and by what they are passed to. */
function valueFor({
  name,
  type,
  field,
  argument,
}: {
  name: string
  type: string
  field: string
  argument: string
}) {
  const { here } = world
  if (argument === 'id') return here.ids[identified[field] ?? 'Session']
  if (name === 'projectId') return here.ids.Project
  if (name === 'runId') return here.ids.Run
  if (name === 'slug') return here.slug
  if (argument === 'format') return 'JSON'
  if (name === 'screen') return 'sessions'
  if (name === 'protocol') return 'general-task@1'
  if (name === 'text') return here.name
  if (type === 'Int!') return { after: 0, before: 20, sequence: 1 }[name] ?? 100
  if (type.endsWith('!')) throw new Error(`nobody says what $${name}: ${type} of ${field}(${argument}:) is`)
  return undefined
}

/** For everything that a session has at once: about one for each kind of row. */
const most = 20

test('every query of the console costs no more statements for 100 rows than for 5, and few', async () => {
  const { app } = world
  // One run of the first session is alive; it ends, so that others can follow in it.
  await app.owner.do('cancelRun', { runId: world.here.ids.Run, reason: 'room for others' }, 'run{id}')
  const queries = consoleQueries().map(({ name, document, variables }) => ({
    name,
    ask: () =>
      app.owner.query(document, Object.fromEntries(variables.map((each) => [each.name, valueFor(each)]))),
  }))
  expect(queries.length).toBeGreaterThan(15)
  const generated = world.operations
    .filter((operation) => operation.kind === 'query')
    .map((operation) => ({
      name: operation.name,
      ask: async () => {
        const page = operation.args.some((arg) => arg.name === 'first') ? { first: 100 } : {}
        const variables = { ...(await operation.variables(world.here)), ...page }
        return operation.caller(world.here).query(operation.document, variables)
      },
    }))
  const all = [...queries, ...generated]
  const count = async () => {
    const counts = new Map<string, number>()
    for (const { name, ask } of all) counts.set(name, await statementsOf(ask))
    return counts
  }
  await growTo(5)
  const few = await count()
  await growTo(100)
  const many = await count()
  const flaws = all
    .map(({ name }) => `${name}: ${few.get(name)} for 5, ${many.get(name)} for 100`)
    .filter((_, index) => {
      const name = all[index]?.name ?? ''
      // One more is what all rows name that is on a page of 5 and not on a page of 50, as the owner is.
      return (few.get(name) ?? 0) + 1 < (many.get(name) ?? 0) || (many.get(name) ?? 0) > most
    })
  expect(flaws).toEqual([])
}, 240_000)

/** The sessions of the first project, in the order of their making. */
const sessionsWith = (first: number, each: string) =>
  world.app.owner.query<{ sessions: { nodes: Record<string, { nodes: { id: string }[] }>[] } }>(
    `query($p:ID!,$n:Int){sessions(projectId:$p,orderBy:CREATED_ASC,first:$n){nodes{${each}}}}`,
    { p: world.here.ids.Project, n: first },
  )

test.each([
  ['messages(first:2)', 'messages(first:2){nodes{id} pageInfo{hasNextPage}}'],
  ['messages(last:2)', 'messages(last:2){nodes{id} pageInfo{hasPreviousPage}}'],
  ['runs(first:2)', 'runs(first:2){nodes{id}}'],
])(
  '%s of each session of a list are what they are of one, and cost as much for 100 as for 5',
  async (_, each) => {
    const few = await statementsOf(() => sessionsWith(5, each))
    expect(await statementsOf(() => sessionsWith(100, each))).toBe(few)
    const { sessions } = await sessionsWith(20, `id a:${each} b:${each}`)
    for (const { id, a, b } of sessions.nodes as unknown as { id: string; a: unknown; b: unknown }[]) {
      const { session } = await world.app.owner.query<{ session: { one: unknown } }>(
        `query($id:ID!){session(id:$id){one:${each}}}`,
        { id },
      )
      expect([a, b]).toEqual([session.one, session.one])
    }
    expect(JSON.stringify(sessions)).toContain('"nodes":[{"id":')
  },
)

test('pages for each row of a list are bounded by what an operation may cost', async () => {
  const { app, here } = world
  const pages = (each: string) =>
    app.owner.request(`query($p:ID!){sessions(projectId:$p,first:100){nodes{${each}}}}`, {
      p: here.ids.Project,
    })
  const two = 'messages(first:5){nodes{id}} runs(first:5){nodes{id}}'
  expect((await pages(two)).errors).toBeUndefined()
  const aliased = Array.from({ length: 11 }, (_, i) => `a${i}:messages(first:1){nodes{id}}`).join(' ')
  expect((await pages(aliased)).errors?.[0]?.extensions.code).toBe('TOO_COMPLEX')
})
