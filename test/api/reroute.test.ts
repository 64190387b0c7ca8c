import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { eventually } from '../kit/eventually.ts'
import { asks, does, givenGuarded, segmentsOf, typesAfter, underway } from '../kit/guarded.ts'
import { principalWith } from '../kit/hostile-world.ts'
import { hear } from '../kit/signals.ts'
import { given, type Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

type Relation = 'CONTINUE' | 'REFINE' | 'REPLACE' | 'SIDE_CHAT'
const relations: Relation[] = ['CONTINUE', 'REFINE', 'REPLACE', 'SIDE_CHAT']
const task = 'Which region sold best?'
const required = 'Name the region.'
const said = 'Split it by quarter.'

interface Now {
  head: {
    id: string
    number: number
    taskId: string
    text: string
    protocol: string
    changeKind: string
    requirements: { text: string }[]
  } | null
  binding: { base: { id: string } | null; active: { id: string } | null; relation: string; reason: string }
  route: { id: string; relation: string; protocol: string; source: string; corrects: { id: string } | null }
  state: string
}
const now = async ({ owner, runId }: Story): Promise<Now> => {
  const { run } = await owner.query<{
    run: Omit<Now, 'head'> & { session: { intent: Now['head'] } }
  }>(
    `query($id:ID!){run(id:$id){state session{intent{id number taskId text protocol changeKind requirements{text}}}
      binding{base{id} active{id} relation reason} route{id relation protocol source corrects{id}}}}`,
    { id: runId },
  )
  return { head: run.session.intent, binding: run.binding, route: run.route, state: run.state }
}
const input = ({ runId }: Story, more: object) => ({ runId, reason: 'It was meant otherwise.', ...more })
const reroutes = (story: Story, more: object) =>
  story.owner.do<{ route: { id: string }; intent: { id: string } | null }>(
    'rerouteRun',
    input(story, more),
    'route{id} intent{id} run{id} session{id}',
  )
const last = async (story: Story) => (await story.journal()).at(-1)?.sequence ?? 0

/** A session at r1, an analysis with one requirement, and a run in it that was routed with a relation. */
async function routed(relation: Relation): Promise<Story> {
  const story = await givenGuarded(app)
  await story.owner.do(
    'correctIntent',
    {
      sessionId: story.sessionId,
      text: task,
      requirements: [required],
      protocol: 'data-analysis',
      note: 'n',
    },
    'intent{id}',
  )
  if (relation === 'CONTINUE') await underway(story, 'continue')
  else if (relation === 'REPLACE') await underway(story, said, 'general-task')
  else await underway(story, said)
  if (relation === 'REFINE') await reroutes(story, { relation })
  expect((await now(story)).binding.relation).toBe(relation)
  return story
}

/** What the task is after a message was taken for something else, and which revisions that took. */
const first = { text: task, protocol: 'data-analysis@1', requirements: [required] }
const refined = (message: string) => ({ ...first, requirements: [required, message] })
const anew = (message: string, protocol: string) => ({ text: message, protocol, requirements: [] })
const [analysis, general] = ['data-analysis@1', 'general-task@1']
const expected: Record<string, { kinds: string[]; task: object; under: string }> = {
  'CONTINUE REFINE': { kinds: ['REFINE'], task: refined('continue'), under: analysis },
  'CONTINUE REPLACE': { kinds: ['REPLACE'], task: anew('continue', analysis), under: analysis },
  'CONTINUE SIDE_CHAT': { kinds: [], task: first, under: analysis },
  'REFINE CONTINUE': { kinds: ['CORRECTION'], task: first, under: analysis },
  'REFINE REPLACE': { kinds: ['REPLACE'], task: anew(said, analysis), under: analysis },
  'REFINE SIDE_CHAT': { kinds: ['CORRECTION'], task: first, under: analysis },
  'REPLACE CONTINUE': { kinds: ['CORRECTION'], task: first, under: analysis },
  'REPLACE REFINE': { kinds: ['CORRECTION', 'REFINE'], task: refined(said), under: analysis },
  'REPLACE SIDE_CHAT': { kinds: ['CORRECTION'], task: first, under: general },
  'SIDE_CHAT CONTINUE': { kinds: [], task: first, under: analysis },
  'SIDE_CHAT REFINE': { kinds: ['REFINE'], task: refined(said), under: analysis },
  'SIDE_CHAT REPLACE': { kinds: ['REPLACE'], task: anew(said, general), under: general },
}
const pairs = relations.flatMap((from) =>
  relations.flatMap((to) => (from === to ? [] : [[from, to] as [Relation, Relation]])),
)

describe.each(['live', 'ended'] as const)('a run that is %s', (life) => {
  test.each(pairs)('was taken for %s, and an owner says that it is %s', async (from, to) => {
    const story = await routed(from)
    if (life === 'ended') await story.writes.fail()
    const [before, cursor] = [await now(story), await last(story)]
    const answer = await reroutes(story, { relation: to })
    const after = await now(story)
    const { kinds, task: then, under } = expected[`${from} ${to}`] ?? { kinds: [], task: {}, under: '' }
    expect({ ...after.head, requirements: after.head?.requirements.map(({ text }) => text) }).toMatchObject(
      then,
    )
    const events = (await story.journal()).filter(({ sequence }) => sequence > cursor)
    const revised = events.filter(({ type }) => type === 'INTENT_REVISED')
    expect(revised.map(({ payload }) => payload.changeKind)).toEqual(kinds)
    expect(answer.intent).toEqual(kinds.length > 0 ? { id: after.head?.id } : null)
    // Whoever went on with the task has not taken up another one; the whole history can still be read.
    expect(after.head?.number).toBe((before.head?.number ?? 0) + kinds.length)
    expect(after.binding).toEqual({
      base: before.binding.base,
      active: { id: after.head?.id },
      relation: to,
      reason: 'REROUTE',
    })
    expect(after.route).toMatchObject({
      id: answer.route.id,
      relation: to,
      protocol: under,
      source: 'OWNER',
      corrects: { id: before.route.id },
    })
    const segments = await segmentsOf(story)
    if (life === 'live' && under !== before.route.protocol) {
      expect(segments.at(-2)).toMatchObject({ state: 'ABORTED', closedBy: 'REROUTE' })
      expect(segments.at(-1)).toMatchObject({ state: 'ACTIVE', protocol: under, revision: 1 })
      expect(events.map(({ type }) => type).slice(0, 3)).toEqual([
        'ROUTE_DECIDED',
        'SEGMENT_ENDED',
        'SEGMENT_STARTED',
      ])
    } else
      expect(segments.filter(({ closedBy }) => closedBy === 'REROUTE')).toHaveLength(
        from === 'REFINE' ? 1 : 0,
      )
    if (life === 'live') await story.writes.fail()
    else expect(after.state).toBe('FAILED')
  })
})

test('“split it by quarter” was a side chat; one click, and the next turn goes on with the refined task', async () => {
  const story = await givenGuarded(app)
  await underway(story, task, 'data-analysis')
  await story.writes.fail()
  await underway(story, said)
  await story.writes.complete({ answer: 'There are four.' })
  await reroutes(story, { relation: 'REFINE' })
  await underway(story, 'try again')
  const { head, binding, route } = await now(story)
  expect(head).toMatchObject({ number: 2, text: task, protocol: analysis, requirements: [{ text: said }] })
  expect(binding).toMatchObject({ relation: 'CONTINUE', active: { id: head?.id } })
  expect(route).toMatchObject({ source: 'INHERITED', protocol: analysis })
  await story.writes.fail()
})

test('what the agent and the owner have added meanwhile stays, only what the decision wrote is undone', async () => {
  const story = await routed('REFINE')
  const { runId, runToken } = story
  await story.owner.do(
    'commitRequirements',
    { runId, runToken, requirements: ['Say since when.'] },
    'intent{id}',
  )
  await story.owner.do(
    'correctIntent',
    {
      sessionId: story.sessionId,
      expectedHeadId: (await now(story)).head?.id,
      text: 'Only the north.',
      note: 'n',
    },
    'intent{id}',
  )
  await reroutes(story, { relation: 'CONTINUE' })
  const { head } = await now(story)
  expect(head?.text).toBe('Only the north.')
  expect(head?.requirements.map(({ text }) => text)).toEqual([required, 'Say since when.'])
  await story.writes.fail()
})

describe('another protocol', () => {
  test('a live run goes on under it: what may be done changes, its runtime is told, the task is switched', async () => {
    const story = await routed('REPLACE')
    const signals = hear(story.owner, story.runtimeId)
    expect((await asks(story, 'list_data_sources')).decision).toBe('DENIED')
    const before = await now(story)
    await reroutes(story, { protocol: 'data-analysis' })
    const { head, binding, route } = await now(story)
    expect(head).toMatchObject({ protocol: analysis, text: said, changeKind: 'ROUTE_SWITCH' })
    expect(head?.taskId).toBe(before.head?.taskId)
    expect(binding).toMatchObject({ relation: 'REPLACE', reason: 'REROUTE', active: { id: head?.id } })
    expect(route).toMatchObject({ relation: 'REPLACE', protocol: analysis })
    await does(story, 'list_data_sources')
    await eventually(() =>
      expect(signals.items).toContainEqual(
        expect.objectContaining({ __typename: 'IntentCorrected', note: 'It was meant otherwise.' }),
      ),
    )
    await signals.stop()
    await story.writes.fail()
  })

  test('a side chat goes on under it, and the task is left alone', async () => {
    const story = await routed('SIDE_CHAT')
    await reroutes(story, { protocol: 'data-analysis' })
    expect((await segmentsOf(story)).at(-1)).toMatchObject({ protocol: analysis, state: 'ACTIVE' })
    expect(await now(story)).toMatchObject({ head: { number: 1 }, binding: { relation: 'SIDE_CHAT' } })
    await story.writes.fail()
  })
})

test('other live runs that act under the task go on with what it is now', async () => {
  const story = await givenGuarded(app)
  await story.owner.do(
    'updateProjectLimits',
    { projectId: story.projectId, limits: { maxLiveRunsPerSession: 8 } },
    'project{id}',
  )
  await underway(story, task, 'data-analysis')
  const [older, olderToken] = [story.runId, story.runToken]
  await underway(story, said)
  const other = Object.assign(given(app), { ...story, runId: older, runToken: olderToken })
  const { head } = await now(story)
  await reroutes(story, { relation: 'REFINE' })
  const after = await now(other)
  expect(after.binding).toMatchObject({
    relation: 'REPLACE',
    reason: 'REROUTE',
    active: { id: after.head?.id },
  })
  expect(after.head?.id).not.toBe(head?.id)
  await story.writes.fail()
  await other.writes.fail()
})

describe('refused, and nothing is written', () => {
  const refused = async (story: Story, more: object) => {
    const [before, cursor] = [await now(story), await last(story)]
    const problem = await story.owner.refused('rerouteRun', input(story, more))
    expect(await now(story)).toEqual(before)
    expect(await typesAfter(story, cursor)).toEqual([])
    return problem
  }

  test('the task has moved since the run: a conflict that shows it, and the run says so before', async () => {
    const story = await routed('SIDE_CHAT')
    const { head } = await now(story)
    await story.owner.do(
      'correctIntent',
      {
        sessionId: story.sessionId,
        expectedHeadId: head?.id,
        text: 'Another.',
        note: 'n',
        applyTo: 'NEXT_TURN',
      },
      'intent{id}',
    )
    const present = (await now(story)).head
    expect(await refused(story, { relation: 'REFINE' })).toMatchObject({
      code: 'SESSION_INTENT_REVISION_CONFLICT',
      current: { id: present?.id },
    })
    expect(await mayReroute(story)).toMatchObject({
      allowed: false,
      reason: expect.stringContaining('moved on'),
    })
    await story.writes.fail()
  })

  test('nothing changes, nothing is said, or another decision was seen', async () => {
    const story = await routed('SIDE_CHAT')
    expect(await refused(story, { relation: 'SIDE_CHAT' })).toMatchObject({ code: 'CONFLICT' })
    expect(await refused(story, { protocol: 'general-task' })).toMatchObject({ code: 'CONFLICT' })
    expect(await refused(story, {})).toMatchObject({ code: 'INVALID_INPUT' })
    const { id } = (await now(story)).route
    await reroutes(story, { relation: 'CONTINUE', expectedRouteId: id })
    expect(await refused(story, { relation: 'REFINE', expectedRouteId: id })).toMatchObject({
      code: 'CONFLICT',
      current: { id: story.runId },
    })
    await story.writes.fail()
  })

  test.each(['CONTINUE', 'REFINE'])('there was no task to go on with: %s', async (relation) => {
    const story = await underway(await givenGuarded(app), said)
    expect(await refused(story, { relation })).toMatchObject({ code: 'CONFLICT' })
    await story.writes.fail()
  })

  test.each(['CONTINUE', 'REFINE', 'SIDE_CHAT'])(
    'the message was the first task, and none is behind it: %s',
    async (relation) => {
      const story = await underway(await givenGuarded(app), task, 'data-analysis')
      expect(await refused(story, { relation })).toMatchObject({ code: 'CONFLICT' })
      await story.writes.fail()
    },
  )

  test('a protocol that is not there, and one that the project does not allow', async () => {
    const story = await routed('REPLACE')
    expect(await refused(story, { protocol: 'nothing-of-the-kind' })).toMatchObject({
      code: 'PROTOCOL_UNKNOWN',
    })
    await story.owner.do(
      'updateProject',
      { projectId: story.projectId, allowedProtocols: ['general-task'] },
      'project{id}',
    )
    expect(await refused(story, { protocol: 'data-analysis' })).toMatchObject({
      code: 'PROTOCOL_NOT_AUTHORIZED',
    })
    await story.writes.fail()
  })

  test('the task is full', async () => {
    const story = await givenGuarded(app)
    const requirements = Array.from({ length: 100 }, (_, index) => `Requirement ${index}.`)
    const given = { sessionId: story.sessionId, text: task, protocol: 'data-analysis', note: 'n' }
    await story.owner.do('correctIntent', { ...given, requirements }, 'intent{id}')
    await underway(story, said)
    expect(await refused(story, { relation: 'REFINE' })).toMatchObject({ code: 'INTENT_FULL' })
    await story.writes.fail()
  })

  test('who may only read may not; who can’t see the session finds nothing', async () => {
    const story = await routed('SIDE_CHAT')
    const of = (capabilities: string[]) =>
      principalWith(app, 'somebody', [{ capabilities, projectId: story.projectId }])
    const reader = await of(['session.read', 'project.read'])
    const stranger = await of(['project.read', 'intent.correct'])
    const more = input(story, { relation: 'REFINE' })
    expect(await reader.client.refused('rerouteRun', more)).toMatchObject({ code: 'PERMISSION_DENIED' })
    expect(await stranger.client.refused('rerouteRun', more)).toMatchObject({ code: 'NOT_FOUND' })
    await story.writes.fail()
  })
})

interface Allowed {
  action: string
  allowed: boolean
  reason: string | null
}
async function mayReroute({ owner, runId }: Story) {
  const { run } = await owner.query<{ run: { allowedActions: Allowed[] } }>(
    'query($id:ID!){run(id:$id){allowedActions{action allowed reason}}}',
    { id: runId },
  )
  return run.allowedActions.find(({ action }) => action === 'rerouteRun')
}

test('the same key gives the first answer again, and nothing is done twice', async () => {
  const story = await routed('SIDE_CHAT')
  expect(await mayReroute(story)).toMatchObject({ allowed: true, reason: null })
  const once = { relation: 'REFINE', idempotencyKey: 'split' }
  const answer = await reroutes(story, once)
  const cursor = await last(story)
  expect(await reroutes(story, once)).toEqual(answer)
  expect(await typesAfter(story, cursor)).toEqual([])
  expect(
    await story.owner.refused('rerouteRun', input(story, { ...once, relation: 'REPLACE' })),
  ).toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
  })
  await story.writes.fail()
})

test('of two owners at once, one re-routes and the other is told that it was done', async () => {
  const story = await routed('SIDE_CHAT')
  const { route } = await now(story)
  const more = { expectedRouteId: route.id }
  const answers = await Promise.all(
    ['REFINE', 'CONTINUE'].map((relation) =>
      story.owner.mutate<{ code?: string }>('rerouteRun', input(story, { ...more, relation }), '__typename'),
    ),
  )
  expect(answers.map((each) => each.code ?? 'done').sort()).toEqual(['CONFLICT', 'done'])
  await story.writes.fail()
})
