import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { type ModelServer, startModel } from '../kit/model.ts'
import { type ServerProcess, type Servers, startServers } from '../kit/servers.ts'
import { flawsOf } from '../kit/task-checks.ts'
import { type Deed, does, type Verb, verbs } from '../kit/task-verbs.ts'
import { givenTasks, modelAnswer } from '../kit/task-world.ts'

/*
 * Histories at random of all that may happen to the tasks of sessions and their forks, several things at once by way of
 * two servers, one of which is now and then killed in the middle of it and comes back while the other goes on. When it
 * has become quiet, everything must hold. `TEST_LONG=1` goes on for many more, `TEST_SEED` takes other ones.
 */
const long = process.env.TEST_LONG === '1'
const seed = Number(process.env.TEST_SEED ?? 20_261_201)
const histories = long ? 150 : 10

let world: Servers
let model: ModelServer
beforeAll(async () => {
  model = await startModel()
  model.answers(modelAnswer)
  world = await startServers(2, { WHEELHOUSE_MODEL_URL: model.url, WHEELHOUSE_MODEL_NAME: 'test' })
}, 120_000)
afterAll(async () => {
  await world.close()
  await model.close()
}, 120_000)

const often: Partial<Record<Verb, number>> = {
  act: 8,
  meet: 2,
  tell: 3,
  answer: 4,
  handOff: 2,
  proposeCorrection: 2,
  related: 3,
  require: 3,
  newTask: 2,
  open: 2,
  correct: 2,
  fork: 2,
}
const deed = fc.record<Deed>({
  verb: fc.oneof(...verbs.map((verb) => ({ arbitrary: fc.constant(verb), weight: often[verb] ?? 1 }))),
  session: fc.nat(30),
  run: fc.nat(30),
  choice: fc.nat(1_000),
})
const moment = fc.record({
  /** What is done at once, each by way of one of the servers. */
  deeds: fc.array(fc.tuple(deed, fc.nat(1)), { minLength: 1, maxLength: 5 }),
  /** Which server is killed, after how many of them are done; mostly none. */
  kill: fc.oneof(
    { arbitrary: fc.constant(null), weight: 20 },
    { arbitrary: fc.tuple(fc.nat(1), fc.nat(3)), weight: 1 },
  ),
})

test(
  `whatever is done to tasks, in whichever order, the journal alone tells how they stand (seed ${seed})`,
  async () => {
    const outcomes = new Map<string, number>()
    const property = fc.asyncProperty(
      fc.boolean(),
      fc.array(moment, { minLength: 20, maxLength: 40 }),
      async (confirms, moments) => {
        const first = world.servers[0] as ServerProcess
        const tasks = await givenTasks(first.owner, confirms)
        let back: { server: ServerProcess; started: Promise<void> } | null = null
        const serving = () => world.servers.filter((server) => server !== back?.server)
        for (const { deeds, kill } of moments) {
          const { runtimeId } = tasks
          await (serving()[0] as ServerProcess).owner.do('heartbeatRuntime', { runtimeId }, 'runtime{id}')
          let done = 0
          const victim = kill && serving().length > 1 ? (serving()[kill[0]] as ServerProcess) : null
          const killed =
            victim && eventually(() => done >= Math.min(kill?.[1] ?? 0, deeds.length)).then(victim.kill)
          const doing = deeds.map(async ([each, by]) => {
            await does(tasks, (serving()[by % serving().length] as ServerProcess).owner, each)
            done += 1
          })
          await Promise.all([...doing, killed])
          await back?.started
          back = victim && { server: victim, started: victim.start() }
        }
        await back?.started
        for (const [outcome, times] of tasks.outcomes)
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + times)
        expect(await flawsOf(tasks, first.owner, world.databaseUrl)).toEqual([])
      },
    )
    await fc.assert(property, { seed, numRuns: histories, endOnFailure: true })

    // A history in which nothing succeeds would show nothing.
    const never = verbs.filter((verb) => !outcomes.has(`${verb}: done`))
    expect(never).toEqual([])
    const conflicts = [...outcomes].filter(([outcome]) =>
      outcome.endsWith('SESSION_INTENT_REVISION_CONFLICT'),
    )
    expect(conflicts.length).toBeGreaterThan(0)
    expect([...outcomes.keys()].some((outcome) => outcome.endsWith('cut off'))).toBe(true)
    const client = new pg.Client({ connectionString: world.databaseUrl })
    await client.connect()
    const { rows } = await client.query<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    )
    await client.end()
    expect(rows).toEqual([{ deadlocks: '0' }])
  },
  long ? 3_600_000 : 240_000,
)
