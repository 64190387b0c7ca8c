import { connect, createServer, type Socket } from 'node:net'
import { Client as Integrator } from '@wheelhouse/server/examples/client'
import { type FollowedEvent, followTurn } from '@wheelhouse/server/examples/follow-turn'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { eventually } from '../kit/eventually.ts'
import { givenSession, type Story } from '../kit/story.ts'

let app: TestApp
let line: Line
beforeAll(async () => {
  app = await startApp()
  line = await openLine(app.url)
})
afterAll(async () => {
  await line.close()
  await app.close()
})

interface Line {
  url: string
  /** Breaks what is connected now, without a word to either side. Gives how much that was. */
  cut(): number
  /** Where it leads from now on. */
  leadTo(url: string): void
  close(): Promise<void>
}

/** A line to the server that can be cut. */
async function openLine(to: string): Promise<Line> {
  let target = new URL(to)
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    const far = connect(Number(target.port), target.hostname)
    for (const [one, other] of [
      [socket, far],
      [far, socket],
    ] as const) {
      open.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    cut() {
      const count = open.size
      for (const socket of open) socket.destroy()
      return count
    },
    leadTo(url) {
      target = new URL(url)
    },
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The run that a turn led to, taken by the story's runtime. */
async function takeRun(story: Story): Promise<void> {
  story.runId = await eventually(async () => {
    const { session } = await app.owner.query<{ session: { activeRun: { id: string } | null } }>(
      'query($id:ID!){session(id:$id){activeRun{id}}}',
      { id: story.sessionId },
    )
    if (!session.activeRun) throw new Error('no run yet')
    return session.activeRun.id
  })
  const { runToken } = await app.owner.do<{ runToken: string }>(
    'startRun',
    { runId: story.runId, runtimeId: story.runtimeId },
    'runToken',
  )
  story.runToken = runToken
}

describe('the example client', () => {
  test('case 03: follows a turn to its end through cut lines and another server, each event once and in order', async () => {
    const story = await givenSession(app)
    const other = await app.another()
    const integrator = new Integrator(line.url, app.owner.token)
    const seen: FollowedEvent[] = []
    const result = followTurn(integrator, story.sessionId, 'What sold best in May?', (event) =>
      seen.push(event),
    )
    await takeRun(story)
    for (let piece = 1; piece <= 12; piece += 1) {
      await story.writes.events({ type: 'ANSWER_DELTA', payload: { text: `${piece} ` } })
      if (piece === 6) line.leadTo(other.url)
      if (piece % 3 === 0) {
        // Cut only once it has come back, so that every cut breaks a watch.
        await eventually(() => seen.some(({ payload }) => payload.text === `${piece} `))
        expect(line.cut()).toBeGreaterThan(0)
      }
    }
    await story.writes.complete({})
    expect(await result).toEqual({
      runId: story.runId,
      state: 'COMPLETED',
      answer: '1 2 3 4 5 6 7 8 9 10 11 12 ',
    })
    // From what follows the receipt, which came with the offer, to the end of the run.
    const journal = (await story.journal()).map(({ sequence, type }) => ({ sequence, type }))
    const place = (of: string) => journal.findIndex(({ type }) => type === of) + 1
    expect(seen.map(({ sequence, type }) => ({ sequence, type }))).toEqual(
      journal.slice(place('RUN_OFFERED'), place('RUN_COMPLETED')),
    )
    expect(seen.map(({ type }) => type)).toContain('SEGMENT_ENDED')
    await other.close()
  })

  test('tells what became of a run that ended while nobody could be reached', async () => {
    const story = await givenSession(app)
    line.leadTo(app.url)
    const integrator = new Integrator(line.url, app.owner.token)
    const seen: string[] = []
    const result = followTurn(integrator, story.sessionId, 'What sold best?', ({ type }) => seen.push(type))
    await takeRun(story)
    await eventually(() => seen.includes('RUN_STARTED'))
    line.leadTo('http://127.0.0.1:9')
    line.cut()
    await app.owner.do('cancelRun', { runId: story.runId, reason: 'Never mind.' }, 'run{state}')
    line.leadTo(app.url)
    expect(await result).toEqual({ runId: story.runId, state: 'CANCELLED', answer: null })
    expect(seen.at(-1)).toBe('RUN_CANCELLED')
  })

  test('passes on why a turn was refused, at once', async () => {
    const story = await givenSession(app)
    await story.turn()
    const integrator = new Integrator(app.url, app.owner.token)
    await expect(followTurn(integrator, story.sessionId, 'And April?', () => {})).rejects.toMatchObject({
      code: 'SESSION_BUSY',
      retryable: true,
    })
    const stranger = new Integrator(app.url, 'wh_not-a-token-that-anybody-has')
    await expect(followTurn(stranger, story.sessionId, 'And April?', () => {})).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    })
  })

  test('ends with the session', async () => {
    const story = await givenSession(app)
    const integrator = new Integrator(app.url, app.owner.token)
    let started = false
    const result = followTurn(integrator, story.sessionId, 'What sold best?', () => {
      started = true
    })
    const outcome = result.catch((error: unknown) => error)
    await takeRun(story)
    await eventually(() => started)
    await app.owner.do('closeSession', { sessionId: story.sessionId, cancelActive: true }, 'session{state}')
    // The run's own end comes first: it was cancelled with the session.
    expect(await outcome).toMatchObject({ runId: story.runId, state: 'CANCELLED' })
  })
})
