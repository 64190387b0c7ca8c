import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
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
    'RUN_OFFERED',
    'RUN_STARTED',
    'TOOL_CALL',
    'TOOL_RESULT',
    'ANSWER_DELTA',
    'ANSWER_DELTA',
    'MESSAGE',
    'RUN_COMPLETED',
  ])
  expect(journal.map((event) => event.sequence)).toEqual(journal.map((_, index) => index + 1))
  expect(journal.slice(1).map((event) => event.runSequence)).toEqual(
    journal.slice(1).map((_, index) => index + 1),
  )
  expect(journal[9]?.payload.text).toBe('Outdoor, by far.')
})
