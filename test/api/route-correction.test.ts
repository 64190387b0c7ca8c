import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { asks, does, givenGuarded, segmentsOf, typesAfter, underway } from '../kit/guarded.ts'
import { decision, type ModelServer, startModel } from '../kit/model.ts'
import type { Story } from '../kit/story.ts'

let app: TestApp
let model: ModelServer
beforeAll(async () => {
  model = await startModel()
  app = await startApp({
    env: {
      WHEELHOUSE_MODEL_URL: model.url,
      WHEELHOUSE_MODEL_NAME: 'test',
      WHEELHOUSE_MODEL_KEY: 'model-key',
    },
  })
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(async () => {
  await app.close()
  await model.close()
})

/** A run that a model has put under the analysis as a new task. */
async function misrouted(setting?: string): Promise<Story> {
  const story = await givenGuarded(app)
  const { owner, projectId } = story
  if (setting) await owner.do('updateProject', { projectId, routeCorrection: setting }, 'project{id}')
  model.says(JSON.stringify(decision({ protocol: 'data-analysis', relation: 'REPLACE' })))
  return underway(story, 'Please write something nice about our numbers people.')
}
const corrects = ({ owner, runId, runToken }: Story, to = 'general-task') =>
  owner.do<{
    accepted: boolean
    why: string | null
    activeProtocol: string
    approval: { id: string } | null
  }>(
    'proposeHandoff',
    { runId, runToken, to, reason: 'It is no analysis.', correction: true },
    'accepted why:code activeProtocol approval{id}',
  )
const last = async (story: Story) => (await story.journal()).at(-1)?.sequence ?? 0
const answers = ({ owner }: Story, approvalId: string, choice: string) =>
  owner.do('resolveApproval', { approvalId, decision: choice }, 'run{state}')

const made = [
  'SEGMENT_ENDED',
  'HANDOFF_ACCEPTED',
  'SEGMENT_STARTED',
  'PROTOCOL_ROUTE_CORRECTED',
  'INTENT_REVISED',
  'INTENT_REBOUND',
]

describe('a wrong route', () => {
  test('is corrected by the agent at the very beginning', async () => {
    const story = await misrouted()
    const before = await last(story)
    expect(await corrects(story)).toMatchObject({ accepted: true, activeProtocol: 'general-task@1' })
    expect(await typesAfter(story, before)).toEqual(['HANDOFF_PROPOSED', ...made])
    expect(await segmentsOf(story)).toMatchObject([
      { state: 'ABORTED', closedBy: 'CORRECTION' },
      { state: 'ACTIVE', protocol: 'general-task@1' },
    ])
    expect((await story.writes.complete()).run.completion).toBe('FULL')
  })

  test.each<[string, (story: Story) => Promise<unknown>, string]>([
    ['after a governed action succeeded', (story) => does(story, 'list_data_sources'), 'general-task'],
    ['after the initial phase', (story) => does(story, 'inspect_schema'), 'general-task'],
  ])('is not corrected %s', async (_when, act, to) => {
    const story = await misrouted()
    await act(story)
    const before = await last(story)
    expect(await corrects(story, to)).toMatchObject({ accepted: false, why: 'ROUTE_CORRECTION_NOT_ALLOWED' })
    expect(await typesAfter(story, before)).toEqual(['HANDOFF_PROPOSED', 'HANDOFF_REJECTED'])
    await story.writes.fail()
  })

  test('is corrected after an action that was only refused', async () => {
    const story = await misrouted()
    await asks(story, 'run_sql_readonly')
    expect(await corrects(story)).toMatchObject({ accepted: true })
    await story.writes.fail()
  })

  test('is not corrected where the project has it off', async () => {
    const story = await misrouted('OFF')
    expect(await corrects(story)).toMatchObject({ accepted: false, why: 'ROUTE_CORRECTION_NOT_ALLOWED' })
    await story.writes.fail()
  })

  test('waits for an owner where the project says so, and is made when one allows it', async () => {
    const story = await misrouted('OWNER_CONFIRMS')
    let before = await last(story)
    const asked = await corrects(story)
    expect(asked).toMatchObject({ accepted: false, why: null, activeProtocol: 'data-analysis@1' })
    expect(await typesAfter(story, before)).toEqual(['HANDOFF_PROPOSED', 'APPROVAL_REQUESTED', 'RUN_WAITING'])
    before = await last(story)
    await answers(story, asked.approval?.id ?? '', 'allow')
    expect(await typesAfter(story, before)).toEqual(['APPROVAL_ANSWERED', 'RUN_RESUMED', ...made])
    expect((await story.writes.complete()).run.completion).toBe('FULL')
  })

  test.each<[string, (story: Story) => Promise<unknown>, string, string]>([
    ['denied', async () => undefined, 'deny', 'APPROVAL_DENIED'],
    [
      'allowed after the segment moved',
      (story) => does(story, 'list_data_sources'),
      'allow',
      'SEGMENT_REVISION_CONFLICT',
    ],
  ])('that waits and is %s stays', async (_how, act, choice, code) => {
    const story = await misrouted('OWNER_CONFIRMS')
    const { approval } = await corrects(story)
    await act(story)
    await answers(story, approval?.id ?? '', choice)
    const rejected = (await story.journal()).filter(({ type }) => type === 'HANDOFF_REJECTED')
    expect(rejected.map(({ payload }) => payload.code)).toEqual([code])
    expect(await segmentsOf(story)).toHaveLength(1)
    await story.writes.fail()
  })
})
