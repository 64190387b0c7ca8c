import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { decision, type ModelServer, startModel } from '../kit/model.ts'
import {
  answer,
  arrived,
  eventually,
  finished,
  openAsk,
  sharedProject,
  steer,
  streamed,
} from '../kit/sampled.ts'
import type { Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp({ env: { WHEELHOUSE_SAMPLE: '1' } })
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

const session = sharedProject(() => app)
const analysis = 'Compare sales by region over the last two quarters'
const compared =
  'Between Q1 and Q2 2026, sales fell nowhere; they grew the least in South: from 232 075 to 271 543 (+17.0 %). East grew by 20.7 %, West grew by 26.0 %, North grew by 18.7 %.'

interface Now {
  route: { source: string; relation: string; protocol: string; reasons: string[] }
  binding: { relation: string; base: { id: string } | null; active: { id: string; text: string } | null }
  segments: { protocol: string; state: string; phase: string; openedBy: string }[]
  actions: { nodes: { tool: string; decision: string; code: string | null; ok: boolean | null }[] }
  session: {
    intent: {
      id: string
      text: string
      protocol: string
      changeKind: string
      requirements: { text: string; state: string }[]
    } | null
  }
}
/** How the run of a story stands. */
const now = async ({ owner, runId }: Story): Promise<Now> =>
  (
    await owner.query<{ run: Now }>(
      `query($id:ID!){run(id:$id){route{source relation protocol reasons} binding{relation base{id} active{id text}}
        segments{protocol state phase openedBy} actions(first:100){nodes{tool decision code ok}}
        session{intent{id text protocol changeKind requirements{text state}}}}}`,
      { id: runId },
    )
  ).run
const types = async (story: Story) =>
  (await story.journal()).filter(({ type }) => type.startsWith('HANDOFF_')).map(({ type }) => type)

/** Says something, and waits until the agent has done with it. */
async function said(story: Story, text: string) {
  await story.turn(text)
  return { ...(await finished(story)), ...(await now(story)) }
}

describe('the task of the sample agent', () => {
  test('an analysis is routed by rule, goes through every phase, meets its requirements and is complete', async () => {
    const run = await said(await session(), analysis)
    expect(run.route).toMatchObject({
      source: 'RULE',
      reasons: ['ANALYTIC_INTENT'],
      protocol: 'data-analysis@1',
    })
    expect(run).toMatchObject({ state: 'COMPLETED', completion: 'FULL', effects: 'KNOWN', text: compared })
    expect(run.actions.nodes.map(({ tool }) => tool)).toEqual([
      'list_data_sources',
      'inspect_schema',
      'preview_table',
      'resolve_context',
      'ground_analysis',
      'plan_query',
      'validate_query',
      'run_sql_readonly',
      'validate_result',
      'bind_evidence',
    ])
    for (const action of run.actions.nodes) expect(action).toMatchObject({ decision: 'ALLOWED', ok: true })
    expect(run.segments).toEqual([
      { protocol: 'data-analysis@1', state: 'COMPLETED', phase: 'synthesis', openedBy: 'ROUTE' },
    ])
    expect(run.session.intent).toMatchObject({ text: analysis, changeKind: 'REFINE' })
    expect(run.session.intent?.requirements).toEqual([
      { text: 'Give each figure with its change, from a query over the table.', state: 'MET' },
      { text: 'Check that the parts add up to the whole.', state: 'MET' },
    ])
  })

  test('the same in Chinese', async () => {
    const story = await session()
    const run = await said(story, '比较最近两个季度各地区的销售额')
    expect(run).toMatchObject({ state: 'COMPLETED', completion: 'FULL' })
    expect(run.text).toBe(
      '2026 年第 1 季度到第 2 季度,没有下降,南部的增长最少:从 232 075 升到 271 543(+17.0 %)。东部增长 20.7 %,西部增长 26.0 %,北部增长 18.7 %。',
    )
    expect((await said(story, '再试一次')).text).toBe(run.text)
    expect((await said(story, '按季度拆分')).text).toContain('这条消息被当作闲聊')
    await story.owner.do(
      'rerouteRun',
      { runId: story.runId, relation: 'REFINE', reason: '属于任务' },
      'route{id}',
    )
    expect((await said(story, '继续')).text).toMatch(
      /^2026 年各季度销售额:2026 Q1 838 550\(东部 193 996,北部 255 908,.*2026 Q2 1 006 922\(/,
    )
    expect((await said(story, '你能做什么?')).text).toContain('再试一次')
  })

  test('“try again” goes on under the same protocol; a side chat that an owner re-routes is followed by the next one', async () => {
    const story = await session()
    await said(story, analysis)
    const again = await said(story, 'try again')
    expect(again.route).toMatchObject({
      source: 'INHERITED',
      relation: 'CONTINUE',
      protocol: 'data-analysis@1',
    })
    expect(again).toMatchObject({ completion: 'FULL', text: compared })

    const before = again.session.intent?.id
    const split = await said(story, 'split it by quarter')
    expect(split.binding).toMatchObject({ relation: 'SIDE_CHAT', active: { id: before } })
    expect(split).toMatchObject({ completion: 'FULL', actions: { nodes: [] } })
    expect(split.text).toContain(`the task is left as it is: “${analysis}”`)

    await story.owner.do(
      'rerouteRun',
      { runId: story.runId, relation: 'REFINE', reason: 'It belongs to the task.' },
      'route{id}',
    )
    const quarters = await said(story, 'try again')
    expect(quarters).toMatchObject({ completion: 'FULL', route: { source: 'INHERITED' } })
    expect(quarters.text).toMatch(
      /^Sales of 2026 by quarter: 2026 Q1 [\d ]+ \(East [\d ]+, North [\d ]+, South /,
    )
    expect(quarters.session.intent?.requirements.at(-1)).toEqual({
      text: 'split it by quarter',
      state: 'MET',
    })
  })

  test('thanks, help and a text are side chats that leave the task alone', async () => {
    const story = await session()
    const first = await said(story, analysis)
    const chats = [
      ['thanks', 'You are welcome'],
      ['help', 'try again'],
      ['write a README instead', `## ${analysis}\n\n${compared}`],
    ] as const
    for (const [message, part] of chats) {
      const chat = await said(story, message)
      expect(chat).toMatchObject({ completion: 'FULL', binding: { relation: 'SIDE_CHAT' } })
      expect(chat.text).toContain(part)
      expect(chat.session.intent?.id).toBe(first.session.intent?.id)
    }
  })

  test('a question that no rule starts is handed off to the analysis, and is the task then', async () => {
    const story = await session()
    const run = await said(story, 'What were the sales of April and May?')
    expect(run.route).toMatchObject({ source: 'DEFAULT', relation: 'SIDE_CHAT', protocol: 'general-task@1' })
    expect(run).toMatchObject({ state: 'COMPLETED', completion: 'FULL' })
    expect(run.segments.map(({ protocol, openedBy }) => [protocol, openedBy])).toEqual([
      ['general-task@1', 'ROUTE'],
      ['data-analysis@1', 'HANDOFF'],
    ])
    expect(run.session.intent?.text).toBe('What were the sales of April and May?')
  })

  test('a query before its turn is refused by the guard, and the agent goes the right way', async () => {
    const run = await said(await session(), `${analysis}, and run the SQL right away`)
    expect(run).toMatchObject({ state: 'COMPLETED', completion: 'FULL' })
    expect(run.actions.nodes[0]).toEqual({
      tool: 'run_sql_readonly',
      decision: 'DENIED',
      code: 'ACTION_NOT_ALLOWED_IN_PHASE',
      ok: null,
    })
    expect(run.text).toMatch(
      /^The guard refused run_sql_readonly at this point; it allows list_data_sources, /,
    )
    expect(run.text).toContain(compared)
  })

  test('a query that it never may run is a failure, whatever the agent says about it', async () => {
    const run = await said(await session(), 'Run the SQL on sales right away, without a handoff')
    expect(run).toMatchObject({ state: 'FAILED', failureCode: 'ACTIONS_REJECTED_BY_PROTOCOL' })
    expect(run.text).toContain('I am sorry')
    expect(run.segments).toMatchObject([{ protocol: 'general-task@1', state: 'FAILED' }])
  })

  test('a task that is corrected while it runs is read again, and answered as it is then', async () => {
    const story = await session()
    await story.turn(`${analysis}, and say why they changed`)
    const ask = await openAsk(story)
    const { session: seen } = await now(story)
    const text = 'Compare sales by category over the last two quarters'
    await story.owner.do(
      'correctIntent',
      { sessionId: story.sessionId, expectedHeadId: seen.intent?.id, text, note: 'Categories were meant.' },
      'intent{id}',
    )
    // The larger query is of no use to the task as it is now, but nobody can take back what was asked.
    await eventually(async () => expect(await streamed(story)).toContain('still waits for an answer'))
    await answer(story, ask.id, 'deny')
    const run = { ...(await finished(story)), ...(await now(story)) }
    expect(run).toMatchObject({ state: 'COMPLETED', completion: 'FULL' })
    expect(run.text).toMatch(
      /The task was corrected\. Between Q1 and Q2 2026, .* in (Outdoor|Home|Electronics):/,
    )
    expect(run.binding.active?.text).toBe(text)
  })

  test('what the agent can’t follow stays open, keeps it from leaving, and makes its answer partial', async () => {
    const story = await session()
    await story.turn(`${analysis}, and say why they changed`)
    const ask = await openAsk(story)
    const { session: seen } = await now(story)
    const requirements = [...(seen.intent?.requirements.map(({ text }) => text) ?? []), 'Mail it to Bob.']
    await story.owner.do(
      'correctIntent',
      {
        sessionId: story.sessionId,
        expectedHeadId: seen.intent?.id,
        requirements,
        note: 'Bob waits for it.',
      },
      'intent{id}',
    )
    await expect
      .poll(() => streamed(story), { timeout: 45_000 })
      .toMatch(/corrected\. .*North grew by 18\.7 %\.$/s)
    await steer(story, 'Write a README instead')
    await expect.poll(() => streamed(story), { timeout: 45_000 }).toContain('“Mail it to Bob.”. First those.')
    await answer(story, ask.id, 'allow')
    const run = await finished(story)
    expect(run).toMatchObject({ state: 'COMPLETED', completion: 'PARTIAL' })
    expect(run.text).toMatch(
      /What I can’t do: “Mail it to Bob\.”\.\n\nI can’t go on under general-task: STRICT_GOALS_OPEN\.$/,
    )
    expect(await types(story)).toEqual([
      'HANDOFF_PROPOSED',
      'HANDOFF_REJECTED',
      'HANDOFF_PROPOSED',
      'HANDOFF_REJECTED',
    ])
  })

  test('guidance that wants a text is a handoff, once the goals are met', async () => {
    const story = await session()
    await story.turn(`${analysis}, and say why they changed`)
    const ask = await openAsk(story)
    await steer(story, 'Write a README instead')
    await expect.poll(() => streamed(story), { timeout: 45_000 }).toContain('What I asked still waits')
    await answer(story, ask.id, 'deny')
    const run = { ...(await finished(story)), ...(await now(story)) }
    expect(run).toMatchObject({ state: 'COMPLETED', completion: 'FULL' })
    expect(run.text).toContain('# Sales\n\n## Compare sales')
    expect(await types(story)).toEqual(['HANDOFF_PROPOSED', 'HANDOFF_ACCEPTED'])
    expect(run.segments).toMatchObject([
      { protocol: 'data-analysis@1', state: 'HANDED_OFF' },
      { protocol: 'general-task@1', state: 'COMPLETED', openedBy: 'HANDOFF' },
    ])
    expect(run.session.intent).toMatchObject({ protocol: 'general-task@1', changeKind: 'HANDOFF' })
  })
})

describe('with a model that routes', () => {
  let model: ModelServer
  let other: TestApp
  beforeAll(async () => {
    model = await startModel()
    const env = { WHEELHOUSE_SAMPLE: '1', WHEELHOUSE_MODEL_URL: model.url, WHEELHOUSE_MODEL_NAME: 'test' }
    other = await startApp({ env })
  })
  afterAll(async () => {
    await other.close()
    await model.close()
  })

  test('“split it by quarter” is a refinement at once, and a README another task', async () => {
    const story = await arrived(other)
    await said(story, analysis)
    model.says(JSON.stringify(decision({ protocol: 'data-analysis' })))
    const split = await said(story, 'split it by quarter')
    expect(split).toMatchObject({ completion: 'FULL', route: { source: 'CLASSIFIER', relation: 'REFINE' } })
    expect(split.text).toMatch(/^Sales of 2026 by quarter: 2026 Q1 /)

    model.says(JSON.stringify(decision({ relation: 'REPLACE' })))
    const text = await said(story, 'write a README instead')
    expect(text).toMatchObject({
      completion: 'FULL',
      route: { relation: 'REPLACE', protocol: 'general-task@1' },
    })
    expect(text.text).toContain('## split it by quarter\n\nSales of 2026 by quarter')
    expect(text.session.intent).toMatchObject({ text: 'write a README instead', changeKind: 'REPLACE' })
    expect(await audit(other.databaseUrl)).toEqual([])
  })
})
