import './revision-flag.css'

/** What a revision did to the task, or a run to its revision, in one sign beside the number. */
const glyphs = {
  INITIAL: '',
  CONTINUE: '',
  REFINE: '+',
  REPLACE: '×',
  SIDE_CHAT: '·',
  CORRECTION: '±',
  HANDOFF: '⇄',
  ROUTE_SWITCH: '⇄',
} as const

type RevisionFlagProps = {
  number: number
  /** The relation or the kind of change that the sign stands for; the words beside the flag say it too. */
  sign?: keyof typeof glyphs
  title?: string | undefined
}

/** The flag of an intent revision: r1, r2, … */
export function RevisionFlag({ number, sign = 'CONTINUE', title }: RevisionFlagProps) {
  return (
    <span className="revision-flag num" title={title}>
      r{number}
      {glyphs[sign] && <span aria-hidden="true">{glyphs[sign]}</span>}
    </span>
  )
}
