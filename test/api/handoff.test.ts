import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { eventually } from '../kit/eventually.ts'
import { asks, does, givenGuarded, segmentOf, segmentsOf, typesAfter, underway } from '../kit/guarded.ts'
import { hear } from '../kit/signals.ts'
import type { Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

interface Answer {
  accepted: boolean
  why: string | null
  openGoals: string[]
  segment: { id: string; number: number }
  activeProtocol: string
  activePhase: string
  availableTools: string[]
  protocolDisabledTools: string[]
  approval: { id: string } | null
}
const answerFields =
  'accepted why:code openGoals segment{id number} activeProtocol activePhase availableTools protocolDisabledTools approval{id}'
const proposal = ({ runId, runToken }: Story, more: object = {}) => ({
  runId,
  runToken,
  to: 'general-task',
  reason: 'It is no analysis.',
  ...more,
})
const propose = (story: Story, more: object = {}) =>
  story.owner.do<Answer>('proposeHandoff', proposal(story, more), answerFields)
const last = async (story: Story) => (await story.journal()).at(-1)?.sequence ?? 0

interface Intent {
  id: string
  number: number
  taskId: string
  text: string
  protocol: string
  changeKind: string
}
const intentOf = async ({ owner, sessionId }: Story) => {
  const { session } = await owner.query<{ session: { intent: Intent | null } }>(
    'query($id:ID!){session(id:$id){intent{id number taskId text protocol changeKind}}}',
    { id: sessionId },
  )
  return session.intent
}
const bindingOf = async ({ owner, runId }: Story) => {
  const { run } = await owner.query<{
    run: { binding: { base: { id: string } | null; active: { id: string } | null; relation: string } }
  }>('query($id:ID!){run(id:$id){binding{base{id} active{id} relation reason}}}', { id: runId })
  return run.binding
}
const needs = async ({ owner, runId, runToken }: Story, requirement: string) => {
  const { requirements } = await owner.do<{ requirements: { id: string }[] }>(
    'commitRequirements',
    { runId, runToken, requirements: [requirement] },
    'requirements{id}',
  )
  return requirements[0]?.id ?? ''
}
const corrects = async (story: Story, applyTo: string, text = 'Only the north.') =>
  story.owner.do(
    'correctIntent',
    { sessionId: story.sessionId, expectedHeadId: (await intentOf(story))?.id, text, note: 'n', applyTo },
    'intent{id}',
  )
const analysis = async () => {
  const story = await underway(await givenGuarded(app), 'Which region sold best?', 'data-analysis')
  for (const tool of ['list_data_sources', 'list_data_sources', 'list_data_sources']) await does(story, tool)
  return story
}

describe('S2 a rollback is not a rejection', () => {
  test('(a) the task was corrected for the next turn: a conflict, and nothing is written', async () => {
    const story = await analysis()
    expect(await segmentOf(story)).toMatchObject({ revision: 4, state: 'ACTIVE' })
    await corrects(story, 'NEXT_TURN')
    const [before, head] = [await last(story), await intentOf(story)]
    const refused = await story.owner.refused('proposeHandoff', proposal(story))
    expect(refused).toMatchObject({
      __typename: 'Conflict',
      code: 'SESSION_INTENT_REVISION_CONFLICT',
      current: { id: head?.id },
    })
    expect(await typesAfter(story, before)).toEqual([])
    expect(await segmentOf(story)).toMatchObject({ revision: 4, state: 'ACTIVE' })
    expect(await intentOf(story)).toMatchObject({ number: 2 })
    await story.writes.fail()
  })

  test('(b) a strict goal is open, whatever the agent says: rejected, and that is told', async () => {
    const story = await analysis()
    await needs(story, 'Name the region.')
    const before = await last(story)
    const answer = await propose(story, { unresolvedGoals: [] })
    expect(answer).toMatchObject({
      accepted: false,
      why: 'STRICT_GOALS_OPEN',
      openGoals: ['Name the region.'],
      activeProtocol: 'data-analysis@1',
      activePhase: 'scope',
    })
    expect(await typesAfter(story, before)).toEqual(['HANDOFF_PROPOSED', 'HANDOFF_REJECTED'])
    expect(await segmentOf(story)).toMatchObject({ revision: 4, state: 'ACTIVE', number: 1 })
    await story.writes.fail()
  })

  test('(c) the goals are met: four events in order, and a revision of the same task and text', async () => {
    const story = await analysis()
    const requirementId = await needs(story, 'Name the region.')
    const { actionId } = await does(story, 'list_data_sources')
    const { runId, runToken } = story
    await story.owner.do('meetRequirement', { runId, runToken, requirementId, actionId }, 'requirement{id}')
    const [before, head] = [await last(story), await intentOf(story)]
    const answer = await propose(story, { expectedSegmentRevision: 5 })
    expect(answer).toMatchObject({
      accepted: true,
      why: null,
      activeProtocol: 'general-task@1',
      activePhase: 'understand',
      segment: { number: 2 },
      approval: null,
    })
    expect(answer.availableTools).toContain('write_file')
    expect(answer.protocolDisabledTools).toEqual([
      'list_data_sources',
      'inspect_schema',
      'preview_table',
      'run_sql_readonly',
    ])
    expect(await typesAfter(story, before)).toEqual([
      'HANDOFF_PROPOSED',
      'SEGMENT_ENDED',
      'HANDOFF_ACCEPTED',
      'SEGMENT_STARTED',
      'INTENT_REVISED',
      'INTENT_REBOUND',
    ])
    const now = await intentOf(story)
    expect(now).toMatchObject({
      taskId: head?.taskId,
      text: head?.text,
      protocol: 'general-task@1',
      changeKind: 'HANDOFF',
      number: (head?.number ?? 0) + 1,
    })
    expect(await bindingOf(story)).toMatchObject({
      base: null,
      active: { id: now?.id },
      relation: 'REPLACE',
      reason: 'HANDOFF',
    })
    expect(await segmentsOf(story)).toMatchObject([
      { number: 1, state: 'HANDED_OFF', revision: 6, closedBy: 'HANDOFF' },
      { number: 2, state: 'ACTIVE', revision: 1, protocol: 'general-task@1', id: answer.segment.id },
    ])
    await story.writes.complete()
  })

  test('(d) the live run was corrected too: accepted on the correction', async () => {
    const story = await analysis()
    await corrects(story, 'LIVE_RUN')
    expect(await propose(story)).toMatchObject({ accepted: true })
    expect(await intentOf(story)).toMatchObject({ number: 3, text: 'Only the north.', changeKind: 'HANDOFF' })
    await story.writes.fail()
  })
})

describe('a proposal', () => {
  test.each([
    ['PROTOCOL_UNKNOWN', { to: 'no-such' }],
    ['HANDOFF_TARGET_NOT_ALLOWED', { to: 'data-analysis' }],
    ['ROUTE_CORRECTION_NOT_ALLOWED', { correction: true }],
  ])('that ends with %s is kept, and changes nothing else', async (code, more) => {
    const story = await analysis()
    const [before, head] = [await last(story), await intentOf(story)]
    expect(await propose(story, more)).toMatchObject({ accepted: false, why: code, openGoals: [] })
    expect(await typesAfter(story, before)).toEqual(['HANDOFF_PROPOSED', 'HANDOFF_REJECTED'])
    expect(await intentOf(story)).toEqual(head)
    expect(await segmentsOf(story)).toMatchObject([{ revision: 4, state: 'ACTIVE' }])
    await story.writes.fail()
  })

  test('over a segment that has moved is SEGMENT_REVISION_CONFLICT, and nothing is written', async () => {
    const story = await analysis()
    const [before, { id }] = [await last(story), await segmentOf(story)]
    const refused = await story.owner.refused(
      'proposeHandoff',
      proposal(story, { expectedSegmentRevision: 3 }),
    )
    expect(refused).toMatchObject({ code: 'SEGMENT_REVISION_CONFLICT', current: { id } })
    expect(await typesAfter(story, before)).toEqual([])
    await story.writes.fail()
  })

  test('from a side chat makes the message a task', async () => {
    const story = await underway(await givenGuarded(app), 'Write a README.')
    expect(await intentOf(story)).toBeNull()
    expect(await propose(story, { to: 'data-analysis' })).toMatchObject({ accepted: true })
    expect(await intentOf(story)).toMatchObject({
      text: 'Write a README.',
      protocol: 'data-analysis@1',
      number: 1,
    })
    expect(await bindingOf(story)).toMatchObject({ base: null, relation: 'REPLACE' })
    await story.writes.fail()
  })

  test('is answered again under its key, and made once', async () => {
    const story = await analysis()
    const first = await propose(story, { idempotencyKey: 'h' })
    expect(await propose(story, { idempotencyKey: 'h' })).toEqual(first)
    expect(await segmentsOf(story)).toHaveLength(2)
    await story.writes.fail()
  })

  test('twice at once over one revision: one is made, the other finds it moved', async () => {
    const other = await app.another()
    const story = await analysis()
    const input = proposal(story, { expectedSegmentRevision: 4 })
    const answers = await Promise.all(
      [story.owner, other.owner].map((owner) =>
        owner.mutate<{ accepted?: boolean; code?: string }>('proposeHandoff', input, 'accepted'),
      ),
    )
    expect(answers.map(({ code, accepted }) => code ?? accepted).sort()).toEqual([
      'SEGMENT_REVISION_CONFLICT',
      true,
    ])
    expect(await segmentsOf(story)).toHaveLength(2)
    await story.writes.fail()
  })

  test('and a correction at once: in one order or the other, never half', async () => {
    for (let round = 0; round < 6; round += 1) {
      const story = await analysis()
      const head = await intentOf(story)
      const [handoff, correction] = await Promise.all([
        story.owner.mutate<{ accepted?: boolean; code?: string }>(
          'proposeHandoff',
          proposal(story),
          'accepted',
        ),
        story.owner.mutate<{ code?: string }>(
          'correctIntent',
          {
            sessionId: story.sessionId,
            expectedHeadId: head?.id,
            text: 'x',
            note: 'n',
            applyTo: 'NEXT_TURN',
          },
          'intent{id}',
        ),
      ])
      const codes = [handoff.code ?? null, correction.code ?? null]
      const segments = (await segmentsOf(story)).length
      expect([codes, segments]).toEqual(
        segments === 2
          ? [[null, 'SESSION_INTENT_REVISION_CONFLICT'], 2]
          : [['SESSION_INTENT_REVISION_CONFLICT', null], 1],
      )
      await story.writes.fail()
    }
  })
})

describe('an owner', () => {
  const hands = ({ owner, sessionId }: Story, more: object) =>
    owner.do<{ run: { id: string } | null; segment: { protocol: string } | null; intent: Intent }>(
      'handoffProtocol',
      { sessionId, to: 'general-task', reason: 'r', ...more },
      'run{id} segment{protocol openedBy} intent{number changeKind protocol taskId}',
    )
  const refused = ({ owner, sessionId }: Story, more: object) =>
    owner.refused('handoffProtocol', { sessionId, to: 'general-task', reason: 'r', ...more })

  test('puts a live run under another protocol, and its runtime is told', async () => {
    const story = await analysis()
    await corrects(story, 'NEXT_TURN')
    const heard = hear(story.owner, story.runtimeId)
    expect(await hands(story, { expectedSegmentRevision: 4 })).toMatchObject({
      run: { id: story.runId },
      segment: { protocol: 'general-task@1', openedBy: 'OWNER' },
      intent: { number: 3, changeKind: 'HANDOFF' },
    })
    expect((await bindingOf(story)).active?.id).toBe((await intentOf(story))?.id)
    await eventually(() => heard.items.some((item) => item.__typename === 'IntentCorrected'))
    await heard.stop()
    await story.writes.complete()
  })

  test('leaves a strict protocol with open goals only by overriding it', async () => {
    const story = await analysis()
    await needs(story, 'Name the region.')
    const before = await last(story)
    expect(await refused(story, { expectedSegmentRevision: 4 })).toMatchObject({
      __typename: 'Refused',
      code: 'STRICT_GOALS_OPEN',
    })
    expect(await typesAfter(story, before)).toEqual([])
    await hands(story, { expectedSegmentRevision: 4, overrideStrict: true })
    expect(await segmentOf(story)).toMatchObject({ protocol: 'general-task@1', number: 2 })
    await story.writes.complete()
  })

  test('switches the task between runs', async () => {
    const story = await analysis()
    await story.writes.fail()
    const head = await intentOf(story)
    const done = await hands(story, { expectedHeadId: head?.id })
    expect(done).toMatchObject({
      run: null,
      segment: null,
      intent: { changeKind: 'ROUTE_SWITCH', protocol: 'general-task@1', taskId: head?.taskId },
    })
    expect((await refused(story, { expectedHeadId: head?.id })).code).toBe('SESSION_INTENT_REVISION_CONFLICT')
  })

  test.each([
    ['what nobody saw', {}, 'INVALID_INPUT'],
    ['a segment that has moved', { expectedSegmentRevision: 3 }, 'SEGMENT_REVISION_CONFLICT'],
    ['an unknown protocol', { expectedSegmentRevision: 4, to: 'no-such' }, 'PROTOCOL_UNKNOWN'],
    ['the same protocol', { expectedSegmentRevision: 4, to: 'data-analysis' }, 'HANDOFF_TARGET_NOT_ALLOWED'],
  ])('is refused over %s, and nothing is written', async (_what, more, code) => {
    const story = await analysis()
    const before = await last(story)
    expect((await refused(story, more)).code).toBe(code)
    expect(await typesAfter(story, before)).toEqual([])
    expect(await segmentOf(story)).toMatchObject({ number: 1, revision: 4 })
    await story.writes.fail()
  })

  test('finds no segment where no run lives', async () => {
    const story = await analysis()
    await story.writes.fail()
    expect(await refused(story, { expectedSegmentRevision: 4 })).toMatchObject({
      code: 'SEGMENT_REVISION_CONFLICT',
      current: { id: story.sessionId },
    })
    const empty = await givenGuarded(app)
    const headId = (await intentOf(story))?.id
    expect((await refused(empty, { expectedHeadId: headId })).code).toBe('SESSION_INTENT_REVISION_CONFLICT')
    expect((await refused(empty, { expectedSegmentRevision: 1 })).code).toBe('CONFLICT')
  })
})

test('the result of an action of an earlier segment closes it, and moves nothing', async () => {
  const story = await analysis()
  const { actionId } = await asks(story, 'inspect_schema')
  await propose(story)
  const { owner, runToken } = story
  const { segment } = await owner.do<{ segment: { phase: string; revision: number } }>(
    'recordActionResult',
    { actionId, runToken, ok: true, facts: { late: true } },
    'segment{phase revision facts}',
  )
  expect(segment).toEqual({ phase: 'understand', revision: 1, facts: {} })
  await story.writes.complete()
})
