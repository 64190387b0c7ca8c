import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { Client } from '../../examples/client.ts'
import { attend } from '../sample.ts'
import { loadSales } from './analysis.ts'
import { answerFrom } from './answer.ts'

const lookEveryMs = 2_000
const projectsQuery =
  '{viewer{principal{id}} projects(first:50){nodes{id runtimes{state liveRuns principal{id}}}}}'
interface Projects {
  viewer: { principal: { id: string } }
  projects: {
    nodes: { id: string; runtimes: { state: string; liveRuns: number; principal: { id: string } }[] }[]
  }
}

export interface Whereabouts {
  /** Of the server's API. */
  url: string
  token: string
  /** Of the sample's own role. */
  databaseUrl: string
  /** Told once for each new trouble; null when it is over. */
  onTrouble(error: unknown): void
}

/**
 * Keeps the sample agent at work until `stop`: in the 50 newest projects, wherever no other runtime is connected. Of
 * several servers on one database one has the agent, by an advisory lock; the next one takes over when that one is gone.
 */
export function keepSample({ url, token, databaseUrl, onTrouble }: Whereabouts): { stop(): Promise<void> } {
  const stopped = new AbortController()
  const client = new Client(url, token)

  const turn = async () => {
    const lost = new AbortController()
    const signal = AbortSignal.any([stopped.signal, lost.signal])
    const database = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'wheelhouse sample agent',
      keepAlive: true,
    })
    database.on('error', () => lost.abort())
    database.on('end', () => lost.abort())
    try {
      await database.connect()
      const { rows } = await database.query(`SELECT pg_try_advisory_lock(hashtext('sample agent')) AS mine`)
      if (!rows[0]?.mine) return
      const orders = await loadSales(database)
      await lookAfterProjects(client, answerFrom(database, orders), signal)
    } finally {
      lost.abort()
      await database.end()
    }
  }
  const done = (async () => {
    while (!stopped.signal.aborted) {
      await turn().catch((error: unknown) => {
        if (!stopped.signal.aborted) onTrouble(error)
      })
      await pause(lookEveryMs, undefined, { signal: stopped.signal }).catch(() => undefined)
    }
  })()
  return {
    async stop() {
      stopped.abort()
      await done
    },
  }
}

/** Comes to projects where nobody else is, leaves where somebody else has come and its own runs have ended. */
async function lookAfterProjects(
  client: Client,
  work: Parameters<typeof attend>[2],
  signal: AbortSignal,
): Promise<void> {
  const present = new Map<string, AbortController>()
  while (!signal.aborted) {
    const { viewer, projects } = await client.request<Projects>(projectsQuery, {}, signal)
    const wanted = projects.nodes.filter(({ runtimes }) => {
      const others = runtimes.some((r) => r.state === 'CONNECTED' && r.principal.id !== viewer.principal.id)
      return !others || runtimes.some((r) => r.principal.id === viewer.principal.id && r.liveRuns > 0)
    })
    const ids = new Set(wanted.map(({ id }) => id))
    for (const [id, leave] of present) if (!ids.has(id)) leave.abort()
    for (const id of ids) {
      if (present.has(id)) continue
      const leave = new AbortController()
      present.set(id, leave)
      // What it can't get over ends its presence there; the next look brings it back.
      void attend(client, id, work, AbortSignal.any([signal, leave.signal]))
        .catch(() => undefined)
        .finally(() => present.delete(id))
    }
    await pause(lookEveryMs, undefined, { signal })
  }
}
