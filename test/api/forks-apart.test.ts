import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { eventually } from '../kit/eventually.ts'
import { fork, inside, latestCheckpoint, look, mark, newTask } from '../kit/forks.ts'
import { statements } from '../kit/statements.ts'
import { givenSession, type Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

const see = (id: string) => look(app.owner, id)
const latestOf = (sessionId: string) => latestCheckpoint(app.owner, sessionId)

describe('when a parent is deleted', () => {
  const remove = (story: Story, sessionId: string) =>
    story.owner.do<{ retainedHistory: boolean }>('deleteSession', { sessionId }, 'retainedHistory')
  const revisionsOf = async (story: Story) => {
    const where = await app.db.project.findFirstOrThrow({ where: { slug: story.slug } })
    return app.db.intentRevision.count({ where: { projectId: where.id } })
  }

  test('its forks and theirs are whole, and what was kept for them goes with the last of them', async () => {
    const story = await givenSession(app)
    await newTask(story, 'A task')
    await newTask(story, 'Another task')
    const [, first] = (await see(story.sessionId)).checkpoints.nodes
    const child = inside(story, await fork(story, { checkpointId: first?.id ?? '' }))
    const grandchild = inside(story, await fork(child, { checkpointId: (await mark(child)).id }))
    await grandchild.run('go on')
    await grandchild.writes.complete()
    const r1 = (await see(child.sessionId)).intent?.id
    await remove(story, story.sessionId)
    const before = await see(grandchild.sessionId)
    expect(before).toMatchObject({
      parent: { id: child.sessionId },
      intent: { id: r1, text: 'A task', session: null },
    })
    await remove(story, child.sessionId)
    const after = await see(grandchild.sessionId)
    expect({ ...after, parent: null, forkedFrom: null }).toEqual({
      ...before,
      parent: null,
      forkedFrom: null,
    })
    expect(after).toMatchObject({ parent: null, forkedFrom: { checkpoint: null, revision: { id: r1 } } })
    expect(await revisionsOf(story)).toBe(1)
    await newTask(grandchild, 'Its own task')
    expect((await see(grandchild.sessionId)).intent).toMatchObject({ previous: { id: r1 } })
    await remove(story, grandchild.sessionId)
    expect(await revisionsOf(story)).toBe(0)
  })

  test('together with all its forks, nothing of it is left, in whichever order they go', async () => {
    for (let round = 0; round < 6; round += 1) {
      const story = await givenSession(app)
      await newTask(story, 'A task')
      const { id: checkpointId } = await latestOf(story.sessionId)
      const forks = await Promise.all([1, 2, 3].map(() => fork(story, { checkpointId })))
      const [one = ''] = forks
      forks.push(await fork(inside(story, one), { checkpointId: (await mark(inside(story, one))).id }))
      const all = [story.sessionId, ...forks]
      await Promise.all(all.map((sessionId) => remove(story, sessionId)))
      expect(await revisionsOf(story)).toBe(0)
    }
  })

  test('while it is forked, the fork is there and whole, or is not', async () => {
    for (let round = 0; round < 6; round += 1) {
      const story = await givenSession(app)
      await newTask(story, 'A task')
      const input = { sessionId: story.sessionId, checkpointId: (await latestOf(story.sessionId)).id }
      const [made] = await Promise.all([
        story.owner.mutate<{ code?: string; session?: { id: string } }>('forkSession', input, 'session{id}'),
        remove(story, story.sessionId),
      ])
      if (made.code === undefined)
        expect(await see(made.session?.id ?? '')).toMatchObject({ intent: { text: 'A task' } })
      else expect(made.code).toBe('NOT_FOUND')
      expect(await revisionsOf(story)).toBe(made.code === undefined ? 1 : 0)
    }
  })
})

test('a fork while the parent’s run completes has its message and not half of its end', async () => {
  for (let round = 0; round < 8; round += 1) {
    const story = await givenSession(app)
    await newTask(story, 'A task')
    const { id: checkpointId } = await latestOf(story.sessionId)
    await story.run('go on')
    const [, made, marked] = await Promise.all([
      story.writes.complete({ answer: 'Went on.' }),
      fork(story, { checkpointId }),
      mark(story),
    ])
    expect((await see(made)).messages.nodes.map(({ text }) => text)).toEqual(['A task', 'Done.'])
    const texts = (await see(await fork(story, { checkpointId: marked.id }))).messages.nodes.map(
      ({ text }) => text,
    )
    expect([
      ['A task', 'Done.', 'go on'],
      ['A task', 'Done.', 'go on', 'Went on.'],
    ]).toContainEqual(texts)
  }
})

test('a fork in progress keeps nobody from writing to the parent, has nothing of that, and only its deletion waits', async () => {
  const story = await givenSession(app)
  await newTask(story, 'A task')
  const { id: checkpointId } = await latestOf(story.sessionId)
  await story.run('go on')
  const held = new pg.Client({ connectionString: app.databaseUrl })
  await held.connect()
  const waiting = async (count: number) => {
    const { rows } = await held.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    expect(rows).toHaveLength(count)
  }
  try {
    // A fork counts itself last of all: it has copied everything, and waits for the project's counts.
    await held.query('BEGIN')
    await held.query('SELECT 1 FROM project_load FOR UPDATE')
    const forking = fork(story, { checkpointId })
    await eventually(() => waiting(1))
    await story.writes.events({ type: 'INFO', payload: { n: 1 } })
    const { runId } = story
    await story.owner.do('steerRun', { runId, text: 'Only the north.' }, 'run{id}')
    const deleting = story.owner.mutate('deleteSession', { sessionId: story.sessionId }, '__typename')
    await eventually(() => waiting(2))
    await held.query('ROLLBACK')
    expect((await see(await forking)).messages.nodes.map(({ text }) => text)).toEqual(['A task', 'Done.'])
    // The run is alive: that it was refused shows that it had its turn.
    expect(await deleting).toMatchObject({ code: 'CONFLICT' })
  } finally {
    await held.end()
  }
  await story.writes.complete()
})

test('a fork of a long transcript costs no more statements than one of a short one', async () => {
  const story = await givenSession(app)
  await newTask(story, 'A task')
  const { id: short } = await latestOf(story.sessionId)
  for (let n = 0; n < 20; n += 1) await newTask(story, `Task ${n}`)
  const { id: long } = await latestOf(story.sessionId)
  const cost = (checkpointId: string) => statements(() => fork(story, { checkpointId }))
  const few = await cost(short)
  expect(await cost(long)).toBe(few)
  expect(few).toBeLessThan(20)
  // And the pages of forks and checkpoints of a list cost as much for all of its sessions as for one.
  const pages = (first: number) =>
    statements(() =>
      story.owner.query(
        'query($p:ID!,$n:Int){sessions(projectId:$p,first:$n){nodes{parent{id} forkedFrom{checkpoint{id} revision{text}} forks(first:3){nodes{id}} checkpoints(first:3){nodes{intent{text}}}}}}',
        { p: story.projectId, n: first },
      ),
    )
  for (let n = 0; n < 4; n += 1)
    await newTask(inside(story, await fork(story, { checkpointId: short })), 'Its own')
  expect(await pages(5)).toBe(await pages(2))
})
