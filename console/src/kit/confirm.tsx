import { Button, Group, Modal, Textarea } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Problem } from '../data/outcome.ts'
import { ProblemNotice } from './problem-notice.tsx'
import { kitText } from './text.ts'

type ConfirmProps = {
  opened: boolean
  onClose: () => void
  title: string
  /** The effect and what can't be undone, with the count where several things are meant. */
  children: ReactNode
  /** The verb on the button: "Revoke token", never "OK". */
  verb: string
  danger?: boolean
  /** Asks for a reason: `required` for what the server wants one for. */
  reason?: 'optional' | 'required'
  busy?: boolean
  problem?: Problem | undefined
  onConfirm: (reason: string) => void
}

/** Asks before what has no undo; stays open, with what was typed, when the server refuses. */
export function Confirm(props: ConfirmProps) {
  const t = kitText.useText()
  const [reason, setReason] = useState('')
  const missing = props.reason === 'required' && reason.trim() === ''
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title={props.title}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!missing) props.onConfirm(reason.trim())
        }}
      >
        <div>{props.children}</div>
        {props.reason && (
          <Textarea
            label={t('reason')}
            description={t('reasonHint')}
            required={props.reason === 'required'}
            maxLength={2000}
            autosize
            minRows={2}
            data-autofocus
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        )}
        <ProblemNotice problem={props.problem} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={props.onClose}>
            {t('cancel')}
          </Button>
          <Button
            type="submit"
            color={props.danger ? 'red' : 'accent'}
            disabled={missing}
            loading={props.busy ?? false}
          >
            {props.verb}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
