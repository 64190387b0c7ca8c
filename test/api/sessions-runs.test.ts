import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { eventually } from '../kit/eventually.ts'
import { readDigest } from '../kit/hostile-digest.ts'
import { hear } from '../kit/signals.ts'
import { given, givenSession, type Story } from '../kit/story.ts'
import { range } from '../kit/watching.ts'

let app: TestApp
let digest: () => Promise<string>
beforeAll(async () => {
  app = await startApp()
  digest = await readDigest(app.db)
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

/** The codes of calls that must be refused, each of which writes nothing at all. */
async function refusals(story: Story, calls: [name: string, input: object][]): Promise<string[]> {
  const codes: string[] = []
  for (const [name, input] of calls) {
    const before = await digest()
    codes.push((await story.owner.refused(name, input)).code)
    expect(await digest()).toBe(before)
  }
  return codes
}
const turn = (story: Story, more: object = {}): [string, object] => [
  'submitTurn',
  { sessionId: story.sessionId, text: 'Go on.', ...more },
]
const token = (story: Story) => ({ runId: story.runId, runToken: story.runToken })
const cancel = (story: Story) =>
  story.owner.do('cancelRun', { runId: story.runId, reason: 'over' }, 'run{id}')

describe('a turn is refused, and nothing is written,', () => {
  test('SESSION_BUSY while the session’s runs are at their limit, waiting ones included', async () => {
    const story = await (await givenSession(app)).turn()
    expect(await refusals(story, [turn(story)])).toEqual(['SESSION_BUSY'])
    await cancel(story)
    await story.run()
    expect(await refusals(story, [turn(story)])).toEqual(['SESSION_BUSY'])
    await story.writes.ask()
    expect(await refusals(story, [turn(story)])).toEqual(['SESSION_BUSY'])
    await cancel(story)
    await story.turn()
    await cancel(story)
  })

  test('CAPACITY while the project’s slots are taken, waiting runs included', async () => {
    const story = await givenSession(app, { maxConcurrentRuns: 2 })
    await story.turn()
    await story.session()
    await story.run()
    await story.writes.ask()
    const { sessionId } = await story.session()
    const refused = await story.owner.refused(...turn(story))
    expect(refused).toMatchObject({ code: 'CAPACITY', retryable: true, retryAfterMs: expect.any(Number) })
    expect(await refusals(story, [turn(story)])).toEqual(['CAPACITY'])
    await cancel(story)
    story.sessionId = sessionId
    await story.turn()
    await cancel(story)
  })

  test('RUNTIME_UNAVAILABLE without a connected runtime that has a free slot', async () => {
    const story = await (await given(app).project()).session()
    expect(await refusals(story, [turn(story)])).toEqual(['RUNTIME_UNAVAILABLE'])
    await story.runtime(1)
    const { runtimeId: ofOther } = await givenSession(app)
    expect(await refusals(story, [turn(story, { runtimeId: ofOther })])).toEqual(['RUNTIME_UNAVAILABLE'])
    await story.run()
    const busy = story.runId
    await story.session()
    expect(await refusals(story, [turn(story), turn(story, { runtimeId: story.runtimeId })])).toEqual([
      'RUNTIME_UNAVAILABLE',
      'RUNTIME_UNAVAILABLE',
    ])
    story.runId = busy
    await cancel(story)
    app.clock.advance(30_000)
    expect(await refusals(story, [turn(story)])).toEqual(['RUNTIME_UNAVAILABLE'])
    await app.pass(0)
    expect(await refusals(story, [turn(story)])).toEqual(['RUNTIME_UNAVAILABLE'])
  })

  test('SESSION_CLOSED, PROTOCOL_UNKNOWN, or CONFLICT for another generation', async () => {
    const story = await givenSession(app)
    expect(
      await refusals(story, [turn(story, { protocol: 'cooking' }), turn(story, { expectedGeneration: 2 })]),
    ).toEqual(['PROTOCOL_UNKNOWN', 'CONFLICT'])
    await story.owner.do('closeSession', { sessionId: story.sessionId }, 'session{id}')
    expect(await refusals(story, [turn(story), turn(story, { expectedGeneration: 1 })])).toEqual([
      'SESSION_CLOSED',
      'CONFLICT',
    ])
  })

  test('and otherwise goes to the connected runtime with the fewest live runs, or to the one asked for', async () => {
    const story = await givenSession(app, { maxConcurrentRuns: 10 })
    const first = story.runtimeId
    const second = (await story.runtime(2)).runtimeId
    const taken: string[] = []
    for (let n = 0; n < 4; n += 1) {
      await story.session()
      await story.turn()
      const { run } = await story.owner.query<{ run: { runtime: { id: string } } }>(
        'query($id:ID!){run(id:$id){runtime{id}}}',
        {
          id: story.runId,
        },
      )
      taken.push(run.runtime.id)
    }
    expect(taken.filter((id) => id === second)).toHaveLength(2)
    await story.session()
    const { run } = await story.owner.do<{ run: { runtime: { id: string } } }>(
      ...turn(story, { runtimeId: first }),
      'run{runtime{id}}',
    )
    expect(run.runtime.id).toBe(first)
  })
})

describe('what a runtime writes', () => {
  const nested = (depth: number): unknown => (depth === 1 ? {} : { x: nested(depth - 1) })

  test('is refused whole, and nothing is written, when one event of a batch is wrong', async () => {
    const story = await (await givenSession(app, { maxEventBytes: 1_024 })).run()
    const good = { type: 'INFO', payload: { fine: true } }
    const wrong: [object[], string][] = [
      [[], 'INVALID_INPUT'],
      [range(1, 101).map(() => good), 'INVALID_INPUT'],
      [[good, { type: 'RUN_COMPLETED', payload: {} }], 'INVALID_INPUT'],
      [[good, { type: 'info', payload: {} }], 'INVALID_INPUT'],
      [[good, { type: 'INFO', payload: [] }], 'INVALID_INPUT'],
      [[good, { type: 'ANSWER_DELTA', payload: { text: 1 } }], 'INVALID_INPUT'],
      [[good, { type: 'INFO', payload: nested(65) }], 'INVALID_EVENT_PAYLOAD'],
      [[good, { type: 'INFO', payload: nested(200) }], 'INVALID_EVENT_PAYLOAD'],
      [[good, { type: 'INFO', payload: { x: 'a'.repeat(1_024 - 7) } }], 'EVENT_TOO_LARGE'],
      [[good, { type: 'INFO', payload: { x: '漢'.repeat(340) } }], 'EVENT_TOO_LARGE'],
    ]
    const codes = await refusals(
      story,
      wrong.map(([events]) => ['recordRunEvents', { ...token(story), events }]),
    )
    expect(codes).toEqual(wrong.map(([, code]) => code))
    const before = await story.latest()
    await story.writes.events(...range(1, 100).map(() => good))
    await story.writes.events({ type: 'INFO', payload: { x: 'a'.repeat(1_024 - 8) } })
    await story.writes.events({ type: 'INFO', payload: nested(64) as object })
    expect(await story.latest()).toBe(before + 102)
    await story.writes.complete()
  })

  test('names positions and types in its refusals, never the value', async () => {
    const story = await (await givenSession(app, { maxEventBytes: 1_024 })).run()
    const secret = 'canary'
    const event = { type: 'INFO', payload: { [secret]: secret.repeat(400) } }
    const problem = await story.owner.refused('recordRunEvents', {
      ...token(story),
      events: [{ type: 'INFO', payload: {} }, event],
    })
    expect(problem).toMatchObject({ code: 'EVENT_TOO_LARGE', issues: [{ path: ['events', '1', 'payload'] }] })
    expect(JSON.stringify(problem)).not.toContain(secret)
    await cancel(story)
  })

  test('of usage adds up; what was never named is null, which is not 0', async () => {
    const story = await (await givenSession(app)).run()
    const usage = async () => {
      const { run, session } = await story.owner.query<{
        run: { usage: unknown }
        session: { usage: unknown }
      }>(
        `query($r:ID!,$s:ID!){run(id:$r){usage{inputTokens outputTokens cachedTokens modelCalls toolCalls milliseconds}}
          session(id:$s){usage{inputTokens outputTokens cachedTokens modelCalls toolCalls milliseconds}}}`,
        { r: story.runId, s: story.sessionId },
      )
      return [run.usage, session.usage]
    }
    const none = {
      inputTokens: null,
      outputTokens: null,
      cachedTokens: null,
      modelCalls: null,
      toolCalls: null,
      milliseconds: null,
    }
    expect(await usage()).toEqual([null, null])
    await story.owner.do('recordUsage', { ...token(story), inputTokens: 0 }, 'run{id}')
    expect(await usage()).toEqual([
      { ...none, inputTokens: 0 },
      { ...none, inputTokens: 0 },
    ])
    await story.owner.do('recordUsage', { ...token(story), inputTokens: 5, outputTokens: 7 }, 'run{id}')
    await story.writes.complete({ answer: 'x', usage: { outputTokens: 1, modelCalls: 2 } })
    const first = { ...none, inputTokens: 5, outputTokens: 8, modelCalls: 2 }
    expect(await usage()).toEqual([first, first])
    await story.run()
    expect(
      await refusals(story, [
        ['recordUsage', { ...token(story), inputTokens: -1 }],
        ['recordUsage', { ...token(story), inputTokens: 2 ** 31 - 1 }],
        ['completeRun', { ...token(story), usage: { tokens: 1 } }],
      ]),
    ).toEqual(range(1, 3).map(() => 'INVALID_INPUT'))
    await story.writes.fail()
    expect(await usage()).toEqual([null, first])
  })

  test.each([
    ['the joined deltas when it names none', ['a', 'b'], undefined, 'ab'],
    ['what it names when nothing was streamed', [], 'whole', 'whole'],
    ['both when they are equal', ['wh', 'ole'], 'whole', 'whole'],
    ['nothing when there was nothing', [], undefined, null],
  ] as const)('as its answer is %s', async (_what, deltas, named, text) => {
    const story = await (await givenSession(app)).run()
    for (const delta of deltas) await story.writes.events({ type: 'ANSWER_DELTA', payload: { text: delta } })
    await story.writes.complete(named === undefined ? {} : { answer: named })
    const { run } = await story.owner.query<{
      run: { answer: { text: string; answers: { text: string } } | null }
    }>('query($id:ID!){run(id:$id){answer{text answers{text}}}}', { id: story.runId })
    expect(run.answer?.text ?? null).toBe(text)
    if (text) expect(run.answer?.answers.text).toBe('What sold best in May?')
  })

  test('with an answer larger than one event, which was streamed: its message has the text, its event says so', async () => {
    const story = await (await givenSession(app)).run()
    await story.owner.do(
      'updateProjectLimits',
      { projectId: story.projectId, limits: { maxEventBytes: 1_024 } },
      'project{id}',
    )
    const parts = range(1, 4).map((n) => `${n}`.repeat(900))
    expect(await refusals(story, [['completeRun', { ...token(story), answer: parts.join('') }]])).toEqual([
      'EVENT_TOO_LARGE',
    ])
    for (const text of parts) await story.writes.events({ type: 'ANSWER_DELTA', payload: { text } })
    await story.writes.complete({ answer: parts.join('') })
    const { run } = await story.owner.query<{ run: { answer: { text: string; sequence: number } } }>(
      'query($id:ID!){run(id:$id){answer{text sequence}}}',
      { id: story.runId },
    )
    const journal = await story.journal()
    expect(run.answer.text).toBe(parts.join(''))
    const event = journal.find(({ sequence }) => sequence === run.answer.sequence)
    expect(event?.payload).toMatchObject({ authority: 'AGENT', streamed: true })
    expect(event?.payload).not.toHaveProperty('text')
    const deltas = journal.filter(({ type }) => type === 'ANSWER_DELTA').map(({ payload }) => payload.text)
    expect(deltas.join('')).toBe(run.answer.text)
  })

  test('as its answer can’t be other than what it streamed', async () => {
    const story = await (await givenSession(app)).run()
    await story.writes.events({ type: 'ANSWER_DELTA', payload: { text: 'This.' } })
    expect(await refusals(story, [['completeRun', { ...token(story), answer: 'That.' }]])).toEqual([
      'INVALID_INPUT',
    ])
    expect(await story.runNow()).toMatchObject({ state: 'RUNNING' })
    await story.writes.complete({})
  })
})

describe('guidance', () => {
  test('is recorded in order, reaches the runtime, and answers CONFLICT once the run has ended', async () => {
    const story = await (await givenSession(app)).run()
    const heard = hear(story.owner, story.runtimeId)
    await Promise.all(
      range(1, 12).map((n) =>
        story.owner.do('steerRun', { runId: story.runId, text: `Step ${n}` }, 'cursor'),
      ),
    )
    await eventually(() => heard.items.length === 13)
    const texts = (await story.journal())
      .filter((event) => event.type === 'RUN_STEERED')
      .map((event) => event.payload.text)
    expect(heard.items.slice(1).map((signal) => signal.text)).toEqual(texts)
    await heard.stop()
    await story.writes.complete()
    expect(
      await refusals(story, [
        ['steerRun', { runId: story.runId, text: 'Too late' }],
        ['cancelRun', { runId: story.runId, reason: 'Too late' }],
        ['cancelRun', { runId: story.runId, reason: 'Too late', expectedState: 'RUNNING' }],
      ]),
    ).toEqual(['CONFLICT', 'CONFLICT', 'CONFLICT'])
  })
})

describe('a session', () => {
  const now = async (story: Story) => {
    const { session } = await story.owner.query<{
      session: { state: string; generation: number; liveRuns: number }
    }>('query($id:ID!){session(id:$id){state generation liveRuns}}', { id: story.sessionId })
    return session
  }
  const target = (story: Story, more: object = {}) => ({ sessionId: story.sessionId, ...more })

  test('is one generation on at each open and close, and fences what was meant for an earlier one', async () => {
    const story = await givenSession(app)
    expect(await now(story)).toEqual({ state: 'OPEN', generation: 1, liveRuns: 0 })
    const before = await digest()
    await story.owner.do('openSession', target(story), 'session{id}')
    expect(await digest()).toBe(before)
    await story.owner.do('closeSession', target(story, { expectedGeneration: 1 }), 'session{id}')
    await story.owner.do('openSession', target(story, { expectedGeneration: 2 }), 'session{id}')
    expect(await now(story)).toMatchObject({ state: 'OPEN', generation: 3 })
    const stale = target(story, { expectedGeneration: 1 })
    expect(
      await refusals(story, [
        ['closeSession', stale],
        ['openSession', stale],
        ['submitTurn', { ...stale, text: 'x' }],
      ]),
    ).toEqual(['CONFLICT', 'CONFLICT', 'CONFLICT'])
  })

  test('is not closed or deleted under a live run, unless told to cancel it', async () => {
    const story = await givenSession(app, { maxLiveRunsPerSession: 3 })
    await story.turn()
    await story.run()
    await story.writes.ask()
    expect(
      await refusals(story, [
        ['closeSession', target(story)],
        ['deleteSession', target(story)],
      ]),
    ).toEqual(['CONFLICT', 'CONFLICT'])
    await story.owner.do('closeSession', target(story, { cancelActive: true }), 'session{id}')
    expect(await now(story)).toEqual({ state: 'CLOSED', generation: 2, liveRuns: 0 })
    const types = (await story.journal()).map((event) => event.type)
    expect(types.slice(-6)).toEqual([
      'SEGMENT_ENDED',
      'RUN_CANCELLED',
      'SEGMENT_ENDED',
      'APPROVAL_WITHDRAWN',
      'RUN_CANCELLED',
      'SESSION_CLOSED',
    ])
  })

  test('that is deleted leaves its id in the log, in the feed and under idempotency keys, and nothing else', async () => {
    const story = await (await givenSession(app)).run('A canary in the text')
    await story.writes.events({ type: 'TOOL_CALL', payload: { tool: 't', canary: 1 } })
    const { id } = await story.writes.ask({ kind: 'TOOL', title: 'canary', payload: { canary: 1 } })
    await story.owner.do('resolveApproval', { approvalId: id, decision: 'deny' }, 'approval{id}')
    await story.writes.fail('CANARY')
    const client = new pg.Client({ connectionString: app.databaseUrl })
    await client.connect()
    try {
      const { rows: tables } = await client.query<{ name: string }>(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
      )
      const [{ uuid } = { uuid: '' }] = (
        await client.query<{ uuid: string }>('SELECT id AS uuid FROM sessions ORDER BY id DESC LIMIT 1')
      ).rows
      const where = async (text: string) => {
        const found: string[] = []
        for (const { name } of tables) {
          const { rowCount } = await client.query(
            `SELECT 1 FROM "${name}" t WHERE t::text ILIKE $1 LIMIT 1`,
            [`%${text}%`],
          )
          if (rowCount) found.push(name)
        }
        return found.sort()
      }
      expect(await where(uuid)).toContain('session_events')
      expect(await where('canary')).toContain('messages')
      const deleted = await story.owner.do(
        'deleteSession',
        target(story, { reason: 'cleaning' }),
        'deletedId retainedHistory purgeFailures',
      )
      expect(deleted).toMatchObject({ deletedId: story.sessionId, retainedHistory: false, purgeFailures: [] })
      expect(await where('canary')).toEqual([])
      const left = await where(uuid)
      expect(
        left.filter((name) => !['audit_entries', 'project_events', 'idempotency_keys'].includes(name)),
      ).toEqual([])
    } finally {
      await client.end()
    }
    expect(await refusals(story, [['openSession', target(story)]])).toEqual(['NOT_FOUND'])
    await (await story.session()).run()
    await story.writes.complete()
  })
})
