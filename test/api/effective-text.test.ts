import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { does, givenGuarded, underway } from '../kit/guarded.ts'
import type { Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

const task = 'Which region sold best?'
interface About {
  text: string
  openRequirements: { id: string; text: string }[]
  requirementsWanted: boolean
}
const about = async ({ owner, runId }: Story) => {
  const { run } = await owner.query<{ run: { task: About } }>(
    'query($id:ID!){run(id:$id){task{text openRequirements{id text} requirementsWanted}}}',
    { id: runId },
  )
  return { ...run.task, openRequirements: run.task.openRequirements.map(({ text }) => text) }
}
async function atTask(requirements: string[]): Promise<Story> {
  const story = await givenGuarded(app)
  await story.owner.do(
    'correctIntent',
    { sessionId: story.sessionId, text: task, requirements, protocol: 'data-analysis', note: 'n' },
    'intent{id}',
  )
  return story
}
const reroute = ({ owner, runId }: Story, relation: string) =>
  owner.do('rerouteRun', { runId, relation, reason: 'It is so.' }, 'run{id}')
const required = 'Name the region.'

describe('what a turn is about', () => {
  test('goes on with the task: the task, never the few words that say so', async () => {
    const story = await underway(await atTask([required]), 'try again')
    expect(await about(story)).toEqual({
      text: `${task}\n- ${required}`,
      openRequirements: [required],
      requirementsWanted: false,
    })
    await story.writes.fail()
  })

  test('adds to the task: the task with what it adds', async () => {
    const story = await underway(await atTask([required]), 'Split it by quarter.')
    await reroute(story, 'REFINE')
    expect(await about(story)).toMatchObject({
      text: `${task}\n- ${required}\n- Split it by quarter.`,
      openRequirements: [required, 'Split it by quarter.'],
    })
    await story.writes.fail()
  })

  test('is another task: its message', async () => {
    const story = await underway(await atTask([required]), 'Write a README instead.', 'general-task')
    expect(await about(story)).toEqual({
      text: 'Write a README instead.',
      openRequirements: [],
      requirementsWanted: false,
    })
    await story.writes.fail()
  })

  test('leaves the task alone: its message, and nothing that the task requires', async () => {
    const story = await underway(await atTask([required]), 'Thanks.')
    expect(await about(story)).toEqual({
      text: 'Thanks.',
      openRequirements: [],
      requirementsWanted: false,
    })
    await story.writes.fail()
  })
})

test('what is met is open no more, and is said to be met', async () => {
  const story = await underway(await atTask([required]), 'try again')
  const { runId, runToken } = story
  const { run } = await story.owner.query<{ run: { task: About } }>(
    'query($id:ID!){run(id:$id){task{openRequirements{id text}}}}',
    { id: runId },
  )
  const { actionId } = await does(story, 'list_data_sources')
  const requirementId = run.task.openRequirements[0]?.id
  await story.owner.do('meetRequirement', { runId, runToken, requirementId, actionId }, 'requirement{id}')
  expect(await about(story)).toEqual({
    text: `${task}\n- [met] ${required}`,
    openRequirements: [],
    requirementsWanted: false,
  })
  await story.writes.fail()
})

test('requirements are wanted by a protocol that has them extracted, once, and not after the end', async () => {
  const story = await underway(await givenGuarded(app), task, 'data-analysis')
  expect((await about(story)).requirementsWanted).toBe(true)
  const { runId, runToken } = story
  await story.owner.do('commitRequirements', { runId, runToken, requirements: [required] }, 'intent{id}')
  expect((await about(story)).requirementsWanted).toBe(false)
  await story.writes.fail()
  const other = await underway(await givenGuarded(app), task, 'data-analysis')
  await other.writes.fail()
  expect((await about(other)).requirementsWanted).toBe(false)
})

test('a handoff that enters such a protocol with none asks for them again', async () => {
  const story = await underway(await givenGuarded(app), task)
  expect((await about(story)).requirementsWanted).toBe(false)
  const { runId, runToken } = story
  const answer = await story.owner.do<{ accepted: boolean; requirementsWanted: boolean }>(
    'proposeHandoff',
    { runId, runToken, to: 'data-analysis', reason: 'It is about data.' },
    'accepted requirementsWanted',
  )
  expect(answer).toMatchObject({ accepted: true, requirementsWanted: true })
  await story.writes.fail()
})
