import { randomBytes } from 'node:crypto'
import http from 'node:http'

const bytesOf = (uuid) => Buffer.from(uuid.replaceAll('-', ''), 'hex')
/** The public id of a row that was written by SQL. */
export const publicId = (prefix, projectId, id) =>
  `${prefix}_${Buffer.concat([bytesOf(projectId), bytesOf(id)]).toString('base64url')}`
const uuidOf = (bytes) => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
/** The key of a public id: its last 16 bytes. */
export const keyOf = (id) => uuidOf(Buffer.from(id.slice(4), 'base64url').subarray(-16))

export function uuidv7() {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = (bytes[6] & 0x0f) | 0x70
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  return uuidOf(bytes)
}

/** GraphQL over HTTP on connections that stay open: what an integrator's client does, without a client's own cost. */
export class Api {
  constructor(url, token, path = '/graphql') {
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 64, noDelay: true })
    const { hostname, port } = new URL(url)
    this.options = {
      hostname,
      port,
      path,
      method: 'POST',
      agent: this.agent,
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    }
  }

  /** Sends a prepared body; gives the answer's text. */
  send(body) {
    return new Promise((resolve, reject) => {
      const headers = { ...this.options.headers, 'content-length': Buffer.byteLength(body) }
      const request = http.request({ ...this.options, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part) => {
          text += part
        })
        response.on('end', () => resolve(text))
      })
      request.on('error', reject)
      request.end(body)
    })
  }

  async query(query, variables = {}) {
    const text = await this.send(JSON.stringify({ query, variables }))
    const { data, errors } = JSON.parse(text)
    if (errors) throw new Error(`refused: ${text.slice(0, 500)}`)
    return data
  }

  /** A mutation that must succeed. */
  async do(name, input, selection) {
    const pascal = name[0].toUpperCase() + name.slice(1)
    const data = await this.query(
      `mutation($input:${pascal}Input!){${name}(input:$input){__typename ...on ${pascal}Success{${selection}} ...on Problem{code message}}}`,
      { input },
    )
    if (!data[name].__typename.endsWith('Success')) throw new Error(`${name}: ${JSON.stringify(data[name])}`)
    return data[name]
  }

  close() {
    this.agent.destroy()
  }
}

/** A project with high limits, and one runtime with many slots that stays connected. */
export async function givenProject(api, db, name) {
  const { project } = await api.do('createProject', { name }, 'project{id}')
  const limits = { maxConcurrentRuns: 10_000, maxOpenSessions: 1_000_000, offerTimeoutMs: 3_600_000 }
  await api.do('updateProjectLimits', { projectId: project.id, limits, reason: 'bench' }, 'project{id}')
  const { runtime } = await api.do(
    'registerRuntime',
    { projectId: project.id, name: 'agent', maxConcurrentRuns: 10_000, tools: [] },
    'runtime{id}',
  )
  await db.query(`UPDATE runtimes SET last_seen_at = now() + interval '1 day'`)
  return { id: project.id, key: keyOf(project.id), runtimeId: runtime.id }
}

/** Open sessions, written by SQL; their keys. */
export async function givenSessions(db, projectKey, count) {
  const { rows } = await db.query(
    `WITH made AS (
       INSERT INTO sessions (project_id, id, title, state, created_at, last_activity_at)
       SELECT $1, uuidv7(), 'Session ' || n, 'OPEN', now(), now() FROM generate_series(1, $2::int) n RETURNING id
     ), counted AS (
       UPDATE project_load SET sessions = sessions + $2, open_sessions = open_sessions + $2 WHERE project_id = $1
     )
     SELECT id FROM made`,
    [projectKey, count],
  )
  return rows.map((row) => row.id)
}
