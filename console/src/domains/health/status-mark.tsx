import './status-mark.css'

/** Shape, colour and word together: a disc is well, a diamond wants a look, a square fails. */
export function StatusMark({ status, label }: { status: 'OK' | 'WARN' | 'FAILING'; label: string }) {
  return (
    <span className="status-mark" data-status={status}>
      {label}
    </span>
  )
}
