import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { asks, does, givenGuarded, segmentOf, tells, typesAfter, underway } from '../kit/guarded.ts'
import type { Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

const last = async (story: Story) => (await story.journal()).at(-1)?.sequence ?? 0
const ledger = async ({ owner, runId }: Story) => {
  const { run } = await owner.query<{
    run: { actions: { edges: { node: { number: number; action: string; decision: string; ok: boolean } }[] } }
  }>(
    'query($id:ID!){run(id:$id){actions(first:50){edges{node{number action decision code ok governedBy}}}}}',
    {
      id: runId,
    },
  )
  return run.actions.edges.map(({ node }) => node)
}

describe('an action', () => {
  test('is allowed where the phase allows it, and its result moves the segment on', async () => {
    const story = await underway(await givenGuarded(app), 'Which region sold best?', 'data-analysis')
    const before = await last(story)
    const asked = await asks(story, 'inspect_schema', { argumentsDigest: 'sha256:1' })
    expect(asked).toMatchObject({ decision: 'ALLOWED', why: null, approval: null })
    // The steps of later phases are not for now; what the protocol says nothing of is.
    expect(asked.allowedActions).toEqual(['list_data_sources', 'inspect_schema', 'file.write'])
    const closed = await tells(story, asked.actionId, { ok: true, facts: { tables: 3, readable: true } })
    expect(closed.segment).toMatchObject({ phase: 'semantic_grounding', revision: 2, state: 'ACTIVE' })
    expect(closed.segment.facts).toEqual({ tables: 3, readable: true })
    expect(await typesAfter(story, before)).toEqual([
      'ACTION_REQUESTED',
      'ACTION_COMPLETED',
      'SEGMENT_PHASE_CHANGED',
    ])
    await story.writes.fail()
  })

  test('that the phase does not allow is denied, kept, and moves nothing', async () => {
    const story = await underway(await givenGuarded(app), 'Which region sold best?', 'data-analysis')
    const asked = await asks(story, 'run_sql_readonly')
    expect(asked).toMatchObject({ decision: 'DENIED', why: 'ACTION_NOT_ALLOWED_IN_PHASE' })
    expect(await ledger(story)).toEqual([
      {
        number: 1,
        action: 'run_sql_readonly',
        decision: 'DENIED',
        code: 'ACTION_NOT_ALLOWED_IN_PHASE',
        ok: null,
        governedBy: 'data-analysis@1',
      },
    ])
    expect(await segmentOf(story)).toMatchObject({ revision: 1, phase: 'scope' })
    const { runToken, owner } = story
    const late = await owner.refused('recordActionResult', { actionId: asked.actionId, runToken, ok: true })
    expect(late).toMatchObject({ code: 'CONFLICT', current: { id: asked.actionId } })
    await story.writes.fail()
  })

  test('of a tool that was not declared is TOOL_UNKNOWN, and nothing is written', async () => {
    const story = await underway(await givenGuarded(app), 'Hello.')
    const before = await last(story)
    const { owner, runId, runToken } = story
    const refused = await owner.refused('requestAction', { runId, runToken, tool: 'rm' })
    expect(refused).toMatchObject({ __typename: 'Refused', code: 'TOOL_UNKNOWN' })
    // What each plan lists although no runtime declares it is a call of its own.
    expect(await owner.refused('requestAction', { runId, runToken, tool: 'protocol_handoff' })).toMatchObject(
      {
        code: 'TOOL_UNKNOWN',
        message: expect.stringContaining('proposeHandoff'),
      },
    )
    expect(await ledger(story)).toEqual([])
    expect(await typesAfter(story, before)).toEqual([])
    await story.writes.fail()
  })

  test('has one result: another, and one at the same time, is CONFLICT', async () => {
    const story = await underway(await givenGuarded(app), 'Which region?', 'data-analysis')
    const { actionId } = await asks(story, 'list_data_sources')
    const { owner, runToken } = story
    const answers = await Promise.all(
      [true, false, true].map((ok) =>
        owner.mutate<{ code?: string }>('recordActionResult', { actionId, runToken, ok }, 'action{ok}'),
      ),
    )
    expect(answers.map((answer) => answer.code ?? 'taken').sort()).toEqual(['CONFLICT', 'CONFLICT', 'taken'])
    expect((await story.journal()).filter(({ type }) => type === 'ACTION_COMPLETED')).toHaveLength(1)
    await story.writes.fail()
  })

  test('asked for twice under one key has one line', async () => {
    const story = await underway(await givenGuarded(app), 'Which region?', 'data-analysis')
    const first = await asks(story, 'inspect_schema', { idempotencyKey: 'k' })
    await tells(story, first.actionId)
    expect(await asks(story, 'inspect_schema', { idempotencyKey: 'k' })).toEqual(first)
    expect(await ledger(story)).toHaveLength(1)
    await story.writes.fail()
  })

  test('is fenced: a stale token writes no line', async () => {
    const story = await underway(await givenGuarded(app), 'Which region?', 'data-analysis')
    const { owner, runId, runToken: stale, runtimeId } = story
    const { actionId } = await asks(story, 'inspect_schema')
    await owner.do('startRun', { runId, runtimeId }, 'runToken')
    const asked = await owner.refused('requestAction', { runId, runToken: stale, tool: 'inspect_schema' })
    const told = await owner.refused('recordActionResult', { actionId, runToken: stale, ok: true })
    expect([asked.code, told.code]).toEqual(['RUN_FENCED', 'RUN_FENCED'])
    expect(await ledger(story)).toHaveLength(1)
    await owner.do('cancelRun', { runId, reason: 'done' }, 'run{id}')
  })

  test('left without a result makes the effects of its run unknown', async () => {
    const story = await underway(await givenGuarded(app), 'Write it.')
    await does(story, 'write_file')
    expect((await story.writes.complete()).run.effects).toBe('KNOWN')
    await underway(story, 'Write it again.')
    await asks(story, 'write_file')
    expect((await story.writes.fail()).run.state).toBe('FAILED')
    expect((await story.runNow()).effects).toBe('UNKNOWN')
  })

  test.each<[string, object, string[]]>([
    ['a name with a blank', { 'a b': true }, ['facts']],
    ['a name that the server keeps', { 'ok.x': 1 }, ['facts']],
    ['a text', { a: 'yes' }, ['facts', 'a']],
    ['a fraction', { a: 0.5 }, ['facts', 'a']],
    ['a negative count', { a: -1 }, ['facts', 'a']],
    ['too large a count', { a: 2 ** 31 }, ['facts', 'a']],
    ['a list', [true], ['facts']],
    ['too many', Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`f${n}`, true])), ['facts']],
  ])('closes with no facts that are %s', async (_what, facts, path) => {
    const story = await underway(await givenGuarded(app), 'Which region?', 'data-analysis')
    const { actionId } = await asks(story, 'list_data_sources')
    const { owner, runToken } = story
    const refused = await owner.refused('recordActionResult', { actionId, runToken, ok: true, facts })
    expect(refused).toMatchObject({ code: 'INVALID_INPUT' })
    expect(refused.issues?.[0]?.path).toEqual(path)
    expect((await ledger(story))[0]?.ok).toBeNull()
    await story.writes.fail()
  })

  test('a segment keeps at most 100 facts of its agent', async () => {
    const story = await underway(await givenGuarded(app), 'Which region?', 'data-analysis')
    const facts = (from: number, many: number) =>
      Object.fromEntries(Array.from({ length: many }, (_, n) => [`f${from + n}`, true]))
    for (const from of [0, 32, 64]) await does(story, 'list_data_sources', facts(from, 32))
    const { actionId } = await asks(story, 'list_data_sources')
    const { owner, runToken } = story
    const full = { actionId, runToken, ok: true, facts: facts(96, 5) }
    expect((await owner.refused('recordActionResult', full)).code).toBe('INVALID_INPUT')
    await tells(story, actionId, { ok: true, facts: facts(96, 4) })
    await story.writes.fail()
  })
})

test('a run and its session show their segments', async () => {
  const story = await underway(await givenGuarded(app), 'Which region?', 'data-analysis')
  const read = () =>
    story.owner.query<{ session: { segment: object | null; segments: { edges: object[] } }; run: object }>(
      `query($s:ID!,$r:ID!){session(id:$s){segment{protocol phase} segments(first:5){edges{node{number state run{id}}}}}
        run(id:$r){segment{state protocol} segments{number}}}`,
      { s: story.sessionId, r: story.runId },
    )
  expect(await read()).toMatchObject({
    session: { segment: { protocol: 'data-analysis@1', phase: 'scope' } },
    run: { segment: { state: 'ACTIVE' }, segments: [{ number: 1 }] },
  })
  await story.writes.fail()
  expect(await read()).toMatchObject({
    session: {
      segment: null,
      segments: { edges: [{ node: { number: 1, state: 'FAILED', run: { id: story.runId } } }] },
    },
    run: { segment: { state: 'FAILED' } },
  })
})
