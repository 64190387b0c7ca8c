// One watcher that is 50 000 events behind, beside the same rows as pages of a raw SELECT.
import { WebSocket } from 'ws'
import { Api, givenProject, givenSessions, publicId } from './kit/api.mjs'
import { medians } from './kit/figures.mjs'
import { cpuMs } from './kit/proc.mjs'
import { withClient } from './kit/product.mjs'
import { watchSelection } from './references/shape.mjs'

const behind = 50_000
const page = 500

/** A session's journal, written by SQL. */
export async function fillJournal(db, projectKey, session, count) {
  await db.query(
    `INSERT INTO session_events (project_id, session_id, sequence, type, payload, at)
     SELECT $1, $2, n, 'INFO', jsonb_build_object('text', 'Part ' || n || ' of an answer that comes as it is written, a few words at a time.'),
            now() - make_interval(secs => ($3::int - n) / 10.0)
       FROM generate_series(1, $3::int) n`,
    [projectKey, session, count],
  )
  await db.query('UPDATE sessions SET last_sequence = $3 WHERE project_id = $1 AND id = $2', [
    projectKey,
    session,
    count,
  ])
}

function catchUp(product, sessionId) {
  const query = watchSelection.replace('sessionId: $id', 'sessionId: $id, after: 0')
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${product.url.replace('http', 'ws')}/graphql`, ['graphql-transport-ws'])
    let last = 0
    let startedAt
    let cpu
    socket.on('error', reject)
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'connection_init', payload: { token: product.token } })),
    )
    socket.on('message', (data) => {
      const text = data.toString()
      if (text.includes('connection_ack')) {
        startedAt = performance.now()
        cpu = cpuMs(product.pid)
        const payload = { query, variables: { id: sessionId } }
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }))
        return
      }
      const sequence = Number(/"sequence":(\d+)/.exec(text)?.[1])
      if (sequence !== last + 1) {
        socket.close()
        return reject(new Error(`after ${last} came ${text.slice(0, 200)}`))
      }
      last = sequence
      if (last < behind) return
      const seconds = (performance.now() - startedAt) / 1000
      resolve({ perSecond: behind / seconds, seconds, cpu: ((cpuMs(product.pid) - cpu) * 1000) / behind })
      socket.close()
    })
  })
}

async function select(db, projectKey, session) {
  const startedAt = performance.now()
  let after = 0
  while (after < behind) {
    const { rows } = await db.query({
      name: 'page',
      text: `SELECT project_id, session_id, sequence, run_id, run_sequence, type, payload, at FROM session_events
              WHERE project_id = $1 AND session_id = $2 AND sequence > $3 ORDER BY sequence LIMIT ${page}`,
      values: [projectKey, session, after],
    })
    after = rows.at(-1).sequence
  }
  const seconds = (performance.now() - startedAt) / 1000
  return { perSecond: behind / seconds, seconds }
}

export async function measureCatchUp({ product, databaseUrl, quick, log }) {
  const api = new Api(product.url, product.token)
  return withClient(databaseUrl, async (db) => {
    const project = await givenProject(api, db, 'Catching up')
    const [session] = await givenSessions(db, project.key, 1)
    await fillJournal(db, project.key, session, behind)
    await db.query('VACUUM ANALYZE session_events')
    const rounds = { ours: [], floor: [] }
    for (let round = 0; round < (quick ? 3 : 7); round += 1) {
      rounds.ours.push(await catchUp(product, publicId('ses', project.key, session)))
      rounds.floor.push(await select(db, project.key, session))
    }
    api.close()
    for (const [name, figures] of Object.entries(rounds))
      log(`catching up, ${name}: ${figures.map((r) => r.perSecond.toFixed(0))} events/s`)
    return { behind, page, ours: medians(rounds.ours), floor: medians(rounds.floor) }
  })
}
