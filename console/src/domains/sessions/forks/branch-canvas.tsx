import { Tooltip } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { type Edge, Handle, type Node, type NodeProps, type NodeTypes, Position } from '@xyflow/react'
import { useMemo } from 'react'
import { FlowCanvas } from '../../../kit/flow-canvas.tsx'
import { StateMark } from '../../../kit/state-marks.tsx'
import { sessionSummary, summaryMark } from '../../runs/run-state.ts'
import { runText } from '../../runs/text.ts'
import { useOriginWords, usePlaceWords } from './branch-words.ts'
import type { FamilySession } from './family.ts'
import type { ForkFrom } from './fork-dialog.tsx'
import { type LanePoint, layLanes } from './lanes.ts'
import { forksText } from './text.ts'

/** Pixels between columns and rows; a name stands above its lane. */
const step = { column: 72, row: 84 }
const point = 24
const margin = { left: 16, top: 12 }
const laneY = 46
const nameWidth = 260

type Fork = (from: ForkFrom, sessionId: string) => void
type SessionNode = Node<{ session: FamilySession; current: boolean }, 'session'>
type PointNode = Node<{ point: LanePoint; session: FamilySession; onFork: Fork }, 'point'>

function SessionName({ data: { session, current } }: NodeProps<SessionNode>) {
  const t = forksText.useText()
  const runs = runText.useText()
  const { slug = '' } = useParams({ strict: false })
  const origin = useOriginWords()(session.origin)
  const summary = sessionSummary(session)
  return (
    <div className="branch-session" data-current={current || undefined}>
      {summary !== 'IDLE' && (
        <StateMark kind={summaryMark(summary)}>
          <span className="visually-hidden">{runs(`state.${summary}`)}</span>
        </StateMark>
      )}
      <Tooltip label={[session.title, runs(`state.${summary}`), origin].filter(Boolean).join(' · ')}>
        <Link
          className="truncate"
          to="/p/$slug/sessions/$sessionId"
          params={{ slug, sessionId: session.id }}
          aria-current={current ? 'true' : undefined}
        >
          {session.title}
        </Link>
      </Tooltip>
      {current && <span className="branch-current">{t('current')}</span>}
    </div>
  )
}

function Point({ data: { point, session, onFork } }: NodeProps<PointNode>) {
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <PointMark point={point} session={session} onFork={onFork} />
      <Handle type="source" id="along" position={Position.Right} isConnectable={false} />
      <Handle type="source" id="fork" position={Position.Bottom} isConnectable={false} />
    </>
  )
}

function PointMark({ point, session, onFork }: PointNode['data']) {
  const t = forksText.useText()
  const words = usePlaceWords()
  const origin = useOriginWords()
  switch (point.kind) {
    case 'start':
      return <StartMark revision={session.origin?.revision ?? null} words={origin(session.origin)} />
    case 'folded':
      return (
        <Tooltip label={t('folded', { count: point.count })}>
          <span className="branch-folded num" role="img" aria-label={t('folded', { count: point.count })}>
            +{point.count}
          </span>
        </Tooltip>
      )
    case 'checkpoint': {
      const { id, number, revision } = point.place
      return (
        <PlaceMark
          kind="checkpoint"
          caption={revision === null ? `${number}` : `${number} · ${t('revision', { number: revision })}`}
          words={words(point.place)}
          onFork={() => onFork({ checkpointId: id, number }, session.id)}
        />
      )
    }
    case 'run': {
      const { runId, runNumber } = point
      return (
        <PlaceMark
          kind="run"
          caption=""
          words={t('beforeRun', { number: runNumber })}
          onFork={() => onFork({ runId, runNumber }, session.id)}
        />
      )
    }
    default:
      return point satisfies never
  }
}

function StartMark({ revision, words }: { revision: number | null; words: string | undefined }) {
  const t = forksText.useText()
  return (
    <span className="branch-point" data-kind="start" title={words}>
      {revision !== null && <small className="num">{t('revision', { number: revision })}</small>}
      <i aria-hidden="true" />
    </span>
  )
}

type PlaceMarkProps = { kind: 'checkpoint' | 'run'; caption: string; words: string; onFork: () => void }

/** A place to fork from. */
function PlaceMark({ kind, caption, words, onFork }: PlaceMarkProps) {
  const t = forksText.useText()
  const label = t('forkFrom', { place: words })
  return (
    <Tooltip label={label}>
      <button type="button" className="branch-point" data-kind={kind} aria-label={label} onClick={onFork}>
        <small className="num" aria-hidden="true">
          {caption}
        </small>
        <i aria-hidden="true" />
      </button>
    </Tooltip>
  )
}

const nodeTypes: NodeTypes = { session: SessionName, point: Point }

type BranchCanvasProps = { sessions: readonly FamilySession[]; currentId: string; onFork: Fork }

/** The family drawn; load it lazily. */
export function BranchCanvas({ sessions, currentId, onFork }: BranchCanvasProps) {
  const t = forksText.useText()
  const { nodes, edges, size } = useMemo(() => {
    const { lanes, forks, columns } = layLanes(sessions)
    const nodes: Node[] = []
    const edges: Edge[] = []
    for (const { session, row, points } of lanes) {
      const y = margin.top + row * step.row
      const current = session.id === currentId
      const name: SessionNode = {
        id: session.id,
        type: 'session',
        position: { x: margin.left + (points[0]?.column ?? 0) * step.column, y },
        width: nameWidth,
        height: 20,
        data: { session, current },
      }
      nodes.push(name)
      points.forEach((each, index) => {
        const node: PointNode = {
          id: each.key,
          type: 'point',
          position: { x: margin.left + each.column * step.column, y: y + laneY - point / 2 },
          width: point,
          height: point,
          data: { point: each, session, onFork },
        }
        nodes.push(node)
        const before = points[index - 1]
        if (!before) return
        edges.push({
          id: `${before.key} ${each.key}`,
          source: before.key,
          target: each.key,
          sourceHandle: 'along',
          type: 'straight',
          className: current ? 'branch-line current' : 'branch-line',
        })
      })
    }
    for (const { from, to, sessionId } of forks)
      edges.push({
        id: `${from} ${to}`,
        source: from,
        target: to,
        sourceHandle: 'fork',
        type: 'smoothstep',
        className: sessionId === currentId ? 'branch-fork current' : 'branch-fork',
      })
    const size = {
      width: margin.left * 2 + Math.max((columns - 1) * step.column, 0) + nameWidth,
      height: margin.top + lanes.length * step.row,
    }
    return { nodes, edges, size }
  }, [sessions, currentId, onFork])
  return <FlowCanvas label={t('graphLabel')} nodes={nodes} edges={edges} nodeTypes={nodeTypes} size={size} />
}
