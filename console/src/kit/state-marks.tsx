import type { ReactNode } from 'react'
import './state-marks.css'

/**
 * What a state means to the person who looks at it. Each has a shape, a colour and a word:
 * running (open ring), waiting for you (diamond), bad: refused or failed (square), ended (grey ring),
 * said: reported done and not proven (hollow), proven: done with a verdict (solid).
 */
export type MarkKind = 'running' | 'waiting' | 'bad' | 'ended' | 'said' | 'proven'

type StateMarkProps = {
  kind: MarkKind
  /** The word beside the shape: a state is never told by colour or shape alone. */
  children: ReactNode
  title?: string | undefined
}

export function StateMark({ kind, children, title }: StateMarkProps) {
  return (
    <span className="state-mark" data-kind={kind} title={title}>
      <i aria-hidden="true" />
      <span className="state-mark-word">{children}</span>
    </span>
  )
}
