import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { correct, fork, inside, latestCheckpoint, look, mark, newTask } from '../kit/forks.ts'
import { givenSession, type Story } from '../kit/story.ts'

/*
 * Trees of forks, grown at random: turns, corrections, marks, forks of forks, deletions, forks while their parent goes
 * on. Each session must have the task and the transcript that it would have if nothing were shared.
 * `TEST_LONG=1` grows many more, `TEST_SEED` other ones.
 */
const long = process.env.TEST_LONG === '1'
const seed = Number(process.env.TEST_SEED ?? 20_261_201)

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

interface Place {
  task: string | null
  texts: string[]
}
/** A session as it must be, with the places at which it can be forked. */
interface Model extends Place {
  id: string
  checkpoints: (Place & { id: string })[]
  runs: (Place & { id: string })[]
}

const step = fc.record({
  verb: fc.constantFrom(
    'say',
    'say',
    'correct',
    'mark',
    'fork',
    'fork',
    'rewrite',
    'forkMeanwhile',
    'delete',
  ),
  /** Which session, and which of its places, counted round. */
  session: fc.nat(30),
  place: fc.nat(30),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const at = <T>(all: readonly T[], index: number): T | undefined => all[index % Math.max(1, all.length)]
const placeOf = ({ task, texts }: Place): Place => ({ task, texts: [...texts] })

/** Does one step to the sessions and to the model of them. */
async function take(story: Story, sessions: Model[], { verb, session, place }: Step, number: number) {
  const model = at(sessions, session)
  if (!model) return
  const here = inside(story, model.id)
  const grow = (id: string, from: Place) => sessions.push({ id, ...placeOf(from), checkpoints: [], runs: [] })
  const text = `task ${number}`
  switch (verb) {
    case 'say': {
      const before = placeOf(model)
      const id = await newTask(here, text, `answer ${number}`)
      model.runs.push({ id, ...before })
      model.task = text
      model.texts.push(text, `answer ${number}`)
      model.checkpoints.push({ id: (await latestCheckpoint(app.owner, model.id)).id, ...placeOf(model) })
      return
    }
    case 'correct':
      await correct(here, text)
      model.task = text
      return
    case 'mark':
      model.checkpoints.push({ id: (await mark(here)).id, ...placeOf(model) })
      return
    case 'fork': {
      const from = at(model.checkpoints, place)
      if (from) grow(await fork(here, { checkpointId: from.id }), from)
      return
    }
    case 'rewrite': {
      const from = at(model.runs, place)
      if (from) grow(await fork(here, { runId: from.id }), from)
      return
    }
    case 'forkMeanwhile': {
      const from = at(model.checkpoints, place)
      if (!from) return
      const [id] = await Promise.all([fork(here, { checkpointId: from.id }), correct(here, text)])
      model.task = text
      grow(id, from)
      return
    }
    case 'delete':
      if (sessions.length === 1) return
      await app.owner.do('deleteSession', { sessionId: model.id }, 'deletedId')
      sessions.splice(sessions.indexOf(model), 1)
      return
    default:
      return verb satisfies never
  }
}

/** The task that a journal alone tells of. */
async function replayed(story: Story, id: string): Promise<unknown> {
  let head: unknown = null
  for (const { type, payload } of await story.journal(id))
    if (type === 'INTENT_REVISED' || type === 'SESSION_FORKED') head = payload.revisionId
  return head
}

test(
  'no fork, nor a fork of it, ever sees what its parent does later, whatever is done in whichever order',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: long ? 60 : 24 }), async (steps) => {
        const story = await givenSession(app)
        const sessions: Model[] = [{ id: story.sessionId, task: null, texts: [], checkpoints: [], runs: [] }]
        for (const [number, each] of steps.entries()) await take(story, sessions, each, number)
        for (const { id, task, texts } of sessions) {
          const seen = await look(app.owner, id)
          expect([seen.intent?.text ?? null, seen.messages.nodes.map((message) => message.text)]).toEqual([
            task,
            texts,
          ])
          expect(await replayed(story, id)).toBe(seen.intent?.id ?? null)
        }
        expect(await audit(app.databaseUrl)).toEqual([])
        for (const { id } of sessions) await app.owner.do('deleteSession', { sessionId: id }, 'deletedId')
        const { id: projectId } = await app.db.project.findFirstOrThrow({ where: { slug: story.slug } })
        expect(await app.db.intentRevision.count({ where: { projectId } })).toBe(0)
      }),
      { seed, numRuns: long ? 200 : 6, endOnFailure: !long },
    )
  },
  long ? 3_600_000 : 120_000,
)
