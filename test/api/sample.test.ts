import { decodeId } from '@wheelhouse/server/platform/ids'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import {
  answer,
  arrived,
  asksOf,
  eventually,
  finished,
  openAsk,
  runtimesOf,
  sharedProject,
  steer,
  streamed,
} from '../kit/sampled.ts'
import { given } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp({ env: { WHEELHOUSE_SAMPLE: '1' } })
})
afterAll(() => app.close())

const question = 'Which region’s sales fell the most between May and June, and why?'

/** A session of its own. */
const guided = sharedProject(() => app)

describe('the guided session', () => {
  test('is analysed with SQL, asks once, is steered, and ends with the right figures', async () => {
    const story = await (await guided()).turn(question)
    const ask = await openAsk(story)
    expect(ask.title.replaceAll('\u00a0', ' ')).toBe('Scan all 2 400 rows of orders?')
    expect(ask.defaultDecision).toBe('deny')
    expect(await streamed(story)).toBe(
      'Between May and June 2026, sales fell the most in North: from 109 000 to 96 138 (−11.8 %). South fell by 3.1 %, West grew by 1.0 %, East grew by 3.0 %.',
    )
    await steer(story, 'By category, please, and only the South.')
    await eventually(
      async () => (await streamed(story)).includes('As you asked:') && (await streamed(story)).endsWith('.'),
    )
    await answer(story, ask.id, 'allow')
    const run = await finished(story)
    expect(run).toMatchObject({ state: 'COMPLETED', completion: 'FULL', effects: 'KNOWN' })
    expect(run.text).toContain(
      'As you asked: Between May and June 2026, in South, sales fell the most in Outdoor: from 38 640 to 36 510 (−5.5 %). Electronics fell by 1.7 %, Home fell by 0.9 %.',
    )
    expect(run.text).toContain('18 → 17 orders')
    expect(run.text).toBe(await streamed(story))
    expect(run.usage).toMatchObject({ modelCalls: 0, toolCalls: 20, inputTokens: null })
    expect(await asksOf(story)).toHaveLength(1)
  })

  test('says what it knows and no more when the ask is denied', async () => {
    const story = await (await guided()).turn(question)
    await answer(story, (await openAsk(story)).id, 'deny')
    const run = await finished(story)
    expect(run).toMatchObject({ state: 'COMPLETED', completion: 'PARTIAL' })
    expect(run.text).toMatch(/−11\.8 %.*\n\nThe scan of the orders was not allowed/s)
    expect((await story.journal()).filter(({ type }) => type === 'TOOL_CALL')).toHaveLength(10)
  })

  test('stops at once when it is cancelled while it speaks', async () => {
    const story = await (await guided()).turn(question)
    await eventually(async () => (await streamed(story)).length > 0)
    await app.owner.do('cancelRun', { runId: story.runId, reason: 'Enough.' }, 'run{state}')
    const cancelled = await story.journal()
    expect((await streamed(story)).length).toBeLessThan(150)
    // Its slot is free again, and the next turn is taken: nothing of the cancelled run is written meanwhile.
    await story.turn('Hello')
    await finished(story)
    const before = cancelled.at(-1)?.sequence ?? 0
    const later = (await story.journal()).filter(({ sequence }) => sequence > before)
    expect(
      later.map(({ type }) => type).filter((type) => type === 'TOOL_CALL' || type === 'RUN_CANCELLED'),
    ).toEqual([])
    expect((await story.runNow()).state).toBe('COMPLETED')
  })

  test('answers a question in Chinese in Chinese, and follows Chinese guidance', async () => {
    const story = await (await guided()).turn('五月到六月,哪个地区的销售额下降最多?为什么?')
    const ask = await openAsk(story)
    expect(ask.title.replaceAll('\u00a0', ' ')).toBe('扫描 orders 表的全部 2 400 行?')
    await answer(story, ask.id, 'allow')
    expect((await finished(story)).text).toBe(
      '2026 年 5 月到 6 月,北部的销售额下降最多:从 109 000 降到 96 138(−11.8 %)。南部下降 3.1 %,西部增长 1.0 %,东部增长 3.0 %。\n\n北部的变化中,户外占 82 %:订单数 22 → 17,平均每单 2 151 → 2 163。变化的是订单的数量,而不是每单的金额。',
    )
    await story.turn('分析销售额变化的原因')
    const second = await openAsk(story)
    await steer(story, '按季度拆分,只看 2025 年')
    await eventually(async () => (await streamed(story)).includes('按您的要求:2025 年各季度销售额:2025 Q1 '))
    await answer(story, second.id, 'deny')
    await finished(story)
  })

  test('says what it can do when it is asked for anything else, or steered where it can’t follow', async () => {
    const story = await (await guided()).turn('Write me a poem.')
    const poem = await finished(story)
    expect(poem).toMatchObject({ state: 'COMPLETED', completion: 'PARTIAL' })
    expect(poem.text).toContain('There is no model behind me')
    await story.turn(question)
    const ask = await openAsk(story)
    await steer(story, 'Mail it to Bob.')
    await eventually(async () => (await streamed(story)).includes('“Mail it to Bob.” is beyond me'))
    await answer(story, ask.id, 'deny')
    await finished(story)
  })
})

describe('the sample agent', () => {
  test('takes an interrupted run up again from its signals, and does not ask a second time', async () => {
    const story = await (await guided()).turn(question)
    const ask = await openAsk(story)
    await steer(story, 'By category.')
    await eventually(async () => (await streamed(story)).includes('As you asked'))
    const { rowCount } = await onDatabase(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'wheelhouse sample agent'`,
    )
    expect(rowCount).toBe(1)
    await eventually(async () => (await streamed(story)).includes('I was interrupted, and start again.'))
    await answer(story, ask.id, 'allow')
    const run = await finished(story)
    expect(run).toMatchObject({ state: 'COMPLETED', completion: 'FULL' })
    expect(run.text).toMatch(/start again\..*As you asked: .*sales fell the most in Outdoor.*North makes up/s)
    expect(await asksOf(story)).toHaveLength(1)
  })

  test('works under a role that reads nothing of ours', async () => {
    const { rows } = await onDatabase<{ role: string; super: boolean; reads: number }>(
      `SELECT a.usename AS role, r.rolsuper AS super,
              (SELECT count(*)::int FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
                  AND has_table_privilege(a.usename, c.oid, 'SELECT')) AS reads
         FROM pg_stat_activity a JOIN pg_roles r ON r.rolname = a.usename
        WHERE a.datname = current_database() AND a.application_name = 'wheelhouse sample agent'`,
    )
    expect(rows).toEqual([{ role: expect.stringMatching(/^wheelhouse_sample_/), super: false, reads: 0 }])
  })

  test('leaves the turns to another agent that is connected, and goes', async () => {
    const story = await arrived(app)
    const mine = (await runtimesOf(story)).find(({ name }) => name === 'sample agent')
    const { projectId, id } = decodeId(mine?.id ?? '') ?? {}
    const listens = () => app.app.signals.position(`${projectId}/${id}`, -1) >= 0
    await eventually(listens)
    await story.runtime()
    // Neither of them has a live run, and both are still connected.
    await story.turn(question)
    const { run } = await app.owner.query<{ run: { runtime: { id: string } } }>(
      'query($id:ID!){run(id:$id){runtime{id}}}',
      { id: story.runId },
    )
    expect(run.runtime.id).toBe(story.runtimeId)
    await eventually(() => !listens())
  })

  test('can be kept out by revoking its token, and the server says so', async () => {
    const other = await startApp({ env: { WHEELHOUSE_SAMPLE: '1' } })
    try {
      expect(other.app.sample).toEqual({ on: true, reason: null })
      const { principals } = await other.owner.query<{
        principals: { nodes: { name: string; kind: string; tokens: { id: string }[] }[] }
      }>('{principals(first:10){nodes{name kind tokens{id}}}}')
      const agent = principals.nodes.find(({ name }) => name === 'sample agent')
      expect(agent).toMatchObject({ kind: 'RUNTIME', tokens: [{ id: expect.any(String) }] })
      await other.owner.do('revokeToken', { tokenId: agent?.tokens[0]?.id }, 'token{id}')
      const next = await other.another()
      expect(next.app.sample).toEqual({ on: false, reason: 'its token was revoked' })
    } finally {
      await other.close()
    }
  })

  test('is with one server of several, and the next one takes over its live run', async () => {
    const first = await startApp({ env: { WHEELHOUSE_SAMPLE: '1' } })
    const second = await first.another()
    try {
      const story = await given(second).project()
      await story.session()
      await eventually(async () => {
        const attempt = await second.owner.mutate(
          'submitTurn',
          { sessionId: story.sessionId, text: question },
          'run{id}',
        )
        story.runId = (attempt as unknown as { run?: { id: string } }).run?.id ?? ''
        return story.runId !== ''
      })
      const approval = () =>
        eventually(async () => {
          const { run } = await second.owner.query<{ run: { approvals: { id: string }[] } }>(
            'query($id:ID!){run(id:$id){approvals{id}}}',
            { id: story.runId },
          )
          if (!run.approvals[0]) throw new Error('nothing is asked')
          return run.approvals[0].id
        })
      const id = await approval()
      await first.app.close()
      await second.owner.do('resolveApproval', { approvalId: id, decision: 'allow' }, 'approval{id}')
      await eventually(async () => (await story.runNow()).state === 'COMPLETED')
    } finally {
      await first.close()
    }
  })

  test('is off where it is switched off, and health says why', async () => {
    const other = await startApp()
    try {
      expect(other.app.sample).toEqual({ on: false, reason: 'WHEELHOUSE_SAMPLE is 0' })
      const { health } = await other.owner.query<{ health: { panels: { key: string; summary: string }[] } }>(
        '{health{panels{key summary}}}',
      )
      expect(health.panels.find(({ key }) => key === 'runtimes')?.summary).toBe(
        '0 runtimes connected. The sample agent is off: WHEELHOUSE_SAMPLE is 0.',
      )
    } finally {
      await other.close()
    }
  })
})

async function onDatabase<Row extends pg.QueryResultRow>(sql: string): Promise<pg.QueryResult<Row>> {
  const client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  try {
    return await client.query<Row>(sql)
  } finally {
    await client.end()
  }
}
