import type { BranchRow } from './fork-queries.ts'

/** A place in a session from which another one can start. */
export interface FamilyPlace {
  id: string
  number: number
  label: string | null
  at: string
  /** The last event of the journal there. */
  sequence: number
  runNumber: number | null
  revision: number | null
}
/** Where a fork began, as far as the viewer may see it. */
export interface FamilyOrigin {
  checkpoint: { id: string; number: number; sequence: number } | null
  /** The run before whose message it began; `sequence` is that message's. */
  run: { id: string; number: number; sequence: number } | null
  revision: number | null
}
export interface FamilySession {
  id: string
  title: string
  state: 'OPEN' | 'CLOSED'
  createdAt: string
  openApprovals: number
  activeRun: BranchRow['activeRun']
  lastRun: BranchRow['lastRun']
  revision: number | null
  protocol: string | null
  parentId: string | null
  /** Null for what is no fork. */
  origin: FamilyOrigin | null
  /** Rising by number; the newest 100. */
  places: readonly FamilyPlace[]
  hasOlderPlaces: boolean
}
export interface Family {
  /** The oldest ancestor that the viewer may see first, every other one after its parent. */
  sessions: readonly FamilySession[]
  /** Whether there are forks beyond what was read. */
  cut: boolean
}

/** Sessions that are read of one family at most: what is more than a person can look at is only counted as more. */
export const mostOfFamily = 120

export function familySession(row: BranchRow): FamilySession {
  const { checkpoint, run, revision } = row.forkedFrom ?? {}
  return {
    id: row.id,
    title: row.title,
    state: row.state,
    createdAt: row.createdAt,
    openApprovals: row.openApprovals,
    activeRun: row.activeRun,
    lastRun: row.lastRun,
    revision: row.intent?.number ?? null,
    protocol: row.intent?.protocol ?? null,
    parentId: row.parent?.id ?? null,
    origin: row.forkedFrom && {
      checkpoint: checkpoint ?? null,
      run: run ? { id: run.id, number: run.number, sequence: run.message.sequence } : null,
      revision: revision?.number ?? null,
    },
    places: row.checkpoints.nodes
      .map(({ id, number, label, at, sequence, run, intent }) => ({
        id,
        number,
        label,
        at,
        sequence,
        runNumber: run?.number ?? null,
        revision: intent?.number ?? null,
      }))
      .sort((a, b) => a.number - b.number),
    hasOlderPlaces: row.checkpoints.pageInfo.hasNextPage,
  }
}

/**
 * Walks from a session to its oldest ancestor and from there to every descendant, breadth first; `read` gives null for
 * what the viewer may not see. Rejects as `read` does.
 */
export async function readFamily(
  id: string,
  read: (id: string) => Promise<BranchRow | null>,
  most = mostOfFamily,
): Promise<Family> {
  const known = new Map<string, BranchRow>()
  const once = async (wanted: string): Promise<BranchRow | null> => {
    const before = known.get(wanted)
    if (before) return before
    const row = await read(wanted)
    if (row) known.set(wanted, row)
    return row
  }
  let root = await once(id)
  // The present session and its ancestors are always shown; a chain of forks is as long as people made it.
  while (root?.parent && known.size < most) {
    const parent = await once(root.parent.id)
    if (!parent) break
    root = parent
  }
  if (!root) return { sessions: [], cut: false }
  const sessions: FamilySession[] = []
  const listed = new Set([root.id])
  let cut = root.parent !== null
  // What was read on the way up stays in, whatever else has to stay out.
  const way = new Set(known.keys())
  let room = most - way.size
  for (let level: BranchRow[] = [root]; level.length > 0; ) {
    for (const row of level) sessions.push(familySession(row))
    const wanted: string[] = []
    for (const { forks } of level) {
      cut ||= forks.pageInfo.hasNextPage
      for (const fork of forks.nodes) {
        if (listed.has(fork.id)) continue
        if (!way.has(fork.id)) {
          if (room <= 0) {
            cut = true
            continue
          }
          room -= 1
        }
        listed.add(fork.id)
        wanted.push(fork.id)
      }
    }
    level = (await Promise.all(wanted.map(once))).flatMap((row) => row ?? [])
  }
  // Beyond the forks of one page an ancestor may not list the way down to the session that was asked for.
  for (const row of [...known.values()].reverse()) if (!listed.has(row.id)) sessions.push(familySession(row))
  return { sessions, cut }
}
