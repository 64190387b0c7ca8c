import { Button, Group, Modal, Switch, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useCommand } from '../../data/outcome.ts'
import { Confirm } from '../../kit/confirm.tsx'
import { issueOf, ProblemNotice } from '../../kit/problem-notice.tsx'
import { kitText } from '../../kit/text.ts'
import { CancelRun, CloseSession, DeleteSession, RenameSession } from './commands.ts'
import { ForkDialog } from './forks/fork-dialog.tsx'
import { groupedNumber } from './numbers.ts'
import { sessionText } from './text.ts'

export type DialogName = 'rename' | 'close' | 'delete' | 'cancel' | 'fork'

type Subject = {
  id: string
  title: string
  generation: number
  eventCount: number
  liveRuns: number
  activeRun: { id: string; number: number } | null
}

type SessionDialogsProps = {
  session: Subject
  dialog: DialogName
  onClose: () => void
  onChanged: () => void
  onDeleted: () => void
  /** Where a fork is offered: it is there. */
  onForked?: (sessionId: string) => void
}

/** What can't be taken back asks first and says what it does; a refusal keeps the dialog and what was typed. */
export function SessionDialogs(props: SessionDialogsProps) {
  switch (props.dialog) {
    case 'rename':
      return <RenameDialog {...props} />
    case 'close':
      return <CloseDialog {...props} />
    case 'delete':
      return <DeleteDialog {...props} />
    case 'fork':
      return (
        <ForkDialog
          sessionId={props.session.id}
          onClose={props.onClose}
          onForked={(id) => props.onForked?.(id)}
        />
      )
    case 'cancel':
      return <CancelDialog {...props} />
    default:
      return props.dialog satisfies never
  }
}

function RenameDialog({ session, onClose, onChanged }: SessionDialogsProps) {
  const t = sessionText.useText()
  const words = kitText.useText()
  const rename = useCommand(RenameSession)
  const [title, setTitle] = useState(session.title)
  const save = async () => {
    const input = { sessionId: session.id, title: title.trim(), expectedGeneration: session.generation }
    if (!(await rename.run({ input })).ok) return
    onChanged()
    onClose()
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('dialog.renameTitle')}
      closeButtonProps={{ 'aria-label': words('close') }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (title.trim() !== '') void save()
        }}
      >
        <TextInput
          label={t('dialog.name')}
          value={title}
          maxLength={120}
          required
          data-autofocus
          error={issueOf(rename.problem, 'title')}
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
        <ProblemNotice problem={rename.problem} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {words('cancel')}
          </Button>
          <Button type="submit" loading={rename.busy} disabled={title.trim() === ''}>
            {t('dialog.rename')}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}

function CloseDialog({ session, onClose, onChanged }: SessionDialogsProps) {
  const t = sessionText.useText()
  const close = useCommand(CloseSession)
  const [cancelActive, setCancelActive] = useState(false)
  const confirm = async () => {
    const input = { sessionId: session.id, cancelActive, expectedGeneration: session.generation }
    if (!(await close.run({ input })).ok) return
    onChanged()
    onClose()
  }
  return (
    <Confirm
      opened
      onClose={onClose}
      title={t('dialog.closeTitle', { title: session.title })}
      verb={t('dialog.close')}
      busy={close.busy}
      problem={close.problem}
      onConfirm={() => void confirm()}
    >
      <p>{t('dialog.closeBody')}</p>
      {session.liveRuns > 0 && (
        <>
          <p>{t('dialog.closeLive', { count: session.liveRuns })}</p>
          <Switch
            label={t('dialog.cancelActive')}
            checked={cancelActive}
            onChange={(event) => setCancelActive(event.currentTarget.checked)}
          />
        </>
      )}
    </Confirm>
  )
}

function DeleteDialog({ session, onClose, onDeleted }: SessionDialogsProps) {
  const t = sessionText.useText()
  const remove = useCommand(DeleteSession)
  const confirm = async (reason: string) => {
    const input = {
      sessionId: session.id,
      expectedGeneration: session.generation,
      ...(reason !== '' && { reason }),
    }
    const outcome = await remove.run({ input })
    if (!outcome.ok) return
    const { retainedHistory, purgeFailures } = outcome.value
    notifications.show({
      message: retainedHistory
        ? t('dialog.retained', { failures: purgeFailures.join(', ') })
        : t('dialog.deleted'),
    })
    onClose()
    onDeleted()
  }
  return (
    <Confirm
      opened
      danger
      reason="optional"
      onClose={onClose}
      title={t('dialog.deleteTitle', { title: session.title })}
      verb={t('dialog.delete')}
      busy={remove.busy}
      problem={remove.problem}
      onConfirm={(reason) => void confirm(reason)}
    >
      <p>{t('dialog.deleteBody', { events: groupedNumber(session.eventCount) })}</p>
    </Confirm>
  )
}

function CancelDialog({ session, onClose, onChanged }: SessionDialogsProps) {
  const t = sessionText.useText()
  const cancel = useCommand(CancelRun)
  // The run that was alive when the dialog opened: another one is never cancelled in its place.
  const [run] = useState(session.activeRun)
  if (run === null) return null
  const confirm = async (reason: string) => {
    if (!(await cancel.run({ input: { runId: run.id, reason } })).ok) return
    onChanged()
    onClose()
  }
  return (
    <Confirm
      opened
      danger
      reason="required"
      onClose={onClose}
      title={t('dialog.cancelTitle', { number: run.number })}
      verb={t('dialog.cancel')}
      busy={cancel.busy}
      problem={cancel.problem}
      onConfirm={(reason) => void confirm(reason)}
    >
      <p>{t('dialog.cancelBody')}</p>
    </Confirm>
  )
}
