// First pages of lists, small and large: the time that PostgreSQL itself takes for the statements of an API request.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { fillJournal } from './catch-up.mjs'
import { Api, givenProject, givenSessions, publicId } from './kit/api.mjs'
import { percentile } from './kit/figures.mjs'
import { databaseOf, makeDirectory, startProduct, withClient } from './kit/product.mjs'

const queries = {
  'session events': {
    statement: /FROM session_events /,
    query:
      'query($session:ID!){session(id:$session){events(first:100){events{id sequence type payload at} cursor hasMore}}}',
  },
  'session events, from the end': {
    statement: /FROM session_events /,
    query:
      'query($session:ID!){session(id:$session){eventsBefore(last:100){events{id sequence type payload at} cursor hasMore}}}',
  },
  sessions: {
    statement: /FROM "public"\."sessions"/,
    query:
      'query($project:ID!){sessions(projectId:$project,first:50){nodes{id title state lastActivityAt} totalCount pageInfo{hasNextPage endCursor}}}',
  },
  'sessions, second page': {
    statement: /FROM "public"\."sessions"/,
    query:
      'query($project:ID!,$after:String){sessions(projectId:$project,first:50,after:$after){nodes{id title state lastActivityAt} pageInfo{hasNextPage}}}',
  },
  inbox: {
    statement: /FROM\s+project_load l CROSS JOIN unnest[\s\S]*SELECT \* FROM inbox_items/,
    query:
      'query($project:ID!){inbox(projectId:$project,first:100){nodes{id kind state title why since} pageInfo{hasNextPage endCursor}}}',
  },
}

async function fill(db, project, count) {
  const sessions = await givenSessions(db, project.key, count)
  await fillJournal(db, project.key, sessions[0], count)
  await db.query(
    `INSERT INTO inbox_items (project_id, id, kind, state, title, why, session_id, run_id, since)
     SELECT project_id, uuidv7(), 'RUN_FAILED', 'OPEN', 'A run failed', 'It broke.', id, id, now() FROM sessions WHERE project_id = $1`,
    [project.key],
  )
  await db.query('UPDATE project_load SET inbox_open = $2 WHERE project_id = $1', [project.key, count])
  // As a history has them: every row at a moment of its own.
  await db.query(
    `UPDATE sessions s SET last_activity_at = now() - make_interval(secs => o.n)
       FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM sessions WHERE project_id = $1) o
      WHERE s.project_id = $1 AND s.id = o.id`,
    [project.key],
  )
  await db.query(
    `UPDATE inbox_items i SET since = s.last_activity_at FROM sessions s
      WHERE i.project_id = $1 AND s.project_id = i.project_id AND s.id = i.session_id`,
    [project.key],
  )
  await db.query('VACUUM (ANALYZE) sessions, session_events, inbox_items')
  return publicId('ses', project.key, sessions[0])
}

const logged =
  /LOG:\s+duration: ([\d.]+) ms\s+(parse|bind|execute) [^:]*: ([\s\S]*?)(?=\n\d{4}-\d\d-\d\d |\n?$)/g

/** Reads what PostgreSQL has logged since the last call. */
function logReader(directory) {
  const path = join(directory, 'postgres/postgres.log')
  const size = () => {
    const file = openSync(path, 'r')
    try {
      return fstatSync(file).size
    } finally {
      closeSync(file)
    }
  }
  let at = size()
  return () => {
    const end = size()
    const bytes = Buffer.alloc(end - at)
    const file = openSync(path, 'r')
    readSync(file, bytes, 0, bytes.length, at)
    closeSync(file)
    at = end
    return bytes.toString('utf8')
  }
}

/** The time of each run of one statement: parsing, planning and executing. */
function durations(text, statement) {
  const times = []
  let pending = 0
  for (const [, ms, step, sql] of text.matchAll(logged)) {
    if (!statement.test(sql)) continue
    pending += Number(ms)
    if (step === 'execute') {
      times.push(pending)
      pending = 0
    }
  }
  return times
}

async function measureAt(directory, count, requests, log) {
  const name = `bench_${count}`
  await withClient(databaseOf(directory), (db) => db.query(`CREATE DATABASE ${name} TEMPLATE template0`))
  const databaseUrl = databaseOf(directory, name)
  const own = makeDirectory()
  const product = await startProduct(own.path, { databaseUrl })
  const api = new Api(product.url, product.token)
  const figures = {}
  try {
    await withClient(databaseUrl, async (db) => {
      const project = await givenProject(api, db, 'Pages')
      const session = await fill(db, project, count)
      await db.query('CHECKPOINT')
      const variables = { project: project.id, session }
      const first = await api.query(queries.sessions.query, variables)
      variables.after = first.sessions.pageInfo.endCursor
      // Settings of a database hold for connections made from now on, so the server's are made anew.
      await db.query(`ALTER DATABASE ${name} SET log_min_duration_statement = 0`)
      await db.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'wheelhouse'`,
      )
      const read = logReader(directory)
      for (const [list, { query, statement }] of Object.entries(queries)) {
        for (let n = 0; n < 30; n += 1) await api.send(JSON.stringify({ query, variables }))
        read()
        const latencies = []
        for (let n = 0; n < requests; n += 1) {
          const from = performance.now()
          await api.query(query, variables)
          latencies.push(performance.now() - from)
        }
        const times = durations(read(), statement)
        if (times.length < requests)
          throw new Error(`${list}: ${times.length} of ${requests} statements in the log`)
        figures[list] = {
          p50: percentile(times, 0.5),
          p99: percentile(times, 0.99),
          request: percentile(latencies, 0.5),
        }
        log(
          `${list} of ${count}: p50 ${figures[list].p50.toFixed(2)} ms, p99 ${figures[list].p99.toFixed(2)} ms`,
        )
      }
    })
  } finally {
    api.close()
    await product.stop()
    own.remove()
    await withClient(databaseOf(directory), (db) => db.query(`DROP DATABASE ${name} WITH (FORCE)`))
  }
  return figures
}

export async function measurePages({ directory, quick, log }) {
  const [small, large] = quick ? [10_000, 100_000] : [10_000, 1_000_000]
  const requests = quick ? 100 : 300
  return {
    small: { count: small, lists: await measureAt(directory, small, requests, log) },
    large: { count: large, lists: await measureAt(directory, large, requests, log) },
  }
}
