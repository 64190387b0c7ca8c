import pg from 'pg'
import { audit } from './audit.ts'
import type { Client } from './client.ts'
import { replay, type Standing, type Told } from './replay.ts'
import { missing, sorted, standingInRows } from './task-rows.ts'
import type { Tasks } from './task-world.ts'

/** The whole journal of a session, over the API. */
async function journalOf(owner: Client, id: string): Promise<Told[]> {
  const told: Told[] = []
  for (let after = 0; ; ) {
    const { session } = await owner.query<{
      session: { events: { events: Told[]; cursor: number; hasMore: boolean } }
    }>(
      'query($id:ID!,$after:Int){session(id:$id){events(after:$after,first:500){events{sequence type runId at payload} cursor hasMore}}}',
      { id, after },
    )
    told.push(...session.events.events)
    after = session.events.cursor
    if (!session.events.hasMore) return told
  }
}

interface Named {
  id: string
}
interface Visible {
  intent: (Named & { requirements: (Named & { state: string })[] }) | null
  intentHistory: { nodes: Named[] }
  runs: {
    nodes: { binding: { base: Named | null; active: Named | null }; headAtEnd: Named | null }[]
  }
  checkpoints: { nodes: { intent: Named | null }[] }
  forkedFrom: { revision: Named | null } | null
}
const visible = `query($id:ID!){session(id:$id){intent{id requirements{id state}} intentHistory(first:100){nodes{id}}
  runs(first:100){nodes{binding{base{id} active{id}} headAtEnd{id}}} checkpoints(first:100){nodes{intent{id}}} forkedFrom{revision{id}}}}`

/**
 * All that must hold of the tasks of a project when nothing is going on: the audit; every acknowledged row is there; each
 * journal alone rebuilds its session as its rows say; a fork begins with the task of its place, and nothing that the API
 * shows of it is a revision that its parent made since. Gives what does not hold, in words.
 */
export async function flawsOf(tasks: Tasks, owner: Client, databaseUrl: string): Promise<string[]> {
  const flaws = await audit(databaseUrl)
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const gone = await missing(client, [...tasks.acknowledged])
    flaws.push(...gone.map((id) => `${id} was acknowledged, and is not there`))
    const journals = new Map<string, Told[]>()
    for (const id of tasks.sessions) journals.set(id, await journalOf(owner, id))

    /** What a session’s journal tells up to a place, with what its ancestors’ tell of the place at which it began. */
    const standingAt = (id: string, upTo = Number.POSITIVE_INFINITY): Standing => {
      const events = (journals.get(id) ?? []).filter(({ sequence }) => sequence <= upTo)
      const place = placeOf(id)
      return replay(events, place && standingAt(place.parentId, place.sequence))
    }
    /** Where a fork began, by its parent’s journal. */
    const placeOf = (id: string) => {
      const from = tasks.forks.get(id)
      if (!from) return undefined
      const parent = journals.get(from.parentId) ?? []
      const { parentId, checkpointId, runId } = from
      if (checkpointId) {
        const mark = parent.find(({ payload }) => payload.checkpointId === checkpointId)
        const revision = mark?.payload.revisionId as string | null
        return { parentId, sequence: mark?.payload.sequence as number, revision }
      }
      const message = parent.find(({ type, runId: of }) => type === 'MESSAGE' && of === runId)
      const route = parent.find(({ type, runId: of }) => type === 'ROUTE_DECIDED' && of === runId)
      const revision = route?.payload.base as string | null
      return { parentId, sequence: (message?.sequence ?? 0) - 1, revision }
    }
    /** A revision and all before it, by the journals of the session and of those that it goes back to. */
    const history = (id: string, head: string | null): Set<string> => {
      const all = [...journals.values()].flatMap((events) => replay(events).revisions)
      const found = new Set<string>()
      for (let at = head; at !== null; ) {
        found.add(at)
        at = all.find((each) => each.id === at)?.previous ?? null
      }
      for (const each of replay(journals.get(id) ?? []).revisions)
        if (!found.has(each.id)) flaws.push(`${id}: ${each.id} can’t be reached from the head`)
      return found
    }

    for (const id of tasks.sessions) {
      const told = sorted(standingAt(id))
      const rows = sorted(await standingInRows(client, id))
      for (const [what, value] of Object.entries(rows)) {
        const [left, right] = [told[what as keyof Standing], value].map((each) =>
          JSON.stringify(canonical(each)),
        )
        if (left !== right) flaws.push(`${id}: the journal tells other ${what}: ${left} for ${right}`)
      }
      const { session } = await owner.query<{ session: Visible }>(visible, { id })
      if ((session.intent?.id ?? null) !== told.head) flaws.push(`${id}: the API shows another task`)
      for (const { id: requirement, state } of session.intent?.requirements ?? [])
        if ((told.requirements[requirement] ?? 'OPEN') !== state)
          flaws.push(`${id}: ${requirement} is shown as ${state}`)
      const place = placeOf(id)
      if (place && (session.forkedFrom?.revision?.id ?? null) !== place.revision)
        flaws.push(`${id}: the fork did not begin with the task of its place`)
      const own = history(id, told.head)
      const shown = [
        session.intent,
        session.forkedFrom?.revision,
        ...session.intentHistory.nodes,
        ...session.runs.nodes.flatMap(({ binding, headAtEnd }) => [binding.base, binding.active, headAtEnd]),
        ...session.checkpoints.nodes.map(({ intent }) => intent),
      ]
      for (const each of shown)
        if (each && !own.has(each.id)) flaws.push(`${id}: ${each.id} is shown, which is none of its own`)
    }
  } finally {
    await client.end()
  }
  return flaws
}

/** The same value with the keys of its objects in order. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, each]) => [key, canonical(each)]))
}
