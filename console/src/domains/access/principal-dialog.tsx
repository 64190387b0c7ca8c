import { Button, Group, Modal, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useIdempotencyKey } from '../../data/idempotency.ts'
import { useCommand } from '../../data/outcome.ts'
import { issueOf, ProblemNotice } from '../../kit/problem-notice.tsx'
import { kitText } from '../../kit/text.ts'
import { CreatePrincipal } from './access-queries.ts'
import { CapabilityPicker, type GrantDraft } from './capability-picker.tsx'
import { Secret } from './secret.tsx'
import { accessText } from './text.ts'

const kinds = ['PERSON', 'SERVICE', 'RUNTIME', 'WORKER', 'VERIFIER', 'CHANNEL'] as const
type Kind = (typeof kinds)[number]

/** Creates a principal; a person gets a link that works once. */
export function PrincipalDialog({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const t = accessText.useText()
  const kit = kitText.useText()
  const create = useCommand(CreatePrincipal)
  const [kind, setKind] = useState<Kind>('PERSON')
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [draft, setDraft] = useState<GrantDraft>({ projectId: null, capabilities: [] })
  const key = useIdempotencyKey()
  const [invitation, setInvitation] = useState<string>()
  const submit = async () => {
    const input = {
      kind,
      name: name.trim(),
      email: kind === 'PERSON' ? email.trim() || null : null,
      grants:
        draft.capabilities.length > 0
          ? [{ capabilities: [...draft.capabilities], projectId: draft.projectId }]
          : null,
    }
    const outcome = await create.run({ input: { ...input, idempotencyKey: key.keyFor(input) } })
    if (!outcome.ok) return
    onCreated()
    if (outcome.value.signInUrl) setInvitation(outcome.value.signInUrl)
    else onClose()
  }
  if (invitation)
    return (
      <Modal
        opened
        size="lg"
        onClose={onClose}
        closeOnClickOutside={false}
        title={t('access.inviteTitle')}
        closeButtonProps={{ 'aria-label': kit('close') }}
      >
        <div className="stack">
          <p>{t('access.inviteHint', { name })}</p>
          <Secret value={invitation} label={t('access.copyLink')} />
          <Group justify="flex-end">
            <Button onClick={onClose}>{t('access.done')}</Button>
          </Group>
        </div>
      </Modal>
    )
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={t('access.newPrincipal')}
      closeButtonProps={{ 'aria-label': kit('close') }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <NativeSelect
          label={t('access.kind')}
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value as Kind)}
        >
          {kinds.map((each) => (
            <option key={each} value={each}>
              {t(`access.kinds.${each}`)}
            </option>
          ))}
        </NativeSelect>
        <TextInput
          label={t('access.name')}
          required
          maxLength={120}
          data-autofocus
          value={name}
          error={issueOf(create.problem, 'name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {kind === 'PERSON' && (
          <TextInput
            label={t('access.email')}
            type="email"
            required
            value={email}
            error={issueOf(create.problem, 'email')}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
        )}
        <CapabilityPicker draft={draft} onChange={setDraft} />
        <ProblemNotice problem={create.problem} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {kit('cancel')}
          </Button>
          <Button type="submit" loading={create.busy} disabled={name.trim() === ''}>
            {t('access.create')}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
