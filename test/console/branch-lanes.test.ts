import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FamilySession, readFamily } from '../../console/src/domains/sessions/forks/family.ts'
import type { BranchRow } from '../../console/src/domains/sessions/forks/fork-queries.ts'
import { layLanes } from '../../console/src/domains/sessions/forks/lanes.ts'

const session = (id: string, places: number, from: Partial<FamilySession> = {}): FamilySession => ({
  id,
  title: id,
  state: 'OPEN',
  createdAt: `2026-01-01T00:00:00.000Z`,
  openApprovals: 0,
  activeRun: null,
  lastRun: null,
  revision: 1,
  protocol: 'general-task@1',
  parentId: null,
  origin: null,
  places: Array.from({ length: places }, (_, index) => ({
    id: `${id}◆${index + 1}`,
    number: index + 1,
    label: null,
    at: '2026-01-01T00:00:00.000Z',
    sequence: (index + 1) * 10,
    runNumber: index + 1,
    revision: 1,
  })),
  hasOlderPlaces: false,
  ...from,
})
const forkOf = (parent: string, number: number): Partial<FamilySession> => ({
  parentId: parent,
  origin: {
    checkpoint: { id: `${parent}◆${number}`, number, sequence: number * 10 },
    run: null,
    revision: 1,
  },
})
const beforeRun = (parent: string, number: number): Partial<FamilySession> => ({
  parentId: parent,
  origin: {
    checkpoint: null,
    run: { id: `${parent}run${number}`, number, sequence: number * 10 - 8 },
    revision: 1,
  },
})
const drawn = (sessions: FamilySession[]) =>
  layLanes(sessions).lanes.map(({ session, points }) => ({
    [session.id]: points.map((point) =>
      point.kind === 'checkpoint'
        ? `${point.column} ◆${point.place.number}`
        : point.kind === 'folded'
          ? `${point.column} +${point.count}`
          : `${point.column} ${point.kind}`,
    ),
  }))

describe('a family of sessions as lanes', () => {
  test('a fork stands below its parent, one column right of the place that it began at', () => {
    expect(drawn([session('a', 2), session('b', 1, forkOf('a', 1))])).toEqual([
      { a: ['0 start', '1 ◆1', '2 ◆2'] },
      { b: ['2 start', '3 ◆1'] },
    ])
  })

  test('of several forks the one from the last place is nearest', () => {
    const sessions = [session('a', 3), session('b', 0, forkOf('a', 1)), session('c', 0, forkOf('a', 3))]
    expect(layLanes(sessions).lanes.map(({ session }) => session.id)).toEqual(['a', 'c', 'b'])
  })

  test('a fork before a run stands between the places around it', () => {
    expect(drawn([session('a', 2), session('b', 0, beforeRun('a', 2))])[0]).toEqual({
      a: ['0 start', '1 ◆1', '2 run', '3 ◆2'],
    })
  })

  test('places that nothing began at fold together, but for the newest', () => {
    expect(drawn([session('a', 9), session('b', 0, forkOf('a', 5))])[0]).toEqual({
      a: ['0 start', '1 +4', '2 ◆5', '3 +3', '4 ◆9'],
    })
  })

  test('a place that was not read is known by the fork that began there', () => {
    const parent = session('a', 3)
    const sessions = [{ ...parent, places: parent.places.slice(2) }, session('b', 0, forkOf('a', 1))]
    expect(drawn(sessions)[0]).toEqual({ a: ['0 start', '1 ◆1', '2 ◆3'] })
  })

  test('a fork of a place that is gone begins at the start of its parent', () => {
    const lost = { parentId: 'a', origin: { checkpoint: null, run: null, revision: null } }
    expect(layLanes([session('a', 1), session('b', 0, lost)]).forks).toEqual([
      { from: 'a/start', to: 'b/start', sessionId: 'b' },
    ])
  })

  test('whatever the family: each session has one lane, and no line of a fork crosses another lane', () => {
    const families = fc
      .array(fc.record({ parent: fc.nat(), place: fc.nat({ max: 12 }), places: fc.nat({ max: 12 }) }), {
        maxLength: 25,
      })
      .map((forks) => {
        const sessions = [session('s0', 5)]
        for (const { parent, place, places } of forks) {
          const of = sessions[parent % sessions.length]!
          const from = place % 3 === 0 ? beforeRun(of.id, place + 1) : forkOf(of.id, Math.max(1, place))
          sessions.push(session(`s${sessions.length}`, places, from))
        }
        return sessions
      })
    fc.assert(
      fc.property(families, (sessions) => {
        const { lanes, forks, columns } = layLanes(sessions)
        expect(lanes.map(({ session }) => session.id).sort()).toEqual(sessions.map(({ id }) => id).sort())
        expect(lanes.map(({ row }) => row)).toEqual(lanes.map((_, index) => index))
        const at = new Map(
          lanes.flatMap(({ row, points }) =>
            points.map(({ key, column }) => [key, { row, column }] as const),
          ),
        )
        for (const { points } of lanes) expect(points.at(-1)!.column).toBeLessThan(columns)
        expect(forks).toHaveLength(sessions.length - 1)
        for (const { from, to } of forks) {
          const start = at.get(from)!
          const end = at.get(to)!
          expect(end.column).toBe(start.column + 1)
          // The line goes straight down from where it begins: every lane on its way must lie right of it.
          for (const { row, points } of lanes)
            if (row > start.row && row < end.row) expect(points[0]!.column).toBeGreaterThan(start.column)
        }
      }),
    )
  })
})

describe('a family is read', () => {
  const row = (id: string, parent: string | null, forks: string[]): BranchRow => ({
    id,
    title: id,
    state: 'OPEN',
    createdAt: '2026-01-01T00:00:00.000Z',
    runCount: 0,
    openApprovals: 0,
    intent: null,
    activeRun: null,
    lastRun: null,
    parent: parent === null ? null : { id: parent },
    forkedFrom: parent === null ? null : { checkpoint: null, run: null, revision: null },
    checkpoints: { nodes: [], pageInfo: { hasNextPage: false } },
    forks: { nodes: forks.map((each) => ({ id: each })), pageInfo: { hasNextPage: false } },
  })
  const rows = new Map(
    [
      row('a', null, ['b', 'c']),
      row('b', 'a', ['d']),
      row('c', 'a', []),
      row('d', 'b', ['e', 'hidden']),
      row('e', 'd', []),
    ].map((each) => [each.id, each]),
  )
  const read = async (id: string) => rows.get(id) ?? null

  test('from its oldest ancestor down, whichever session it is asked for', async () => {
    for (const id of rows.keys()) {
      const { sessions, cut } = await readFamily(id, read)
      expect(sessions.map((each) => each.id).sort()).toEqual(['a', 'b', 'c', 'd', 'e'])
      expect(sessions[0]?.id).toBe('a')
      expect(cut).toBe(false)
    }
  })

  test('no further than the most, and says so; the way to the session itself stays in', async () => {
    const { sessions, cut } = await readFamily('d', read, 3)
    expect(sessions.map((each) => each.id)).toEqual(['a', 'b', 'd'])
    expect(cut).toBe(true)
  })

  test('a session that is not there has none', async () => {
    expect(await readFamily('nowhere', read)).toEqual({ sessions: [], cut: false })
  })
})
