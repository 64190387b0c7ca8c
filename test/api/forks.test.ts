import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { succeededAction } from '../kit/actions.ts'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import type { Client } from '../kit/client.ts'
import { copied, correct, fork, inside, latestCheckpoint, look, mark, newTask } from '../kit/forks.ts'
import { principalWith } from '../kit/hostile-world.ts'
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

describe('S3: forks', () => {
  test('a child and a grandchild keep the task that they were forked at, whatever their parents do', async () => {
    const story = await givenSession(app)
    await newTask(story, 'Analyse sales by region')
    const r1 = (await see(story.sessionId)).intent?.id
    expect(r1).toBeDefined()
    const child = inside(story, await fork(story, { checkpointId: (await latestOf(story.sessionId)).id }))
    const grandchild = inside(story, await fork(child, { checkpointId: (await mark(child)).id }))
    await newTask(story, 'Write a README instead')
    await newTask(child, 'Count the orders')
    const [parentNow, childNow, grandchildNow] = await Promise.all(
      [story, child, grandchild].map(({ sessionId }) => see(sessionId)),
    )
    expect(grandchildNow?.intent).toMatchObject({ id: r1, text: 'Analyse sales by region' })
    expect(childNow?.intent).toMatchObject({ text: 'Count the orders', previous: { id: r1 } })
    expect(parentNow?.intent).toMatchObject({ text: 'Write a README instead', previous: { id: r1 } })
    // And a turn of the grandchild goes on with it.
    await grandchild.turn('go on')
    const { run } = await story.owner.query<{
      run: { binding: { base: { id: string }; active: { id: string }; relation: string } }
    }>('query($id:ID!){run(id:$id){binding{base{id} active{id} relation}}}', { id: grandchild.runId })
    expect(run.binding).toEqual({ base: { id: r1 }, active: { id: r1 }, relation: 'CONTINUE' })
    await story.owner.do('cancelRun', { runId: grandchild.runId, reason: 'seen' }, 'run{id}')
  })

  test('a run that is rewritten starts at the task before it, its message left out', async () => {
    const story = await givenSession(app)
    await newTask(story, 'Analyse sales by region')
    const r1 = (await see(story.sessionId)).intent?.id
    const runId = await newTask(story, 'Write a README instead')
    const before = await see(story.sessionId)
    const again = await see(await fork(story, { runId }))
    expect(again.intent?.id).toBe(r1)
    expect(again.messages.nodes.map(({ text }) => text)).toEqual(['Analyse sales by region', 'Done.'])
    expect(again.forkedFrom).toEqual({ checkpoint: null, run: { id: runId }, revision: { id: r1 } })
    // Of a first run: nothing at all.
    const { session } = await story.owner.query<{ session: { runs: { nodes: { id: string }[] } } }>(
      'query($id:ID!){session(id:$id){runs(first:10){nodes{id}}}}',
      { id: story.sessionId },
    )
    const fromTheStart = await see(await fork(story, { runId: session.runs.nodes.at(-1)?.id ?? '' }))
    expect([fromTheStart.intent, fromTheStart.messages.nodes, fromTheStart.eventCount]).toEqual([null, [], 2])
    expect((await see(story.sessionId)).eventCount).toBe(before.eventCount)
  })
})

describe('a fork', () => {
  test('case 27: sees the history to its point, and writes only to itself', async () => {
    const story = await givenSession(app)
    await newTask(story, 'First question', 'First answer')
    const { id: checkpointId } = await latestOf(story.sessionId)
    await newTask(story, 'Second question', 'Second answer')
    const parent = await see(story.sessionId)
    const journal = await story.journal()
    const child = inside(story, await fork(story, { checkpointId }))
    const made = await see(child.sessionId)
    expect(copied(made.messages.nodes)).toEqual(copied(parent.messages.nodes.slice(0, 2)))
    expect(made.messages.nodes.map(({ run, answers }) => ({ run, answers }))).toEqual([
      { run: null, answers: null },
      { run: null, answers: { text: 'First question', session: { id: child.sessionId } } },
    ])
    expect(made).toMatchObject({ state: 'OPEN', generation: 1, runCount: 0, messageCount: 2 })
    expect(made).toMatchObject({
      parent: { id: story.sessionId },
      title: parent.title,
      intent: { text: 'First question' },
    })
    expect((await see(story.sessionId)).forks.nodes).toEqual([{ id: child.sessionId }])
    // What its runtime gets with the next message.
    await child.turn('go on')
    const { runtimeSignals } = await offerOf(child)
    expect(runtimeSignals.window.map(({ text }) => text)).toEqual(['First question', 'First answer'])
    await story.owner.do('cancelRun', { runId: child.runId, reason: 'seen' }, 'run{id}')
    const after = await see(story.sessionId)
    expect({ ...after, forks: null }).toEqual({ ...parent, forks: null })
    expect(await story.journal()).toEqual(journal)
  })
  async function offerOf(story: Story) {
    const watch = story.owner.watch<{ __typename: string; run: { id: string }; window: { text: string }[] }>(
      'subscription($id:ID!){runtimeSignals(runtimeId:$id){__typename ...on RunOffer{run{id} window{text}}}}',
      { id: story.runtimeId },
    )
    const runtimeSignals = await new Promise<(typeof watch.items)[number]>((resolve) => {
      const take = (item: (typeof watch.items)[number]) => item.run?.id === story.runId && resolve(item)
      for (const item of watch.items) take(item)
      watch.onItem(take)
    })
    await watch.stop()
    return { runtimeSignals }
  }

  test('has a journal of its own, and no news for the project but itself', async () => {
    const story = await givenSession(app)
    await newTask(story, 'A question', 'An answer')
    const child = await fork(story, {
      checkpointId: (await latestOf(story.sessionId)).id,
      title: 'Another way',
    })
    const journal = await story.journal(child)
    expect(journal.map(({ sequence, type }) => [sequence, type])).toEqual([
      [1, 'SESSION_CREATED'],
      [2, 'SESSION_FORKED'],
      [3, 'MESSAGE'],
      [4, 'MESSAGE'],
    ])
    expect(journal[1]?.payload).toMatchObject({
      parentId: story.sessionId,
      title: 'Another way',
      messages: 2,
    })
    const { messages } = await see(child)
    expect(journal.slice(2).map(({ payload }) => payload)).toMatchObject(
      messages.nodes.map(({ id, text, at, author }) => ({
        messageId: id,
        text,
        at,
        author: author.id,
        runId: null,
      })),
    )
    const { project } = await story.owner.query<{
      project: { events: { events: { type: string; sessionId: string }[] } }
    }>('query($id:ID!){project(id:$id){events(first:500){events{type sessionId}}}}', { id: story.projectId })
    expect(
      project.events.events.filter(({ sessionId }) => sessionId === child).map(({ type }) => type),
    ).toEqual(['SESSION_CREATED', 'SESSION_FORKED'])
    const entry = await app.db.auditEntry.findFirstOrThrow({
      where: { action: 'session.fork' },
      orderBy: { id: 'desc' },
    })
    expect(entry).toMatchObject({ subjectId: child, detail: { parentId: story.sessionId, messages: 2 } })
  })

  test('begins with what had become of the requirements there; neither sees what the other does later', async () => {
    const story = await givenSession(app)
    const meet = async (at: Story, text: string) => {
      const { session } = await at.owner.query<{
        session: { intent: { requirements: { id: string; text: string }[] } }
      }>('query($id:ID!){session(id:$id){intent{requirements{id text}}}}', { id: at.sessionId })
      const requirement = session.intent.requirements.find((each) => each.text === text)
      await at.run('go on')
      await at.owner.do(
        'meetRequirement',
        {
          runId: at.runId,
          runToken: at.runToken,
          requirementId: requirement?.id,
          actionId: await succeededAction(app, at.runId),
        },
        'requirement{state}',
      )
      await at.writes.complete()
    }
    const states = async (id: string) =>
      (await see(id)).intent?.requirements.map(({ text, state }) => `${text} ${state}`)
    await correct(story, 'Sales', { requirements: ['by region', 'by month'] })
    await meet(story, 'by region')
    const first = await latestOf(story.sessionId)
    const firstRun = story.runId
    await meet(story, 'by month')
    const child = inside(story, await fork(story, { checkpointId: first.id }))
    const before = await fork(story, { runId: firstRun })
    expect(await states(story.sessionId)).toEqual(['by region MET', 'by month MET'])
    expect(await states(child.sessionId)).toEqual(['by region MET', 'by month OPEN'])
    expect(await states(before)).toEqual(['by region OPEN', 'by month OPEN'])
    expect((await see(child.sessionId)).intent?.rendering).toBe('Sales\n- [met] by region\n- by month')
    const grandchild = await fork(child, { checkpointId: (await mark(child)).id })
    // The child's own revision, and the one before it, which is its parent's, are both as the child sees them.
    await correct(child, 'Sales and costs', {})
    await meet(child, 'by month')
    const seen = [
      { text: 'by region', state: 'MET' },
      { text: 'by month', state: 'MET' },
    ]
    expect((await see(child.sessionId)).intent).toMatchObject({
      requirements: seen,
      previous: { requirements: seen },
    })
    expect(await states(grandchild)).toEqual(['by region MET', 'by month OPEN'])
    // What a run of the fork is bound to says the same, though the revision is its parent's.
    const other = inside(story, before)
    await other.turn('go on')
    const { run } = await story.owner.query<{
      run: { binding: { active: { requirements: { state: string }[] } } }
    }>('query($id:ID!){run(id:$id){binding{active{requirements{state}}}}}', { id: other.runId })
    expect(run.binding.active.requirements).toEqual([{ state: 'OPEN' }, { state: 'OPEN' }])
    await story.owner.do('cancelRun', { runId: other.runId, reason: 'seen' }, 'run{id}')
  })

  test('has a text that is too large for one event whole in its transcript', async () => {
    const story = await (await givenSession(app, { maxEventBytes: 1_024 })).run('A long answer, please')
    const answer = '漢'.repeat(250)
    for (let n = 0; n < 4; n += 1)
      await story.writes.events({ type: 'ANSWER_DELTA', payload: { text: answer } })
    await story.writes.complete({})
    const child = await fork(story, { checkpointId: (await latestOf(story.sessionId)).id })
    expect((await see(child)).messages.nodes.at(-1)?.text).toBe(answer.repeat(4))
    const told = (await story.journal(child)).at(-1)?.payload
    expect(told).toMatchObject({ streamed: true })
    expect(told).not.toHaveProperty('text')
  })

  test('of a closed session is open, with its parent’s model settings', async () => {
    const story = await givenSession(app)
    await newTask(story, 'A question')
    const { sessionId } = story
    await story.owner.do('updateSessionSettings', { sessionId, model: 'large' }, 'session{id}')
    await story.owner.do('closeSession', { sessionId }, 'session{id}')
    const child = await see(await fork(story, { checkpointId: (await latestOf(sessionId)).id }))
    expect(child).toMatchObject({ state: 'OPEN', model: 'large' })
  })
})

describe('a checkpoint', () => {
  test('is left by each completed run, or made with a label, and says where the session was', async () => {
    const story = await givenSession(app)
    const empty = await mark(story, 'the beginning')
    expect(empty).toMatchObject({
      number: 1,
      label: 'the beginning',
      messageSequence: 0,
      run: null,
      intent: null,
    })
    const runId = await newTask(story, 'A question')
    await (await story.run('And another')).writes.fail()
    const { checkpoints, messages, intent } = await see(story.sessionId)
    expect(checkpoints.nodes.map(({ number }) => number)).toEqual([2, 1])
    expect(checkpoints.nodes[0]).toMatchObject({
      run: { id: runId },
      label: null,
      messageSequence: messages.nodes[1]?.sequence,
      intent: { id: intent?.id },
    })
    const { node } = await story.owner.query(
      'query($id:ID!){node(id:$id){...on Checkpoint{number session{id} by{id} at}}}',
      {
        id: empty.id,
      },
    )
    expect(node).toMatchObject({ number: 1, session: { id: story.sessionId } })
    const page = (after?: string) =>
      story.owner.query<{
        session: { checkpoints: { nodes: { number: number }[]; pageInfo: { endCursor: string } } }
      }>(
        'query($id:ID!,$after:String){session(id:$id){checkpoints(first:1,after:$after){nodes{number} pageInfo{endCursor}}}}',
        { id: story.sessionId, after },
      )
    const { session } = await page()
    expect((await page(session.checkpoints.pageInfo.endCursor)).session.checkpoints.nodes).toEqual([
      { number: 1 },
    ])
  })

  test('made again under one key is made once, and so is a fork', async () => {
    const story = await givenSession(app)
    const input = { sessionId: story.sessionId, idempotencyKey: 'here' }
    const made = await Promise.all(
      Array.from({ length: 6 }, () =>
        story.owner.do<{ checkpoint: { id: string } }>('createCheckpoint', input, 'checkpoint{id}'),
      ),
    )
    expect(new Set(made.map(({ checkpoint }) => checkpoint.id)).size).toBe(1)
    const from = { checkpointId: made[0]?.checkpoint.id ?? '', idempotencyKey: 'there' }
    const forks = await Promise.all(Array.from({ length: 6 }, () => fork(story, from)))
    expect(new Set(forks).size).toBe(1)
    expect((await see(story.sessionId)).forks.nodes).toHaveLength(1)
    const other = { sessionId: story.sessionId, ...from, title: 'Other' }
    expect((await story.owner.refused('forkSession', other)).code).toBe('IDEMPOTENCY_CONFLICT')
  })
})

describe('a fork is refused, and nothing is written,', () => {
  test('of no place, of two, of one that is not the session’s, and of whom it is not for', async () => {
    const story = await givenSession(app)
    const runId = await newTask(story, 'A question')
    const { id: checkpointId } = await latestOf(story.sessionId)
    const elsewhere = await givenSession(app)
    const foreignRun = await newTask(elsewhere, 'Another')
    const foreign = await latestOf(elsewhere.sessionId)
    const { sessionId } = story
    const sibling = (await inside(story, '').session()).sessionId
    const before = await app.db.session.count()
    const codes = []
    for (const input of [
      { sessionId },
      { sessionId, checkpointId, runId },
      { sessionId, checkpointId: foreign.id },
      { sessionId, runId: foreignRun },
      { sessionId: sibling, checkpointId },
      { sessionId: sibling, runId },
    ])
      codes.push((await story.owner.refused('forkSession', input)).code)
    expect(codes).toEqual([
      'INVALID_INPUT',
      'INVALID_INPUT',
      'NOT_FOUND',
      'NOT_FOUND',
      'NOT_FOUND',
      'NOT_FOUND',
    ])
    const grants = [{ capabilities: ['session.read', 'session.create'], projectId: story.projectId }]
    const { client } = await principalWith(app, 'reader', grants)
    expect((await client.refused('forkSession', { sessionId, checkpointId })).code).toBe('PERMISSION_DENIED')
    expect((await client.refused('createCheckpoint', { sessionId })).code).toBe('PERMISSION_DENIED')
    expect(await app.db.session.count()).toBe(before)
  })

  test('CAPACITY at the project’s limit of open sessions, also of many at once', async () => {
    const story = await givenSession(app, { maxOpenSessions: 3 })
    const { id: checkpointId } = await mark(story)
    const input = { sessionId: story.sessionId, checkpointId }
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        story.owner.mutate<{ code?: string }>('forkSession', input, '__typename'),
      ),
    )
    expect(answers.filter(({ code }) => code === undefined)).toHaveLength(2)
    expect(answers.filter(({ code }) => code === 'CAPACITY')).toHaveLength(6)
    expect((await see(story.sessionId)).forks.nodes).toHaveLength(2)
  })
})

describe('for somebody who sees', () => {
  test('only the fork, its parent is not there, and nothing of it but the task', async () => {
    const story = await givenSession(app)
    await newTask(story, 'A question')
    const child = await fork(story, { checkpointId: (await latestOf(story.sessionId)).id })
    const hidden = await fork(story, { checkpointId: (await latestOf(story.sessionId)).id })
    const capabilities = ['session.read', 'event.read']
    const only = (sessionId: string) =>
      principalWith(app, `only ${sessionId}`, [{ capabilities, projectId: story.projectId, sessionId }])
    const ofChild = await look((await only(child)).client, child)
    expect(ofChild).toMatchObject({
      parent: null,
      intent: { text: 'A question', session: null, message: null },
      forkedFrom: { checkpoint: null, run: null },
    })
    expect(ofChild.messages.nodes).toHaveLength(2)
    // Of the parent: it has no forks that this one can see.
    const ofParent = await look((await only(story.sessionId)).client, story.sessionId)
    expect(ofParent.forks.nodes).toEqual([])
    expect((await see(story.sessionId)).forks.nodes.map(({ id }) => id)).toEqual([hidden, child])
  })

  test('only the fork, its task is there, and the one that it began with, but none of before', async () => {
    const story = await givenSession(app)
    const said = await correct(story, 'What the owner says of it first')
    await newTask(story, 'A question')
    const r2 = (await see(story.sessionId)).intent?.id
    const child = inside(story, await fork(story, { checkpointId: (await latestOf(story.sessionId)).id }))
    const { client } = await principalWith(app, 'only the fork', [
      { capabilities: ['session.read'], projectId: story.projectId, sessionId: child.sessionId },
    ])
    const chain = async (by: Client) => {
      const { session } = await by.query<{ session: { intent: { id: string; previous: unknown } } }>(
        'query($id:ID!){session(id:$id){intent{id previous{id previous{id previous{id}}}}}}',
        { id: child.sessionId },
      )
      return session.intent
    }
    expect(await chain(client)).toEqual({ id: r2, previous: null })
    expect(await chain(app.owner)).toEqual({ id: r2, previous: { id: said, previous: null } })
    const own = await correct(child, 'Its own task')
    expect(await chain(client)).toEqual({ id: own, previous: { id: r2, previous: null } })
    expect(await chain(app.owner)).toMatchObject({ id: own, previous: { id: r2, previous: { id: said } } })
  })
})
