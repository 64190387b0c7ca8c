import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  layPhases,
  type PhaseDrawing,
  type PhaseShape,
  ranksOf,
} from '../../console/src/domains/protocols/phase-layout.ts'

interface Way {
  to: string
  lines: number
}
type Shape = PhaseShape<Way>
const lay = (phases: readonly Shape[], first: string) => layPhases(phases, first, ({ lines }) => lines)
const phase = (name: string, ...to: string[]): Shape => ({
  name,
  transitions: to.map((each) => ({ to: each, lines: 1 })),
})
const topOf = ({ boxes }: PhaseDrawing<Way>, name: string) =>
  boxes.find((each) => each.name === name)?.y ?? NaN

const graph = fc.integer({ min: 1, max: 9 }).chain((count) =>
  fc.array(
    fc.array(fc.record({ to: fc.nat(count).map((to) => `p${to}`), lines: fc.integer({ min: 1, max: 3 }) }), {
      maxLength: 4,
    }),
    { minLength: count, maxLength: count },
  ),
)
const phasesOf = (ways: Way[][]): Shape[] =>
  ways.map((transitions, index) => ({ name: `p${index}`, transitions }))

describe('the graph of phases', () => {
  test('work goes down: what follows stands below, what leads back keeps its place', () => {
    const drawing = lay(
      [phase('end'), phase('plan', 'run'), phase('run', 'check', 'plan'), phase('check', 'end', 'plan')],
      'plan',
    )
    expect(topOf(drawing, 'plan')).toBeLessThan(topOf(drawing, 'run'))
    expect(topOf(drawing, 'run')).toBeLessThan(topOf(drawing, 'check'))
    expect(topOf(drawing, 'check')).toBeLessThan(topOf(drawing, 'end'))
  })

  test('a phase stands below all that lead to it, not only below the nearest', () => {
    const links = [
      { from: 0, to: 1 },
      { from: 1, to: 2 },
      { from: 0, to: 2 },
    ]
    expect(ranksOf(3, links, 0)).toEqual([0, 1, 2])
  })

  test('two ways between the same phases are one line with the words of both', () => {
    const { lines } = lay([phase('a', 'b', 'b'), phase('b')], 'a')
    expect(lines.map(({ from, to, transitions }) => [from, to, transitions.length])).toEqual([['a', 'b', 2]])
  })

  test('a way to itself or to a phase that is not there is no line', () => {
    expect(lay([phase('a', 'a', 'nowhere')], 'a').lines).toEqual([])
  })

  test('no two phases overlap and all of it is inside, whatever the graph', () => {
    fc.assert(
      fc.property(graph, (ways) => {
        const { boxes, lines, width, height } = lay(phasesOf(ways), 'p0')
        expect(boxes.map(({ name }) => name)).toEqual(ways.map((_, index) => `p${index}`))
        for (const [index, a] of boxes.entries()) {
          expect(a.x).toBeGreaterThanOrEqual(0)
          expect(a.y).toBeGreaterThanOrEqual(0)
          expect(a.x + a.width).toBeLessThanOrEqual(width)
          expect(a.y + a.height).toBeLessThanOrEqual(height)
          for (const b of boxes.slice(index + 1)) {
            const apart =
              a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y
            expect(apart, `${a.name} and ${b.name} overlap`).toBe(true)
          }
        }
        for (const { points } of lines)
          for (const [x, y] of points) {
            expect(x >= 0 && x <= width, `x ${x} of ${width}`).toBe(true)
            expect(y >= 0 && y <= height, `y ${y} of ${height}`).toBe(true)
          }
      }),
    )
  })

  test('every way is a line along the axes, from the edge of its phase to the edge of the next, through none', () => {
    fc.assert(
      fc.property(graph, (ways) => {
        const phases = phasesOf(ways)
        const { boxes, lines } = lay(phases, 'p0')
        const expected = new Set(
          phases.flatMap(({ name, transitions }) =>
            transitions
              .filter(({ to }) => to !== name && phases.some((each) => each.name === to))
              .map(({ to }) => `${name} ${to}`),
          ),
        )
        expect(new Set(lines.map(({ from, to }) => `${from} ${to}`))).toEqual(expected)
        expect(lines).toHaveLength(expected.size)
        for (const { from, to, points } of lines) {
          const ends = [
            [from, points[0]],
            [to, points.at(-1)],
          ] as const
          for (const [name, point] of ends) {
            const box = boxes.find((each) => each.name === name)
            if (!box || !point) throw new Error('a line without ends')
            const [x, y] = point
            const onSide = (x === box.x || x === box.x + box.width) && y >= box.y && y <= box.y + box.height
            const onTop = (y === box.y || y === box.y + box.height) && x >= box.x && x <= box.x + box.width
            expect(onSide || onTop, `${from} → ${to} touches ${name}`).toBe(true)
          }
          for (const [index, [x, y]] of points.entries()) {
            const next = points[index + 1]
            if (!next) continue
            expect(x === next[0] || y === next[1], `${from} → ${to} goes aslant`).toBe(true)
            for (const box of boxes) {
              const inside =
                Math.max(x, next[0]) > box.x &&
                Math.min(x, next[0]) < box.x + box.width &&
                Math.max(y, next[1]) > box.y &&
                Math.min(y, next[1]) < box.y + box.height
              expect(inside, `${from} → ${to} goes through ${box.name}`).toBe(false)
            }
          }
        }
      }),
    )
  })
})
