import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { statementsOf } from '../kit/counting.ts'
import { givenSession } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

test('a turn runs from its receipt to its answer, each step in the journal, in order, without a hole', async () => {
  const story = await (await givenSession(app)).run('What sold best in May?')
  await story.writes.events(
    { type: 'TOOL_CALL', payload: { tool: 'run_sql', callId: '1' } },
    { type: 'TOOL_RESULT', payload: { tool: 'run_sql', callId: '1', ok: true } },
    { type: 'ANSWER_DELTA', payload: { text: 'Outdoor, ' } },
    { type: 'ANSWER_DELTA', payload: { text: 'by far.' } },
  )
  const { run } = await story.writes.complete({})
  expect(run).toEqual({ state: 'COMPLETED', completion: 'FULL', effects: 'KNOWN' })
  const journal = await story.journal()
  expect(journal.map((event) => event.type)).toEqual([
    'SESSION_CREATED',
    'MESSAGE',
    'ROUTE_DECIDED',
    'SEGMENT_STARTED',
    'RUN_OFFERED',
    'RUN_STARTED',
    'TOOL_CALL',
    'TOOL_RESULT',
    'ANSWER_DELTA',
    'ANSWER_DELTA',
    'MESSAGE',
    'SEGMENT_ENDED',
    'RUN_COMPLETED',
    'CHECKPOINT_CREATED',
  ])
  expect(journal.map((event) => event.sequence)).toEqual(journal.map((_, index) => index + 1))
  expect(journal.map((event) => event.runSequence)).toEqual([
    null,
    ...journal.slice(1, -1).map((_, index) => index + 1),
    null,
  ])
  expect(journal.findLast(({ type }) => type === 'MESSAGE')?.payload.text).toBe('Outdoor, by far.')
})

test('a turn is five statements with its caller and its routing, a batch of events two; the run is read when more of it is asked for', async () => {
  const story = await givenSession(app, { maxLiveRunsPerSession: 8, maxConcurrentRuns: 16 })
  await story.runtime(16)
  const taken: { id: string }[] = []
  const submit = (selection: string) => async () => {
    const input = { sessionId: story.sessionId, runtimeId: story.runtimeId, text: 'Go on.' }
    const { run } = await story.owner.do<{ run: { id: string } }>('submitTurn', input, `run${selection}`)
    taken.push(run)
  }
  expect(await statementsOf(submit('{__typename id}'))).toBe(5)
  expect(await statementsOf(submit('{id state}'))).toBe(6)
  await story.session()
  expect(await statementsOf(submit('{...on Node{id}}'))).toBe(6)
  for (const { id } of taken) expect((await story.runNow(id)).state).toBe('OFFERED')
  const runId = taken[0]?.id
  const start = { runId, runtimeId: story.runtimeId }
  const { runToken } = await story.owner.do<{ runToken: string }>('startRun', start, 'runToken')
  const batch = { runId, runToken, events: [{ type: 'INFO', payload: {} }] }
  expect(await statementsOf(() => story.owner.do('recordRunEvents', batch, 'cursor'))).toBe(2)
})
