import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { eventually } from '../kit/eventually.ts'
import { readDigest } from '../kit/hostile-digest.ts'
import { hear } from '../kit/signals.ts'
import { givenSession, type Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

const day = 24 * 3_600_000
const answer = (story: Story, approvalId: string, decision = 'allow') =>
  story.owner.do<{ run: { state: string } }>(
    'resolveApproval',
    { approvalId, decision },
    'approval{state decision} run{state}',
  )
const askNow = async (story: Story, id: string) => {
  const { node } = await story.owner.query<{ node: { state: string; decision: string | null } }>(
    'query($id:ID!){node(id:$id){...on Approval{state decision}}}',
    { id },
  )
  return node
}
const typesOf = async (story: Story) => (await story.journal()).map((event) => event.type)
const countOf = async (story: Story, type: string) =>
  (await typesOf(story)).filter((each) => each === type).length

describe('an ask', () => {
  test('case 20: nobody answers ends at its deadline with its declared default', async () => {
    const story = await (await givenSession(app)).run()
    const { id, expiresAt } = await story.writes.ask()
    expect(Date.parse(expiresAt)).toBe(app.clock.now().getTime() + day)
    await app.pass(day - 1)
    expect(await askNow(story, id)).toEqual({ state: 'OPEN', decision: null })
    expect(await story.runNow()).toMatchObject({ state: 'WAITING_APPROVAL', deadlineAt: null })
    await app.pass(1)
    expect(await askNow(story, id)).toEqual({ state: 'EXPIRED', decision: 'deny' })
    expect(await story.runNow()).toMatchObject({ state: 'RUNNING' })
    const heard = hear(story.owner, story.runtimeId)
    await eventually(() => heard.items.length === 2)
    expect(heard.items[1]).toMatchObject({
      __typename: 'ApprovalResolved',
      decision: 'deny',
      approval: { id },
    })
    await heard.stop()
    await story.writes.complete()
  })

  test('of a QUESTION ends with its own default, at its own deadline', async () => {
    const story = await (await givenSession(app)).run()
    const { id } = await story.writes.ask({
      kind: 'QUESTION',
      title: 'Which region?',
      payload: {},
      options: ['north', 'south'],
      defaultDecision: 'south',
      expiresAt: new Date(app.clock.now().getTime() + 5_000).toISOString(),
    })
    await app.pass(5_000)
    expect(await askNow(story, id)).toEqual({ state: 'EXPIRED', decision: 'south' })
    await story.writes.complete()
  })

  test('past its deadline takes no answer, though nobody has applied the default yet', async () => {
    const story = await (await givenSession(app)).run()
    const { id } = await story.writes.ask()
    app.clock.advance(day)
    const late = await story.owner.refused('resolveApproval', { approvalId: id, decision: 'allow' })
    expect(late).toMatchObject({ code: 'CONFLICT', current: { id } })
    expect(late.message).toContain('deny')
    await app.pass(0)
    expect(await askNow(story, id)).toEqual({ state: 'EXPIRED', decision: 'deny' })
    await story.writes.fail()
  })

  test('has one winner of twenty answers at once, over two servers; the others are told it', async () => {
    const other = await app.another()
    const story = await (await givenSession(app)).run()
    const heard = hear(story.owner, story.runtimeId)
    const { id } = await story.writes.ask()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? other.owner : app.owner).mutate<{ code: string; message: string; current: { id: string } }>(
          'resolveApproval',
          { approvalId: id, decision: n % 3 ? 'allow' : 'deny' },
          'approval{decision}',
        ),
      ),
    )
    const lost = answers.filter((each) => each.__typename === 'Conflict')
    expect(lost).toHaveLength(19)
    const { decision } = await askNow(story, id)
    for (const each of lost) {
      expect(each.current.id).toBe(id)
      expect(each.message).toContain(decision)
    }
    await eventually(() => heard.items.some((signal) => signal.__typename === 'ApprovalResolved'))
    expect(await countOf(story, 'APPROVAL_ANSWERED')).toBe(1)
    expect(await countOf(story, 'RUN_RESUMED')).toBe(1)
    await heard.stop()
    await story.writes.complete()
    await other.close()
  })

  test('case 24: gets only its own answer, however alike the next one is', async () => {
    const story = await (await givenSession(app)).run()
    const ask = { kind: 'TOOL', title: 'Delete it?', payload: { path: '/tmp/x' } }
    const first = await story.writes.ask(ask)
    await answer(story, first.id, 'allow')
    const second = await story.writes.ask(ask)
    expect(
      (await story.owner.refused('resolveApproval', { approvalId: first.id, decision: 'allow' })).code,
    ).toBe('CONFLICT')
    expect(await askNow(story, second.id)).toEqual({ state: 'OPEN', decision: null })
    expect((await answer(story, second.id, 'deny')).run.state).toBe('RUNNING')
    expect(await askNow(story, first.id)).toEqual({ state: 'ANSWERED', decision: 'allow' })
    await story.writes.complete()
  })

  test('is one of several that are open: the run goes on after the last answer', async () => {
    const story = await (await givenSession(app)).run()
    const asks = []
    for (let n = 0; n < 3; n += 1) asks.push((await story.writes.ask()).id)
    const complete = { runId: story.runId, runToken: story.runToken, answer: 'x' }
    expect((await answer(story, asks[1] as string)).run.state).toBe('WAITING_APPROVAL')
    expect((await story.owner.refused('completeRun', complete)).code).toBe('CONFLICT')
    expect((await answer(story, asks[0] as string)).run.state).toBe('WAITING_APPROVAL')
    expect((await answer(story, asks[2] as string)).run.state).toBe('RUNNING')
    expect(await countOf(story, 'RUN_WAITING')).toBe(1)
    expect(await countOf(story, 'RUN_RESUMED')).toBe(1)
    await story.writes.complete()
  })

  test('is withdrawn by the end of its run, and takes no answer any more', async () => {
    const story = await (await givenSession(app)).run()
    const asks = [await story.writes.ask(), await story.writes.ask()]
    await story.owner.do('cancelRun', { runId: story.runId, reason: 'enough' }, 'run{state}')
    for (const { id } of asks) {
      expect(await askNow(story, id)).toEqual({ state: 'WITHDRAWN', decision: null })
      expect((await story.owner.refused('resolveApproval', { approvalId: id, decision: 'allow' })).code).toBe(
        'CONFLICT',
      )
    }
    expect(await countOf(story, 'APPROVAL_WITHDRAWN')).toBe(2)
  })

  test('takes only one of its options; anything else writes nothing', async () => {
    const story = await (await givenSession(app)).run()
    const { id } = await story.writes.ask()
    const digest = await readDigest(app.db)
    const before = await digest()
    for (const decision of ['ALLOW', 'yes', 'allow ', ''])
      expect((await story.owner.refused('resolveApproval', { approvalId: id, decision })).code).toBe(
        'INVALID_INPUT',
      )
    expect(await digest()).toBe(before)
    await answer(story, id)
    await story.writes.complete()
  })

  test('case 21: outlives the server; the runtime that comes back finds its ask and its answer', async () => {
    const before = await app.another()
    const story = await (await givenSession(before)).run()
    const { id } = await story.writes.ask()
    await before.close()
    const after = await app.another()
    const read = 'query($id:ID!){run(id:$id){state approvals{id state decision}}}'
    expect(await after.owner.query(read, { id: story.runId })).toEqual({
      run: { state: 'WAITING_APPROVAL', approvals: [{ id, state: 'OPEN', decision: null }] },
    })
    await after.owner.do('resolveApproval', { approvalId: id, decision: 'allow' }, 'approval{id}')
    const heard = hear(after.owner, story.runtimeId)
    await eventually(() => heard.items.length === 2)
    expect(heard.items[1]).toMatchObject({ decision: 'allow', approval: { id }, run: { state: 'RUNNING' } })
    await heard.stop()
    const done = { runId: story.runId, runToken: story.runToken, answer: 'done' }
    await after.owner.do('completeRun', done, 'run{state}')
    await after.close()
  })

  test('case 22: is listed everywhere that it should be, and nowhere once it is answered', async () => {
    const story = await (await givenSession(app)).run()
    const { id } = await story.writes.ask()
    const listed = async () => {
      const { approvals, session, inbox, waits } = await story.owner.query<{
        approvals: { nodes: { id: string }[] }
        session: { openApprovals: number; approvals: { id: string }[] }
        inbox: { nodes: { subject: { id: string } }[] }
        waits: unknown[]
      }>(
        `query($p:ID!,$s:ID!){approvals(projectId:$p,open:true){nodes{id}} session(id:$s){openApprovals approvals(open:true){id}}
          inbox(projectId:$p){nodes{subject{id}}} waits(projectId:$p){__typename}}`,
        { p: story.projectId, s: story.sessionId },
      )
      return [
        approvals.nodes.map((each) => each.id),
        session.approvals.map((each) => each.id),
        inbox.nodes.map((each) => each.subject.id),
        session.openApprovals,
        waits.length,
      ]
    }
    expect(await listed()).toEqual([[id], [id], [id], 1, 1])
    await answer(story, id)
    expect(await listed()).toEqual([[], [], [], 0, 0])
    await story.writes.complete()
  })
})
