import type { FamilyPlace, FamilySession } from './family.ts'

/*
 * The layout of a family of sessions: a lane for each, its places from left to right, and each fork one column right of
 * the place that it began at:
 *
 *   ○──◆1──◆2──◆3                 row 0: the parent
 *           │   └─▶○──◆1          row 1: of several forks, the one from the last place is nearest
 *           └─▶○                  row 2
 *
 * A lane lies wholly right of the place where it began, and the forks of earlier places lie below those of later ones:
 * no line of a fork ever crosses another lane.
 */

export type LanePoint =
  | { kind: 'start'; key: string; column: number }
  | { kind: 'checkpoint'; key: string; column: number; place: FamilyPlace; forks: number }
  /** Forks that began before a run, to say its message anew. */
  | { kind: 'run'; key: string; column: number; runId: string; runNumber: number; forks: number }
  /** Places that nothing began at, put together. */
  | { kind: 'folded'; key: string; column: number; count: number }

export interface Lane {
  session: FamilySession
  row: number
  points: readonly LanePoint[]
}
/** A fork: from a point of one lane to the start of another. */
export interface ForkLine {
  from: string
  to: string
  sessionId: string
}
export interface Lanes {
  lanes: readonly Lane[]
  forks: readonly ForkLine[]
  columns: number
}

/** So many places in a row that nothing began at are shown one by one. */
const mostUnfolded = 2

const startOf = (sessionId: string) => `${sessionId}/start`

type Draft = { sequence: number; id: string } & (
  | { kind: 'checkpoint'; place: FamilyPlace; forks: number }
  | { kind: 'run'; runId: string; runNumber: number; forks: number }
)

/** What stands on a lane, in the order of the journal: its places, and the runs that forks began before. */
function drafts(session: FamilySession, children: readonly FamilySession[]): Draft[] {
  const found = new Map<string, Draft>()
  for (const place of session.places)
    found.set(place.id, { kind: 'checkpoint', id: place.id, sequence: place.sequence, place, forks: 0 })
  for (const { origin, createdAt } of children) {
    const { checkpoint, run } = origin ?? {}
    const id = checkpoint?.id ?? run?.id
    if (!id) continue
    const there = found.get(id)
    if (there) there.forks += 1
    else if (checkpoint)
      // Older than what was read of the parent: known by the fork alone.
      found.set(id, {
        kind: 'checkpoint',
        id,
        sequence: checkpoint.sequence,
        place: {
          ...checkpoint,
          label: null,
          at: createdAt,
          runNumber: null,
          revision: origin?.revision ?? null,
        },
        forks: 1,
      })
    else if (run)
      found.set(id, {
        kind: 'run',
        id,
        sequence: run.sequence - 0.5,
        runId: id,
        runNumber: run.number,
        forks: 1,
      })
  }
  return [...found.values()].sort((a, b) => a.sequence - b.sequence)
}

/** The points of a lane that starts at a column; long stretches that nothing began at become one. */
function pointsOf(session: FamilySession, children: readonly FamilySession[], first: number): LanePoint[] {
  const points: LanePoint[] = [{ kind: 'start', key: startOf(session.id), column: first }]
  const add = (draft: Draft) => {
    const { sequence: _sequence, id: _id, ...rest } = draft
    points.push({ ...rest, key: `${session.id}/${draft.id}`, column: first + points.length })
  }
  let quiet: Draft[] = []
  const flush = () => {
    if (quiet.length > mostUnfolded) {
      const key = `${session.id}/folded ${quiet[0]?.id}`
      points.push({ kind: 'folded', key, column: first + points.length, count: quiet.length })
    } else for (const draft of quiet) add(draft)
    quiet = []
  }
  const all = drafts(session, children)
  all.forEach((draft, index) => {
    // The newest place is where one mostly goes on from.
    if (draft.forks === 0 && index < all.length - 1) quiet.push(draft)
    else {
      flush()
      add(draft)
    }
  })
  flush()
  return points
}

/** Lays out a family; `sessions` has each session once. One whose parent is not among them has a tree of its own. */
export function layLanes(sessions: readonly FamilySession[]): Lanes {
  const ids = new Set(sessions.map(({ id }) => id))
  const childrenOf = new Map<string, FamilySession[]>()
  for (const session of sessions)
    if (session.parentId && ids.has(session.parentId))
      childrenOf.set(session.parentId, [...(childrenOf.get(session.parentId) ?? []), session])
  const lanes: Lane[] = []
  const forks: ForkLine[] = []
  let columns = 0
  const lay = (session: FamilySession, first: number) => {
    const children = childrenOf.get(session.id) ?? []
    const points = pointsOf(session, children, first)
    lanes.push({ session, row: lanes.length, points })
    columns = Math.max(columns, first + points.length)
    const begun = children.map((child) => {
      const id = child.origin?.checkpoint?.id ?? child.origin?.run?.id
      const from = points.find(({ key }) => key === `${session.id}/${id}`) ?? points[0]!
      return { child, from }
    })
    begun.sort((a, b) => b.from.column - a.from.column || (a.child.createdAt < b.child.createdAt ? -1 : 1))
    for (const { child, from } of begun) {
      forks.push({ from: from.key, to: startOf(child.id), sessionId: child.id })
      lay(child, from.column + 1)
    }
  }
  for (const session of sessions) if (!session.parentId || !ids.has(session.parentId)) lay(session, 0)
  return { lanes, forks, columns }
}
