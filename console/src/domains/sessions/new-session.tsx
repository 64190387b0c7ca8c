import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import { useCommand } from '../../data/outcome.ts'
import { issueOf, ProblemNotice } from '../../kit/problem-notice.tsx'
import { kitText } from '../../kit/text.ts'
import { CreateSession } from './commands.ts'
import { sessionText } from './text.ts'

type NewSessionProps = { projectId: string; onClose: () => void; onCreated: (id: string) => void }

export function NewSession({ projectId, onClose, onCreated }: NewSessionProps) {
  const t = sessionText.useText()
  const words = kitText.useText()
  const create = useCommand(CreateSession)
  const [title, setTitle] = useState('')
  // The same dialog creates one session, however often an unanswered request is sent again.
  const attempt = useRef({ title: '', key: crypto.randomUUID() })
  const submit = async () => {
    const wanted = title.trim()
    if (attempt.current.title !== wanted) attempt.current = { title: wanted, key: crypto.randomUUID() }
    const named = wanted === '' ? {} : { title: wanted }
    const outcome = await create.run({ input: { projectId, idempotencyKey: attempt.current.key, ...named } })
    if (outcome.ok) onCreated(outcome.value.session.id)
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('dialog.newTitle')}
      closeButtonProps={{ 'aria-label': words('close') }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextInput
          label={t('dialog.name')}
          description={t('dialog.newHint')}
          value={title}
          maxLength={120}
          data-autofocus
          error={issueOf(create.problem, 'title')}
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
        <ProblemNotice problem={create.problem} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {words('cancel')}
          </Button>
          <Button type="submit" loading={create.busy}>
            {t('dialog.create')}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
