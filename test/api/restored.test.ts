import { decodeId } from '@wheelhouse/server/platform/ids'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { asks, does, givenGuarded, segmentOf, typesAfter, underway } from '../kit/guarded.ts'
import type { Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

const again = ({ runId, runtimeId }: Story) => ({ runId, runtimeId })
const last = async (story: Story) => (await story.journal()).at(-1)?.sequence ?? 0

interface Route {
  relation: string
  protocol: string
  source: string
  reasons: string[]
  run: { id: string }
}
async function routesOf({ owner, projectId, sessionId }: Story): Promise<Route[]> {
  const { routeDecisions } = await owner.query<{ routeDecisions: { nodes: Route[] } }>(
    'query($p:ID!,$f:RouteDecisionFilter){routeDecisions(projectId:$p,filter:$f){nodes{relation protocol source reasons run{id}}}}',
    { p: projectId, f: { sessionId } },
  )
  return routeDecisions.nodes
}

test('a run that is started again goes on in its segment, phase and facts as they were, and is not routed anew', async () => {
  const story = await underway(await givenGuarded(app), 'Which region sold best?', 'data-analysis')
  await does(story, 'inspect_schema', { tables: 3 })
  const [before, cursor] = [await segmentOf(story), await last(story)]
  expect(before.phase).toBe('semantic_grounding')
  const { runToken } = await story.owner.do<{ runToken: string }>('startRun', again(story), 'runToken')
  story.runToken = runToken
  expect(await typesAfter(story, cursor)).toEqual(['ROUTE_DECIDED', 'RUN_STARTED'])
  expect(await segmentOf(story)).toEqual(before)
  const [restored, first, ...none] = await routesOf(story)
  expect(none).toEqual([])
  expect(restored).toEqual({
    relation: 'CONTINUE',
    protocol: 'data-analysis@1',
    source: 'RESTORED',
    reasons: ['PROTOCOL_SEGMENT_RESTORED'],
    run: { id: story.runId },
  })
  // What the run was routed by stays what it was routed by.
  const { run } = await story.owner.query<{ run: { route: { source: string } } }>(
    'query($id:ID!){run(id:$id){route{source}}}',
    { id: story.runId },
  )
  expect(run.route.source).toBe(first?.source)
  expect((await asks(story, 'preview_table')).decision).toBe('ALLOWED')
  await story.writes.fail()
})

test('the first start of a run restores nothing', async () => {
  const story = await underway(await givenGuarded(app), 'Hello.')
  expect((await routesOf(story)).map(({ source }) => source)).toEqual(['DEFAULT'])
  await story.writes.fail()
})

test('a run that is bound to nothing is not started again until an owner binds it; nothing is guessed or written', async () => {
  const story = await underway(await givenGuarded(app), 'Which region sold best?', 'data-analysis')
  const { session } = await story.owner.query<{ session: { intent: { id: string } } }>(
    'query($id:ID!){session(id:$id){intent{id}}}',
    { id: story.sessionId },
  )
  await unbind(story)
  const cursor = await last(story)
  expect(await story.owner.refused('startRun', again(story))).toMatchObject({
    __typename: 'Conflict',
    code: 'RUN_INTENT_BINDING_REQUIRED',
    current: { id: story.runId },
  })
  expect(await typesAfter(story, cursor)).toEqual([])
  expect(await routesOf(story)).toHaveLength(1)
  // The token of before still holds: the refused start has fenced nothing.
  await story.writes.events({ type: 'INFO', payload: {} })
  const { runId } = story
  await story.owner.do('rebindRun', { runId, revisionId: session.intent.id, note: 'Go on.' }, 'run{id}')
  const { runToken } = await story.owner.do<{ runToken: string }>('startRun', again(story), 'runToken')
  story.runToken = runToken
  expect((await asks(story, 'list_data_sources')).decision).toBe('ALLOWED')
  await story.writes.fail()
})

/** As a run may be that comes from elsewhere: with a segment, and bound to nothing. */
async function unbind({ sessionId }: Story): Promise<void> {
  const client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  try {
    await client.query('BEGIN')
    await client.query(`SET LOCAL wheelhouse.purge = 'on'`)
    await client.query('DELETE FROM run_intent_bindings WHERE session_id = $1', [decodeId(sessionId)?.id])
    await client.query('COMMIT')
  } finally {
    await client.end()
  }
}
