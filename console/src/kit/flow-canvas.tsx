import { type Edge, type EdgeTypes, type Node, type NodeTypes, ReactFlow } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { useEffect, useRef, useState } from 'react'
import './flow-canvas.css'

type FlowCanvasProps = {
  /** Names the graph for screen readers; its nodes hold links and buttons, which have the keyboard. */
  label: string
  nodes: Node[]
  edges: Edge[]
  nodeTypes: NodeTypes
  edgeTypes?: EdgeTypes
  /** Pixels of the whole layout at full size. */
  size: { width: number; height: number }
  /** What does not fit is made smaller down to this, then scrolled. Default 0.8. */
  smallest?: number
}

/**
 * A drawn layout of ours. It lies still and is scrolled like any other part of the page, so that focus, touch and
 * zooming work as they do everywhere. Load it lazily.
 */
export function FlowCanvas({
  label,
  nodes,
  edges,
  nodeTypes,
  edgeTypes,
  size,
  smallest = 0.8,
}: FlowCanvasProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState<number>()
  useEffect(() => {
    const element = frame.current
    if (!element) return
    setWidth(element.clientWidth)
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const zoom = Math.max(smallest, Math.min(1, (width ?? size.width) / size.width))
  return (
    <section className="flow-canvas" ref={frame} aria-label={label}>
      {width !== undefined && (
        <div style={{ width: Math.ceil(size.width * zoom), height: Math.ceil(size.height * zoom) }}>
          <ReactFlow
            nodes={nodes}
            edges={edges}
            nodeTypes={nodeTypes}
            {...(edgeTypes ? { edgeTypes } : {})}
            viewport={{ x: 0, y: 0, zoom }}
            minZoom={smallest}
            maxZoom={1}
            nodesDraggable={false}
            nodesConnectable={false}
            nodesFocusable={false}
            edgesFocusable={false}
            elementsSelectable={false}
            panOnDrag={false}
            zoomOnScroll={false}
            zoomOnPinch={false}
            zoomOnDoubleClick={false}
            preventScrolling={false}
            disableKeyboardA11y
            proOptions={{ hideAttribution: true }}
          />
        </div>
      )}
    </section>
  )
}
