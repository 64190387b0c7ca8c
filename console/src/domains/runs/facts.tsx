import type { ReactNode } from 'react'
import './facts.css'

/** One labelled fact of a record, inside `<dl className="facts">`. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
