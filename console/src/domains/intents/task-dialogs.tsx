import { CorrectDialog } from './correct-dialog.tsx'
import { HandoffDialog } from './handoff-dialog.tsx'
import { RebindDialog, RerouteDialog, RevertDialog } from './run-dialogs.tsx'
import type { TaskDialog, TaskSession } from './task-dialog.ts'
import './task-panel.css'

export type TaskDialogProps = {
  session: TaskSession
  projectId: string
  onClose: () => void
  /** Something was written, or what is shown is not what is there any more: read again. */
  onChanged: () => void
}

/** Each asks what is needed and says what it does; a refusal keeps the dialog and what was typed. */
export function TaskDialogs({ dialog, ...props }: TaskDialogProps & { dialog: TaskDialog }) {
  switch (dialog.kind) {
    case 'correct':
      return <CorrectDialog {...props} />
    case 'handoff':
      return <HandoffDialog {...props} />
    case 'revert':
      return <RevertDialog {...props} to={dialog.to} />
    case 'reroute':
      return <RerouteDialog {...props} run={dialog.run} />
    case 'rebind':
      return <RebindDialog {...props} run={dialog.run} />
    default:
      return dialog satisfies never
  }
}
