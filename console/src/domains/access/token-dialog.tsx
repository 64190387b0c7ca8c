import { Button, Group, Modal, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useCommand } from '../../data/outcome.ts'
import { issueOf, ProblemNotice } from '../../kit/problem-notice.tsx'
import { kitText } from '../../kit/text.ts'
import { useViewer } from '../../shell/viewer.ts'
import { CreateToken, type PrincipalRow } from './access-queries.ts'
import { CapabilityPicker, type GrantDraft } from './capability-picker.tsx'
import { Secret } from './secret.tsx'
import { accessText } from './text.ts'

const lifetimes = { expiry30: 30, expiry90: 90, expiry365: 365, expiryNever: null } as const
type Lifetime = keyof typeof lifetimes

type TokenDialogProps = {
  principals: readonly PrincipalRow[]
  onClose: () => void
  onCreated: () => void
}

/** Creates a token and shows its secret, once; closing by accident is not possible then. */
export function TokenDialog({ principals, onClose, onCreated }: TokenDialogProps) {
  const t = accessText.useText()
  const kit = kitText.useText()
  const viewer = useViewer()
  const create = useCommand(CreateToken)
  const [name, setName] = useState('')
  const [principalId, setPrincipalId] = useState(viewer.id)
  const [lifetime, setLifetime] = useState<Lifetime>('expiry90')
  const [draft, setDraft] = useState<GrantDraft>({ projectId: null, capabilities: [] })
  const [secret, setSecret] = useState<string>()
  const submit = async () => {
    const days = lifetimes[lifetime]
    const outcome = await create.run({
      input: {
        name: name.trim(),
        principalId,
        grants: [{ capabilities: [...draft.capabilities], projectId: draft.projectId }],
        expiresAt: days === null ? null : new Date(Date.now() + days * 86_400_000).toISOString(),
      },
    })
    if (!outcome.ok) return
    setSecret(outcome.value.secret)
    onCreated()
  }
  if (secret)
    return (
      <Modal
        opened
        size="lg"
        onClose={onClose}
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
        title={t('access.secretTitle')}
      >
        <div className="stack">
          <p>{t('access.secretOnce')}</p>
          <Secret value={secret} label={t('access.copySecret')} />
          <div>
            <h2>{t('access.tryIt')}</h2>
            <pre className="secret-try">{`curl ${location.origin}/graphql \\
  -H 'authorization: Bearer ${secret}' \\
  -H 'content-type: application/json' \\
  -d '{"query":"{ viewer { principal { name } capabilities } }"}'`}</pre>
          </div>
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
      title={t('access.newToken')}
      closeButtonProps={{ 'aria-label': kit('close') }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextInput
          label={t('access.name')}
          required
          maxLength={120}
          data-autofocus
          value={name}
          error={issueOf(create.problem, 'name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label={t('access.forPrincipal')}
          description={t('access.narrows')}
          value={principalId}
          onChange={(event) => setPrincipalId(event.currentTarget.value)}
        >
          <option value={viewer.id}>{t('access.me', { name: viewer.name })}</option>
          {principals
            .filter(({ id }) => id !== viewer.id)
            .map((principal) => (
              <option key={principal.id} value={principal.id}>
                {principal.name}
              </option>
            ))}
        </NativeSelect>
        <CapabilityPicker draft={draft} onChange={setDraft} />
        <NativeSelect
          label={t('access.expiry')}
          value={lifetime}
          onChange={(event) => setLifetime(event.currentTarget.value as Lifetime)}
        >
          {(Object.keys(lifetimes) as Lifetime[]).map((each) => (
            <option key={each} value={each}>
              {t(`access.${each}`)}
            </option>
          ))}
        </NativeSelect>
        <ProblemNotice problem={create.problem} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {kit('cancel')}
          </Button>
          <Button
            type="submit"
            loading={create.busy}
            disabled={name.trim() === '' || draft.capabilities.length === 0}
          >
            {t('access.create')}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
