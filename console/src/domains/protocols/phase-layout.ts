/*
 * The layout of a graph of phases: from the initial phase down, a rank for each step, what is on the same rank side by
 * side. A line to the next rank goes straight down; every other one, back above all, leaves to the right, goes along a
 * lane of its own there, and comes in from the right:
 *
 *      ┌ scope ┐
 *          │ after inspect_schema succeeds
 *      ┌ planning ┐◀───────┐
 *          │               │
 *      ┌ execution ┐ ──────┘
 */

export interface PhaseShape<Transition extends { to: string }> {
  name: string
  transitions: readonly Transition[]
}
export interface PhaseBox {
  name: string
  x: number
  y: number
  width: number
  height: number
}
type Point = readonly [x: number, y: number]
export interface PhaseLine<Transition> {
  from: string
  to: string
  /** All that lead from the one to the other, the first that applies first. */
  transitions: readonly Transition[]
  /** Along the axes; the last one is where the arrow points. */
  points: readonly Point[]
  words: { x: number; y: number; width: number }
}
export interface PhaseDrawing<Transition> {
  boxes: readonly PhaseBox[]
  lines: readonly PhaseLine<Transition>[]
  width: number
  height: number
}

/** Pixels. */
const box = { width: 248, height: 56, apart: 40 }
const port = 22
const textLine = 17
const gap = { least: 44, around: 14 }
const gutter = 220
/** Beside the boxes, for words, where no line leaves to the right. */
const margin = 140
const lane = 14
const edge = 1

interface Link<Transition> {
  from: number
  to: number
  transitions: Transition[]
}

/** The ways between phases that are there, each pair once; one that leads to itself or nowhere is a flaw, not a line. */
function linksOf<Transition extends { to: string }>(phases: readonly PhaseShape<Transition>[]) {
  const indexOf = new Map<string, number>()
  phases.forEach(({ name }, index) => {
    if (!indexOf.has(name)) indexOf.set(name, index)
  })
  const links = new Map<string, Link<Transition>>()
  phases.forEach(({ transitions }, from) => {
    for (const transition of transitions) {
      const to = indexOf.get(transition.to)
      if (to === undefined || to === from) continue
      const link = links.get(`${from} ${to}`)
      if (link) link.transitions.push(transition)
      else links.set(`${from} ${to}`, { from, to, transitions: [transition] })
    }
  })
  return [...links.values()]
}

/** How many steps each phase is from the start at most, ways back left aside; what nothing leads to begins below. */
export function ranksOf(
  count: number,
  links: readonly { from: number; to: number }[],
  first: number,
): number[] {
  const onward = Array.from({ length: count }, () => [] as number[])
  const state: ('open' | 'done' | undefined)[] = Array.from({ length: count }, () => undefined)
  const ranks: number[] = Array.from({ length: count }, () => 0)
  let order: number[] = []
  const visit = (at: number) => {
    state[at] = 'open'
    for (const { from, to } of links) {
      if (from !== at || state[to] === 'open') continue
      onward[at]!.push(to)
      if (state[to] === undefined) visit(to)
    }
    state[at] = 'done'
    order.unshift(at)
  }
  let below = 0
  for (const root of [first, ...Array.from({ length: count }, (_, index) => index)]) {
    if (root < 0 || root >= count || state[root] !== undefined) continue
    order = []
    visit(root)
    for (const at of order) ranks[at] = Math.max(ranks[at]!, below)
    for (const at of order) for (const to of onward[at]!) ranks[to] = Math.max(ranks[to]!, ranks[at]! + 1)
    below = Math.max(...order.map((at) => ranks[at]!)) + 1
  }
  return ranks
}

/** Lays out phases; total: a definition that is still wrong is drawn as far as it goes. */
export function layPhases<Transition extends { to: string }>(
  phases: readonly PhaseShape<Transition>[],
  initialPhase: string,
  /** How many lines the words of a transition take. */
  linesOf: (transition: Transition) => number,
): PhaseDrawing<Transition> {
  const linesOn = ({ transitions }: Link<Transition>) =>
    transitions.reduce((sum, each) => sum + linesOf(each), 0)
  const links = linksOf(phases)
  const first = phases.findIndex(({ name }) => name === initialPhase)
  const ranks = ranksOf(phases.length, links, first)
  const rows: number[][] = []
  ranks.forEach((rank, index) => {
    rows[rank] = [...(rows[rank] ?? []), index]
  })
  const ranked = rows.filter(Boolean)
  const rowOf = new Map(ranked.flatMap((row, index) => row.map((at) => [at, index] as const)))
  const row = (at: number) => rowOf.get(at) ?? 0
  const inner = Math.max(...ranked.map((each) => each.length), 1) * (box.width + box.apart) - box.apart
  const left = (at: number) => {
    const mates = ranked[row(at)]!
    const width = mates.length * (box.width + box.apart) - box.apart
    return edge + (inner - width) / 2 + mates.indexOf(at) * (box.width + box.apart)
  }
  const isLast = (at: number) => ranked[row(at)]!.at(-1) === at
  const isDown = ({ from, to }: Link<Transition>) => row(to) === row(from) + 1
  const down = links.filter(isDown)
  const aside = links.filter((link) => !isDown(link))
  const sideways = aside.some(({ from }) => isLast(from))

  // Every line through a gap has a track of its own there, as high as its words.
  const tracks: { link: Link<Transition>; height: number; top: number }[][] = ranked.map(() => [])
  const trackOf = new Map<string, { gap: number; index: number }>()
  const track = (link: Link<Transition>, key: string, at: number, lines: number) => {
    const there = tracks[at]!
    const top = there.reduce((sum, each) => sum + each.height, 0)
    there.push({ link, height: lines * textLine + 5, top })
    trackOf.set(key, { gap: at, index: there.length - 1 })
  }
  const keyOf = (link: Link<Transition>, end: string) => `${link.from} ${link.to} ${end}`
  for (const link of down) track(link, keyOf(link, 'down'), row(link.from), linesOn(link))
  for (const link of aside) {
    if (!isLast(link.from)) track(link, keyOf(link, 'out'), row(link.from), linesOn(link))
    if (!isLast(link.to) && row(link.to) > 0) track(link, keyOf(link, 'in'), row(link.to) - 1, 1)
  }
  const gapHeight = (at: number) =>
    Math.max(gap.least, gap.around * 2 + tracks[at]!.reduce((sum, each) => sum + each.height, 0))

  // What leaves and comes in on the right has a port each, in the order in which it is said.
  const ports = phases.map(
    (_, at) => aside.filter(({ from, to }) => isLast(at) && (from === at || to === at)) as Link<Transition>[],
  )
  const portHeight = (at: number) => ports[at]!.reduce((sum, link) => sum + portSpace(link, at), 0)
  const portSpace = (link: Link<Transition>, at: number) =>
    link.from === at ? Math.max(port, linesOn(link) * textLine + 6) : port
  const heights = phases.map((_, at) => Math.max(box.height, portHeight(at) + 12))
  const tops: number[] = []
  const bottoms: number[] = []
  let y = edge + (aside.some(({ to }) => row(to) === 0 && !isLast(to)) ? gap.least : 0)
  ranked.forEach((mates, index) => {
    tops[index] = y
    y += Math.max(...mates.map((at) => heights[at]!))
    bottoms[index] = y
    if (index < ranked.length - 1 || tracks[index]!.length > 0) y += gapHeight(index)
  })
  const height = y + edge

  const boxes = phases.map(({ name }, at): PhaseBox => {
    return { name, x: left(at), y: tops[row(at)]!, width: box.width, height: heights[at]! }
  })
  const portY = (at: number, link: Link<Transition>) => {
    const before = ports[at]!.slice(0, ports[at]!.indexOf(link))
    const space = portSpace(link, at)
    const start = boxes[at]!.y + (heights[at]! - portHeight(at)) / 2
    return start + before.reduce((sum, each) => sum + portSpace(each, at), 0) + space - port / 2
  }
  const trackY = (key: string) => {
    const found = trackOf.get(key)
    if (!found) return undefined
    const { top, height: own } = tracks[found.gap]![found.index]!
    const used = tracks[found.gap]!.reduce((sum, each) => sum + each.height, 0)
    const start = bottoms[found.gap]! + (gapHeight(found.gap) - used) / 2
    return { y: start + top + own / 2, top: start + top }
  }
  const middle = (at: number) => boxes[at]!.x + box.width / 2
  const right = edge + inner
  const wordsWidth = (at: number) =>
    (isLast(at)
      ? right + (sideways ? gutter : aside.length > 0 ? 0 : margin)
      : middle(at) + box.width / 2 + box.apart) -
    middle(at) -
    16

  const lines: PhaseLine<Transition>[] = []
  const names = (link: Link<Transition>) => ({
    from: phases[link.from]!.name,
    to: phases[link.to]!.name,
    transitions: link.transitions,
  })
  for (const link of down) {
    const at = trackY(keyOf(link, 'down'))!
    const [sx, tx] = [middle(link.from), middle(link.to)]
    const top = boxes[link.to]!.y
    const start: Point = [sx, boxes[link.from]!.y + heights[link.from]!]
    const points: Point[] = sx === tx ? [start, [tx, top]] : [start, [sx, at.y], [tx, at.y], [tx, top]]
    lines.push({ ...names(link), points, words: { x: tx + 10, y: at.top, width: wordsWidth(link.to) } })
  }
  const lanes = [...aside].sort(
    (a, b) => Math.abs(row(a.from) - row(a.to)) - Math.abs(row(b.from) - row(b.to)),
  )
  const firstLane = right + (sideways ? gutter : lane)
  for (const link of aside) {
    const x = firstLane + lanes.indexOf(link) * lane
    const out = trackY(keyOf(link, 'out'))
    const into = trackY(keyOf(link, 'in'))
    const points: Point[] = []
    let words: PhaseLine<Transition>['words']
    if (out) {
      const from = middle(link.from) + 40
      points.push([from, boxes[link.from]!.y + heights[link.from]!], [from, out.y], [x, out.y])
      words = { x: from + 8, y: out.top - 2, width: wordsWidth(link.from) - 40 }
    } else {
      const at = portY(link.from, link)
      const start = boxes[link.from]!.x + box.width
      points.push([start, at], [x, at])
      words = { x: start + 10, y: at - linesOn(link) * textLine - 1, width: gutter - 20 }
    }
    if (isLast(link.to)) {
      const at = portY(link.to, link)
      points.push([x, at], [boxes[link.to]!.x + box.width, at])
    } else {
      const at = into?.y ?? tops[0]! - gap.least / 2
      const to = middle(link.to) + 40
      points.push([x, at], [to, at], [to, boxes[link.to]!.y])
    }
    lines.push({ ...names(link), points, words })
  }
  const width = aside.length > 0 ? firstLane + (aside.length - 1) * lane + edge + 4 : right + edge + margin
  return { boxes, lines, width, height }
}
