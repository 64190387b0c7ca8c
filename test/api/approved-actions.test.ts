import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { eventually } from '../kit/eventually.ts'
import { asks, does, givenGuarded, segmentOf, tells, typesAfter, underway } from '../kit/guarded.ts'
import { hear } from '../kit/signals.ts'
import type { Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

const tools = ['refunds.read', 'refunds.pay', 'refunds.close'].map((name) => ({
  name,
  group: 'DATA',
  action: name,
}))
const definition = `id: refund-review
version: 1
title: Refund review
initialPhase: look
staleIntent: BLOCK
phases:
  - name: look
    allowedActions: [refunds.read, refunds.pay]
    needsApproval: [refunds.pay]
    transitions:
      - { to: closing, on: { action: refunds.read } }
  - name: closing
    allowedActions: [refunds.close]
    final: true
governs: [refunds.*]
completion: { requiredFacts: {}, requirements: NONE, strict: false }
`

/** A run that may pay only when an owner allows it, and a session at a task. */
async function reviewing(): Promise<Story> {
  const story = await givenGuarded(app, tools)
  await story.owner.do(
    'registerProtocol',
    { projectId: story.projectId, definition, format: 'YAML' },
    'protocol{name}',
  )
  return underway(story, 'Pay order 17 back.', 'refund-review')
}
interface Line {
  decision: string
  code: string | null
  ok: boolean | null
}
const line = async ({ owner }: Story, actionId: string) =>
  (
    await owner.query<{ node: Line }>('query($id:ID!){node(id:$id){...on Action{decision code ok}}}', {
      id: actionId,
    })
  ).node
const answers = ({ owner }: Story, approvalId: string, decision: string) =>
  owner.do('resolveApproval', { approvalId, decision }, 'approval{state decision}')
const resolved = (signals: ReturnType<typeof hear>) =>
  eventually(() => {
    const heard = signals.items.find(({ __typename }) => __typename === 'ApprovalResolved')
    if (!heard) throw new Error('no answer was heard')
    return heard
  })
const last = async (story: Story) => (await story.journal()).at(-1)?.sequence ?? 0
/** Asks for the payment, which waits for an owner. */
async function waiting(story: Story) {
  const asked = await asks(story, 'refunds.pay', { argumentsDigest: 'sha256:17' })
  expect(asked).toMatchObject({ decision: 'NEEDS_APPROVAL', why: null })
  return { actionId: asked.actionId, approvalId: asked.approval?.id ?? '' }
}
const correct = async ({ owner, sessionId }: Story, applyTo: string) => {
  const { session } = await owner.query<{ session: { intent: { id: string } } }>(
    'query($id:ID!){session(id:$id){intent{id}}}',
    { id: sessionId },
  )
  await owner.do(
    'correctIntent',
    {
      sessionId,
      expectedHeadId: session.intent.id,
      text: 'Pay order 18 back.',
      note: 'Wrong order.',
      applyTo,
    },
    'intent{id}',
  )
}

describe('an action that needs an approval', () => {
  test('waits for an owner, its run with it, and is taken and closed once it is allowed', async () => {
    const story = await reviewing()
    const signals = hear(story.owner, story.runtimeId)
    const before = await last(story)
    const { actionId, approvalId } = await waiting(story)
    expect(await typesAfter(story, before)).toEqual(['ACTION_REQUESTED', 'APPROVAL_REQUESTED', 'RUN_WAITING'])
    expect(await line(story, actionId)).toEqual({ decision: 'NEEDS_APPROVAL', code: null, ok: null })
    // Nobody has allowed it: it has no result, and its run no end.
    expect(
      await story.owner.refused('recordActionResult', { actionId, runToken: story.runToken, ok: true }),
    ).toMatchObject({ code: 'CONFLICT' })

    await answers(story, approvalId, 'allow')
    expect(await line(story, actionId)).toEqual({ decision: 'ALLOWED', code: null, ok: null })
    const heard = await resolved(signals)
    expect(heard).toMatchObject({ decision: 'allow', approval: { id: approvalId } })
    await tells(story, actionId)
    expect(await line(story, actionId)).toEqual({ decision: 'ALLOWED', code: null, ok: true })
    expect((await story.writes.complete()).run.completion).toBe('FULL')
    await signals.stop()
  })

  test('is denied when the owner denies it', async () => {
    const story = await reviewing()
    const { actionId, approvalId } = await waiting(story)
    await answers(story, approvalId, 'deny')
    expect(await line(story, actionId)).toEqual({ decision: 'DENIED', code: 'APPROVAL_DENIED', ok: null })
    await story.writes.fail()
  })

  test('is denied when nobody answers in time', async () => {
    const story = await reviewing()
    const { actionId, approvalId } = await waiting(story)
    const { node } = await story.owner.query<{ node: { expiresAt: string } }>(
      'query($id:ID!){node(id:$id){...on Approval{expiresAt}}}',
      { id: approvalId },
    )
    await app.pass(Date.parse(node.expiresAt) - app.clock.now().getTime() + 1_000)
    expect(await line(story, actionId)).toEqual({ decision: 'DENIED', code: 'APPROVAL_DENIED', ok: null })
  })

  test('is never taken when its run ends first, and its ask is withdrawn', async () => {
    const story = await reviewing()
    const { actionId, approvalId } = await waiting(story)
    await story.owner.do('cancelRun', { runId: story.runId, reason: 'Enough.' }, 'run{state}')
    expect(await line(story, actionId)).toEqual({ decision: 'DENIED', code: 'APPROVAL_WITHDRAWN', ok: null })
    const { node } = await story.owner.query('query($id:ID!){node(id:$id){...on Approval{state}}}', {
      id: approvalId,
    })
    expect(node).toEqual({ state: 'WITHDRAWN' })
  })

  test.each<[string, string, (story: Story) => Promise<unknown>]>([
    ['the phase has moved on', 'ACTION_NOT_ALLOWED_IN_PHASE', (story) => does(story, 'refunds.read')],
    ['the task has been corrected for the next turn', 'INTENT_STALE', (story) => correct(story, 'NEXT_TURN')],
  ])(
    'that is allowed after %s is denied all the same, and the agent is told so',
    async (_when, code, moves) => {
      const story = await reviewing()
      const read = await asks(story, 'refunds.read')
      const { actionId, approvalId } = await waiting(story)
      const signals = hear(story.owner, story.runtimeId)
      if (code === 'INTENT_STALE') await moves(story)
      else await tells(story, read.actionId)
      await answers(story, approvalId, 'allow')
      expect(await line(story, actionId)).toEqual({ decision: 'DENIED', code, ok: null })
      const heard = await resolved(signals)
      expect(heard).toMatchObject({ decision: 'deny' })
      await signals.stop()
      await story.writes.fail()
    },
  )

  test('and a cancel at once: allowed and cancelled, or withdrawn, never left waiting', async () => {
    for (let round = 0; round < 4; round++) {
      const story = await reviewing()
      const { actionId, approvalId } = await waiting(story)
      const [allowed] = await Promise.allSettled([
        answers(story, approvalId, 'allow'),
        story.owner.do('cancelRun', { runId: story.runId, reason: 'Enough.' }, 'run{state}'),
      ])
      expect(await line(story, actionId)).toMatchObject(
        allowed.status === 'fulfilled'
          ? { decision: 'ALLOWED', code: null }
          : { decision: 'DENIED', code: 'APPROVAL_WITHDRAWN' },
      )
    }
  })
})

describe('an action of a run whose task was corrected for the next turn', () => {
  test('is INTENT_STALE where the protocol blocks it, and moves nothing', async () => {
    const story = await reviewing()
    await correct(story, 'NEXT_TURN')
    const [before, segment] = [await last(story), await segmentOf(story)]
    expect(await asks(story, 'refunds.read')).toMatchObject({ decision: 'DENIED', why: 'INTENT_STALE' })
    expect(await typesAfter(story, before)).toEqual(['ACTION_REQUESTED'])
    expect(await segmentOf(story)).toEqual(segment)
    await story.writes.fail()
  })

  test('is allowed when the live run was corrected too', async () => {
    const story = await reviewing()
    await correct(story, 'LIVE_RUN')
    expect(await asks(story, 'refunds.read')).toMatchObject({ decision: 'ALLOWED' })
    await story.writes.fail()
  })
})
