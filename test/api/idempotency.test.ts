import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { principalWith } from '../kit/hostile-world.ts'
import { givenSession } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterEach(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
})
afterAll(() => app.close())

describe('S11: an idempotency key', () => {
  test('that was refused may be tried again; its success is replayed from two servers at once, done once', async () => {
    const other = await app.another()
    const story = await givenSession(app, { maxConcurrentRuns: 1, maxLiveRunsPerSession: 2 })
    await story.run()
    const turn = { sessionId: story.sessionId, text: 'Again?', idempotencyKey: 'turn-1' }
    expect((await story.owner.refused('submitTurn', turn)).code).toBe('CAPACITY')
    await story.writes.complete()
    const submit = (owner = app.owner, input: object = turn) =>
      owner.do<{ run: { id: string; state: string }; cursor: number; route: { id: string } }>(
        'submitTurn',
        input,
        'run{id state} cursor route{id}',
      )
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) => submit(n % 2 ? other.owner : app.owner)),
    )
    const [first] = answers
    for (const each of answers) expect(each).toEqual(first)
    expect((await story.journal()).filter((event) => event.type === 'RUN_OFFERED')).toHaveLength(2)
    // What the ids lead to is read as it is now.
    await story.owner.do('cancelRun', { runId: first?.run.id, reason: 'x' }, 'run{state}')
    expect(await submit(other.owner)).toEqual({ ...first, run: { id: first?.run.id, state: 'CANCELLED' } })
    const conflict = { ...turn, text: 'Something else' }
    expect((await story.owner.refused('submitTurn', conflict)).code).toBe('IDEMPOTENCY_CONFLICT')
    expect((await other.owner.refused('submitTurn', { ...turn, expectedGeneration: 1 })).code).toBe(
      'IDEMPOTENCY_CONFLICT',
    )
    await other.close()
  })

  test('replays a decision, and what a fenced run has done', async () => {
    const story = await (await givenSession(app)).run()
    const { runId, runToken } = story
    const ask = { runId, runToken, kind: 'TOOL', title: 'May I?', payload: { n: 1 }, idempotencyKey: 'ask' }
    const asked = await Promise.all(
      Array.from({ length: 8 }, () =>
        story.owner.do<{ approval: { id: string } }>('requestApproval', ask, 'approval{id}'),
      ),
    )
    expect(new Set(asked.map((each) => each.approval.id)).size).toBe(1)
    const resolve = { approvalId: asked[0]?.approval.id, decision: 'allow', idempotencyKey: 'answer' }
    for (let n = 0; n < 3; n += 1)
      expect(await story.owner.do('resolveApproval', resolve, 'approval{state decision}')).toMatchObject({
        approval: { state: 'ANSWERED', decision: 'allow' },
      })
    expect((await story.owner.refused('resolveApproval', { ...resolve, decision: 'deny' })).code).toBe(
      'IDEMPOTENCY_CONFLICT',
    )
    const done = { runId, runToken, answer: 'Done.', idempotencyKey: 'done' }
    for (let n = 0; n < 3; n += 1)
      expect(await story.owner.do('completeRun', done, 'run{state answer{text}}')).toMatchObject({
        run: { state: 'COMPLETED', answer: { text: 'Done.' } },
      })
    expect((await story.journal()).filter((event) => event.type === 'MESSAGE')).toHaveLength(2)
  })

  test('writes a batch of events once, however often it is sent', async () => {
    const story = await (await givenSession(app)).run()
    const { runId, runToken } = story
    const events = [1, 2, 3].map((n) => ({ type: 'INFO', payload: { n } }))
    const batch = { runId, runToken, events, idempotencyKey: 'batch' }
    const before = await story.latest()
    const cursors = await Promise.all(
      Array.from({ length: 10 }, () =>
        story.owner.do<{ cursor: number }>('recordRunEvents', batch, 'cursor'),
      ),
    )
    expect(new Set(cursors.map((each) => each.cursor))).toEqual(new Set([before + 3]))
    expect(await story.latest()).toBe(before + 3)
    await story.writes.complete()
  })

  test('used for two inputs at once does one of them, and tells every other that it is not this one', async () => {
    const other = await app.another()
    const [owner] = [app.owner]
    const story = await (await givenSession(app, { maxLiveRunsPerSession: 8, maxConcurrentRuns: 8 })).run()
    const { runId, runToken, sessionId, projectId } = story
    const ask = await story.writes.ask()
    // The operation, its input but for what differs, what differs, and how many events one of them writes.
    const races: [string, object, object[], number][] = [
      [
        'recordRunEvents',
        { runId, runToken },
        ['a', 'b'].map((text) => ({ events: [{ type: 'INFO', payload: { text } }] })),
        1,
      ],
      ['steerRun', { runId }, [{ text: 'left' }, { text: 'right' }], 2],
      ['submitTurn', { sessionId }, [{ text: 'one' }, { text: 'two' }], 4],
      ['createSession', { projectId }, [{ title: 'one' }, { title: 'two' }], 0],
      ['recordUsage', { runId, runToken }, [{ inputTokens: 1 }, { inputTokens: 2 }], 1],
      ['resolveApproval', { approvalId: ask.id }, [{ decision: 'allow' }, { decision: 'deny' }], 2],
    ]
    for (const [operation, same, inputs, written] of races) {
      const before = (await story.journal()).length
      const name = `${operation[0]?.toUpperCase()}${operation.slice(1)}`
      const document = `mutation($input:${name}Input!){result:${operation}(input:$input){__typename ...on Problem{code}}}`
      const outcomes = await Promise.all(
        Array.from({ length: 16 }, async (_, n) => {
          const input = { ...same, ...inputs[n % 2], idempotencyKey: `race-${operation}` }
          const { data, errors } = await (n % 4 < 2 ? owner : other.owner).request<{
            result: { __typename: string; code?: string }
          }>(document, { input })
          expect(errors, operation).toBeUndefined()
          return { of: n % 2, code: data?.result.code ?? data?.result.__typename }
        }),
      )
      const codesOf = (of: number) => [
        ...new Set(outcomes.filter((each) => each.of === of).map(({ code }) => code)),
      ]
      const won = codesOf(0).includes(`${name}Success`) ? 0 : 1
      expect([operation, codesOf(won), codesOf(1 - won)]).toEqual([
        operation,
        [`${name}Success`],
        ['IDEMPOTENCY_CONFLICT'],
      ])
      expect((await story.journal()).length - before, operation).toBe(written)
    }
    await other.close()
  })

  test('is one caller’s own, and one operation’s', async () => {
    const story = await givenSession(app)
    const second = await principalWith(app, 'second', [
      { capabilities: ['project.own'], projectId: story.projectId },
    ])
    const input = { projectId: story.projectId, title: 'One', idempotencyKey: 'k' }
    const make = (client = story.owner, more: object = {}) =>
      client.do<{ session: { id: string } }>('createSession', { ...input, ...more }, 'session{id}')
    const ids = new Set([(await make()).session.id, (await make()).session.id])
    expect(ids.size).toBe(1)
    ids.add((await make(second.client)).session.id)
    expect(ids.size).toBe(2)
    await story.owner.do('createProject', { name: 'Other', idempotencyKey: 'k' }, 'project{id}')
  })

  test('of at most 128 bytes is taken, a longer one refused', async () => {
    const story = await givenSession(app)
    const make = (idempotencyKey: string) =>
      story.owner.mutate('createSession', { projectId: story.projectId, idempotencyKey }, '__typename')
    expect((await make('k'.repeat(128))).__typename).toBe('CreateSessionSuccess')
    expect((await make('é'.repeat(64))).__typename).toBe('CreateSessionSuccess')
    expect((await make('k'.repeat(129))).__typename).toBe('InvalidInput')
    expect((await make('é'.repeat(65))).__typename).toBe('InvalidInput')
    expect((await make('')).__typename).toBe('InvalidInput')
  })
})
