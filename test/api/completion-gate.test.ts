import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { asks, does, givenGuarded, segmentOf, segmentsOf, typesAfter, underway } from '../kit/guarded.ts'
import type { Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

const completes = ({ owner, runId, runToken }: Story, more: object = {}) =>
  owner.do<{ run: { state: string; completion: string | null; failureCode: string | null } }>(
    'completeRun',
    { runId, runToken, answer: 'Sorry.', ...more },
    'run{state completion failureCode}',
  )
const handsOff = ({ owner, runId, runToken }: Story, to: string) =>
  owner.do<{ accepted: boolean }>(
    'proposeHandoff',
    { runId, runToken, to, reason: 'It needs data.' },
    'accepted',
  )
const needs = async ({ owner, runId, runToken }: Story, requirement: string) => {
  const { requirements } = await owner.do<{ requirements: { id: string }[] }>(
    'commitRequirements',
    { runId, runToken, requirements: [requirement] },
    'requirements{id}',
  )
  return requirements[0]?.id ?? ''
}
const meets = ({ owner, runId, runToken }: Story, requirementId: string, actionId: string) =>
  owner.do('meetRequirement', { runId, runToken, requirementId, actionId }, 'requirement{id}')
const inboxOf = async ({ owner, projectId, runId }: Story) => {
  const { inbox } = await owner.query<{
    inbox: { edges: { node: { kind: string; run: { id: string } } }[] }
  }>('query($id:ID!){inbox(projectId:$id,first:100){edges{node{kind run{id}}}}}', { id: projectId })
  return inbox.edges.filter(({ node }) => node.run?.id === runId).map(({ node }) => node.kind)
}
const last = async (story: Story) => (await story.journal()).at(-1)?.sequence ?? 0

describe('S4 the completion gate', () => {
  test('(a) an apology for a data tool that was refused is no completion', async () => {
    const story = await underway(await givenGuarded(app), 'How did sales go?')
    expect(await asks(story, 'run_sql_readonly')).toMatchObject({ decision: 'DENIED' })
    expect((await completes(story)).run).toEqual({
      state: 'FAILED',
      completion: null,
      failureCode: 'ACTIONS_REJECTED_BY_PROTOCOL',
    })
    expect(await segmentOf(story)).toMatchObject({ state: 'FAILED', closedBy: 'END' })
    expect(await inboxOf(story)).toEqual(['RUN_FAILED'])
  })

  test('(a) nor is it a partial one', async () => {
    const story = await underway(await givenGuarded(app), 'How did sales go?')
    await asks(story, 'run_sql_readonly')
    expect((await completes(story, { partial: true })).run.state).toBe('FAILED')
  })

  test('(b) after a handoff, a successful data action and met requirements it is complete', async () => {
    const story = await underway(await givenGuarded(app), 'How did sales go?')
    await asks(story, 'list_data_sources')
    expect(await handsOff(story, 'data-analysis')).toMatchObject({ accepted: true })
    const requirementId = await needs(story, 'Name the best region.')
    const { actionId } = await does(story, 'list_data_sources')
    await meets(story, requirementId, actionId)
    expect((await completes(story)).run).toEqual({
      state: 'COMPLETED',
      completion: 'FULL',
      failureCode: null,
    })
    expect(await segmentsOf(story)).toMatchObject([{ state: 'HANDED_OFF' }, { state: 'COMPLETED' }])
    expect(await inboxOf(story)).toEqual([])
  })

  test('(c) an analysis without one successful data action is unsupported, and in the inbox', async () => {
    const story = await underway(await givenGuarded(app), 'How did sales go?', 'data-analysis')
    const { actionId } = await asks(story, 'list_data_sources')
    const { owner, runToken } = story
    await owner.do('recordActionResult', { actionId, runToken, ok: false }, 'action{ok}')
    expect((await completes(story)).run).toMatchObject({ state: 'COMPLETED', completion: 'UNSUPPORTED' })
    expect(await segmentOf(story)).toMatchObject({ state: 'COMPLETED' })
    expect(await inboxOf(story)).toEqual(['RUN_UNSUPPORTED'])
  })

  test('(d) thanks in that session is complete', async () => {
    const story = await underway(await givenGuarded(app), 'How did sales go?', 'data-analysis')
    await completes(story)
    await underway(story, '谢谢')
    expect((await completes(story)).run).toEqual({
      state: 'COMPLETED',
      completion: 'FULL',
      failureCode: null,
    })
    expect(await inboxOf(story)).toEqual([])
  })

  test('open goals of a strict protocol keep the run alive; a partial answer ends it', async () => {
    const story = await underway(await givenGuarded(app), 'How did sales go?', 'data-analysis')
    await does(story, 'list_data_sources')
    await needs(story, 'Name the best region.')
    const before = await last(story)
    const { owner, runId, runToken } = story
    const refused = await owner.mutate<{ code: string; open: string[] }>(
      'completeRun',
      { runId, runToken, answer: 'Done.' },
      '__typename} ...on Refused{open',
    )
    expect(refused).toMatchObject({
      __typename: 'Refused',
      code: 'COMPLETION_GOALS_OPEN',
      open: ['Name the best region.'],
    })
    expect(await typesAfter(story, before)).toEqual([])
    expect(await story.runNow()).toMatchObject({ state: 'RUNNING' })
    expect((await completes(story, { partial: true })).run).toMatchObject({ completion: 'PARTIAL' })
  })
})
