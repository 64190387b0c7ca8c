import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useIdempotencyKey } from '../../data/idempotency.ts'
import { useCommand } from '../../data/outcome.ts'
import { ProblemNotice } from '../../kit/problem-notice.tsx'
import { kitText } from '../../kit/text.ts'
import { GrantAccess, type PrincipalRow } from './access-queries.ts'
import { CapabilityPicker, type GrantDraft } from './capability-picker.tsx'
import { accessText } from './text.ts'

type GrantDialogProps = { principal: PrincipalRow; onClose: () => void; onGranted: () => void }

export function GrantDialog({ principal, onClose, onGranted }: GrantDialogProps) {
  const t = accessText.useText()
  const kit = kitText.useText()
  const grant = useCommand(GrantAccess)
  const [draft, setDraft] = useState<GrantDraft>({ projectId: null, capabilities: [] })
  const [reason, setReason] = useState('')
  const key = useIdempotencyKey()
  const submit = async () => {
    const input = {
      principalId: principal.id,
      grant: { capabilities: [...draft.capabilities], projectId: draft.projectId },
      reason: reason.trim() || null,
    }
    const outcome = await grant.run({ input: { ...input, idempotencyKey: key.keyFor(input) } })
    if (outcome.ok) onGranted()
  }
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={`${t('access.addGrant')}: ${principal.name}`}
      closeButtonProps={{ 'aria-label': kit('close') }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <CapabilityPicker draft={draft} onChange={setDraft} />
        <TextInput
          label={kit('reason')}
          description={kit('reasonHint')}
          maxLength={2000}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <ProblemNotice problem={grant.problem} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {kit('cancel')}
          </Button>
          <Button type="submit" loading={grant.busy} disabled={draft.capabilities.length === 0}>
            {t('access.grant')}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
