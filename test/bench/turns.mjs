// submitTurn and recordRunEvents over HTTP, beside the same writes as one prepared statement on the same PostgreSQL.
import pg from 'pg'
import { Api, givenProject, givenSessions, keyOf, publicId, uuidv7 } from './kit/api.mjs'
import { load, medians } from './kit/figures.mjs'
import { countPostgres, cpuMs } from './kit/proc.mjs'
import { turnStatement, turnValues, writeStatement, writeValues } from './turns.floor.mjs'

const text = 'Which products sold best in May, and how does that compare with the year before?'
const submit =
  'mutation($input:SubmitTurnInput!){submitTurn(input:$input){__typename ...on SubmitTurnSuccess{run{id} cursor} ...on Problem{code message}}}'
const record =
  'mutation($input:RecordRunEventsInput!){recordRunEvents(input:$input){__typename ...on RecordRunEventsSuccess{cursor} ...on Problem{code message}}}'

/** Ends what runs, so that every round begins with all slots free. */
async function endRuns(db) {
  await db.query(`UPDATE runs SET state = 'CANCELLED', ended_at = now() WHERE ended_at IS NULL`)
  await db.query(`UPDATE runtime_signals SET acknowledged_at = now() WHERE acknowledged_at IS NULL`)
  await db.query(`UPDATE sessions SET live_runs = 0 WHERE live_runs > 0`)
  await db.query(`UPDATE runtimes SET live_runs = 0`)
  await db.query(`UPDATE project_load SET live_runs = 0`)
  await db.query('VACUUM (ANALYZE) runs, sessions, runtimes, project_load, runtime_signals')
  await db.query('CHECKPOINT')
}

async function costed(product, directory, count, work) {
  const postgres = countPostgres(directory)
  const before = cpuMs(product.pid)
  const figures = await work()
  return {
    ...figures,
    serverCpu: (cpuMs(product.pid) - before) / count,
    postgresCpu: postgres() / count,
  }
}

const mustSucceed = (answer, name) => {
  if (!answer.includes(`"__typename":"${name}Success"`)) throw new Error(answer.slice(0, 500))
}

export async function measureTurns({ product, directory, databaseUrl, quick, log }) {
  const api = new Api(product.url, product.token)
  const connections = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const client = new pg.Client({ connectionString: databaseUrl })
      await client.connect()
      return client
    }),
  )
  const [db] = connections
  const projects = []
  for (let n = 0; n < 16; n += 1) projects.push(await givenProject(api, db, `Turns ${n}`))
  const { rows } = await db.query('SELECT id FROM principals LIMIT 1')
  const author = rows[0].id
  const [one, many] = quick ? [150, 600] : [600, 2_400]
  const shapes = [
    { name: 'submitTurn, 1 at a time', concurrency: 1, count: one, projects: 1 },
    { name: 'submitTurn, 16 at a time, one project', concurrency: 16, count: many, projects: 1 },
    { name: 'submitTurn, 16 at a time, 16 projects', concurrency: 16, count: many, projects: 16 },
  ]
  for (const project of projects)
    project.sessions = await givenSessions(
      db,
      project.key,
      project === projects[0] ? many : Math.ceil(many / 16),
    )
  const target = (shape, index) => {
    const project = projects[index % shape.projects]
    return { project, session: project.sessions[Math.floor(index / shape.projects)] }
  }

  const product1 = (shape) => async (index) => {
    const { project, session } = target(shape, index)
    const input = { sessionId: publicId('ses', project.key, session), text }
    mustSucceed(await api.send(JSON.stringify({ query: submit, variables: { input } })), 'SubmitTurn')
  }
  const floor1 = (shape) => async (index, worker) => {
    const { project, session } = target(shape, index)
    const values = turnValues({ project: project.key, session, author, text, id: uuidv7 })
    const { rows } = await connections[worker].query({ name: 'turn', text: turnStatement, values })
    if (rows[0].cursor === null) throw new Error('the floor wrote nothing')
  }

  const results = []
  const rounds = quick ? 1 : 3
  for (const shape of shapes) {
    const ours = []
    const floor = []
    await endRuns(db)
    await load(shape.concurrency, 100, product1(shape))
    for (let round = 0; round < rounds; round += 1) {
      await endRuns(db)
      ours.push(
        await costed(product, directory, shape.count, () =>
          load(shape.concurrency, shape.count, product1(shape)),
        ),
      )
      await endRuns(db)
      floor.push(
        await costed(product, directory, shape.count, () =>
          load(shape.concurrency, shape.count, floor1(shape)),
        ),
      )
    }
    results.push({ name: shape.name, ours: medians(ours), floor: medians(floor) })
    log(
      `${shape.name}: ${ours.map((r) => r.perSecond.toFixed(0))} /s, floor ${floor.map((r) => r.perSecond.toFixed(0))} /s`,
    )
  }
  await endRuns(db)
  results.push(...(await measureWrites({ product, directory, api, connections, projects, quick, log })))
  await endRuns(db)
  await Promise.all(connections.map((client) => client.end()))
  api.close()
  return results
}

async function measureWrites({ product, directory, api, connections, projects, quick, log }) {
  const [project] = projects
  const runs = []
  for (let n = 0; n < 16; n += 1) {
    const sessionId = publicId('ses', project.key, project.sessions[n])
    const { run } = await api.do('submitTurn', { sessionId, text }, 'run{id}')
    const { runToken } = await api.do('startRun', { runId: run.id, runtimeId: project.runtimeId }, 'runToken')
    runs.push({ id: run.id, key: keyOf(run.id), runToken, session: project.sessions[n] })
  }
  const events = Array.from({ length: 20 }, (_, n) => ({
    type: 'ANSWER_DELTA',
    payload: { text: `Part ${n} of an answer that comes as it is written. ` },
  }))
  const ours = (_index, worker) => {
    const { id, runToken } = runs[worker]
    const body = JSON.stringify({ query: record, variables: { input: { runId: id, runToken, events } } })
    return api.send(body).then((answer) => mustSucceed(answer, 'RecordRunEvents'))
  }
  const floor = async (_index, worker) => {
    const { key, session } = runs[worker]
    const values = writeValues({ project: project.key, session, run: key, events })
    await connections[worker].query({ name: 'write', text: writeStatement, values })
  }
  const results = []
  for (const [concurrency, count] of quick
    ? [
        [1, 100],
        [16, 400],
      ]
    : [
        [1, 400],
        [16, 1_600],
      ]) {
    const rounds = { ours: [], floor: [] }
    await load(concurrency, 50, ours)
    for (let round = 0; round < (quick ? 1 : 3); round += 1) {
      rounds.ours.push(await costed(product, directory, count, () => load(concurrency, count, ours)))
      rounds.floor.push(await costed(product, directory, count, () => load(concurrency, count, floor)))
    }
    const name = `recordRunEvents, 20 events, ${concurrency} at a time`
    results.push({ name, ours: medians(rounds.ours), floor: medians(rounds.floor) })
    log(
      `${name}: ${rounds.ours.map((r) => r.perSecond.toFixed(0))} /s, floor ${rounds.floor.map((r) => r.perSecond.toFixed(0))} /s`,
    )
  }
  return results
}
