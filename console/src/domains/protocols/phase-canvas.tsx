import {
  BaseEdge,
  type Edge,
  type EdgeProps,
  type EdgeTypes,
  Handle,
  type Node,
  type NodeProps,
  type NodeTypes,
  Position,
} from '@xyflow/react'
import { useMemo } from 'react'
import { FlowCanvas } from '../../kit/flow-canvas.tsx'
import { layPhases, type PhaseLine } from './phase-layout.ts'
import type { PhaseRow, TransitionRow } from './queries.ts'
import { protocolsText } from './text.ts'
import { useWayWords } from './way-words.ts'

type Open = (name: string) => void
type BoxNode = Node<{ phase: PhaseRow; initial: boolean; open: boolean; onOpen: Open }, 'phase'>
type WordsNode = Node<{ lines: readonly string[]; lit: boolean }, 'words'>
type LineEdge = Edge<{ points: PhaseLine<TransitionRow>['points']; lit: boolean }, 'line'>

function PhaseNode({ data: { phase, initial, open, onOpen } }: NodeProps<BoxNode>) {
  const t = protocolsText.useText()
  const { name, final, allowedActions, needsApproval } = phase
  return (
    <>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <button
        type="button"
        className="phase-box"
        data-final={final || undefined}
        aria-pressed={open}
        onClick={() => onOpen(name)}
      >
        <span className="visually-hidden">{t('phase.title')} </span>
        <span className="phase-box-name">
          <span className="truncate">{name}</span>
          {initial && <em>{t('initial')}</em>}
          {final && <em>{t('final')}</em>}
        </span>
        <small className="num truncate">
          {t('actions', { count: allowedActions.length })}
          {needsApproval.length > 0 && (
            <span className="phase-gate"> · {t('approvals', { count: needsApproval.length })}</span>
          )}
        </small>
      </button>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </>
  )
}

function WayWords({ data: { lines, lit } }: NodeProps<WordsNode>) {
  return (
    <div className="phase-words" data-lit={lit || undefined}>
      {lines.map((line) => (
        <span key={line} className="truncate" title={line}>
          {line}
        </span>
      ))}
    </div>
  )
}

const corner = 8

/** The way along the points, its corners rounded as far as there is room. */
function pathOf(points: readonly (readonly [number, number])[]): string {
  const [first = [0, 0], ...rest] = points
  const turns = rest.map(([x, y], index) => {
    const [px, py] = points[index] ?? first
    const [nx, ny] = rest[index + 1] ?? [x, y]
    const before = Math.hypot(x - px, y - py)
    const after = Math.hypot(nx - x, ny - y)
    const round = Math.min(corner, before / 2, after / 2)
    if (round === 0) return `L${x},${y}`
    const from = `${x - ((x - px) / before) * round},${y - ((y - py) / before) * round}`
    const to = `${x + ((nx - x) / after) * round},${y + ((ny - y) / after) * round}`
    return `L${from}Q${x},${y} ${to}`
  })
  return `M${first[0]},${first[1]}${turns.join('')}`
}

function WayLine({ id, data }: EdgeProps<LineEdge>) {
  if (!data) return null
  const end = data.points.at(-1) ?? [0, 0]
  const before = data.points.at(-2) ?? end
  const turn = (Math.atan2(end[1] - before[1], end[0] - before[0]) * 180) / Math.PI
  return (
    <g className="phase-line" data-lit={data.lit || undefined}>
      <BaseEdge id={id} path={pathOf(data.points)} />
      <path
        className="phase-arrow"
        d="M0,0L-8,-4.5L-8,4.5Z"
        transform={`translate(${end[0]},${end[1]}) rotate(${turn})`}
      />
    </g>
  )
}

const nodeTypes: NodeTypes = { phase: PhaseNode, words: WayWords }
const edgeTypes: EdgeTypes = { line: WayLine }

type PhaseCanvasProps = {
  /** Names the graph. */
  name: string
  phases: readonly PhaseRow[]
  initialPhase: string
  /** The phase whose rules are shown beside. */
  open: string | undefined
  onOpen: Open
}

/** The phases of a protocol drawn; load it lazily. */
export function PhaseCanvas({ name, phases, initialPhase, open, onOpen }: PhaseCanvasProps) {
  const t = protocolsText.useText()
  const { lines: linesOf } = useWayWords()
  const { nodes, edges, size } = useMemo(() => {
    const drawing = layPhases(phases, initialPhase, (each) => linesOf(each).length)
    const boxes = drawing.boxes.flatMap((box, index): BoxNode[] => {
      const phase = phases[index]
      if (!phase) return []
      const data = { phase, initial: box.name === initialPhase, open: box.name === open, onOpen }
      const { x, y, width, height } = box
      return [{ id: `phase ${box.name}`, type: 'phase', position: { x, y }, width, height, data }]
    })
    const words = drawing.lines.map((line): WordsNode => {
      const { x, y, width } = line.words
      const lines = line.transitions.flatMap(linesOf)
      const lit = line.from === open
      return {
        id: `words ${line.from} ${line.to}`,
        type: 'words',
        position: { x, y },
        width,
        height: lines.length * 17,
        data: { lines, lit },
      }
    })
    const edges = drawing.lines.map(
      ({ from, to, points }): LineEdge => ({
        id: `${from} ${to}`,
        type: 'line',
        source: `phase ${from}`,
        target: `phase ${to}`,
        data: { points, lit: from === open },
      }),
    )
    const nodes: Node[] = [...boxes, ...words]
    return { nodes, edges, size: { width: drawing.width, height: drawing.height } }
  }, [phases, initialPhase, open, onOpen, linesOf])
  return (
    <FlowCanvas
      label={t('graph', { name })}
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      size={size}
    />
  )
}
