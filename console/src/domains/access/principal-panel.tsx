import { Button, CloseButton } from '@mantine/core'
import { useState } from 'react'
import { useCommand } from '../../data/outcome.ts'
import { actionOf } from '../../kit/allowed.ts'
import { Confirm } from '../../kit/confirm.tsx'
import { CopyId } from '../../kit/copy-id.tsx'
import { Timestamp } from '../../kit/timestamp.tsx'
import { type GrantRow, type PrincipalRow, RevokeGrant } from './access-queries.ts'
import { GrantDialog } from './grant-dialog.tsx'
import { liveGrants, useScopeWords } from './grant-words.ts'
import { accessText } from './text.ts'
import { TokenList } from './token-list.tsx'

type PrincipalPanelProps = {
  principal: PrincipalRow
  onChanged: () => void
  onViewAs: (tokenId: string | undefined) => void
  onClose: () => void
}

/** One principal: its grants and tokens, and what the viewer may change about them. */
export function PrincipalPanel({ principal, onChanged, onViewAs, onClose }: PrincipalPanelProps) {
  const t = accessText.useText()
  const scope = useScopeWords()
  const [granting, setGranting] = useState(false)
  const [revoking, setRevoking] = useState<GrantRow>()
  const revoke = useCommand(RevokeGrant)
  const grants = liveGrants(principal.grants)
  const mayGrant = actionOf(principal.allowedActions, 'grantAccess')
  const mayRevoke = actionOf(principal.allowedActions, 'revokeGrant')
  const confirmRevoke = async (reason: string) => {
    if (!revoking) return
    const outcome = await revoke.run({ input: { grantId: revoking.id, reason: reason || null } })
    if (!outcome.ok) return
    setRevoking(undefined)
    onChanged()
  }
  return (
    <aside className="peek" aria-label={principal.name}>
      <header>
        <h2>{t(`access.kinds.${principal.kind}`)}</h2>
        <CloseButton size="sm" aria-label={t('access.close')} onClick={onClose} />
      </header>
      <h3>{principal.name}</h3>
      <dl>
        {principal.email && (
          <>
            <dt>{t('access.email')}</dt>
            <dd>{principal.email}</dd>
          </>
        )}
        <dt>{t('access.created')}</dt>
        <dd>
          <Timestamp at={principal.createdAt} />
        </dd>
        <dt>{t('audit.id')}</dt>
        <dd>
          <CopyId id={principal.id} />
        </dd>
      </dl>
      <div className="access-section">
        <h2>{t('access.grants')}</h2>
        <span className="row">
          <Button variant="default" size="compact-xs" onClick={() => onViewAs(undefined)}>
            {t('access.tabs.view-as')}
          </Button>
          {mayGrant.allowed && (
            <Button variant="default" size="compact-xs" onClick={() => setGranting(true)}>
              {t('access.addGrant')}
            </Button>
          )}
        </span>
      </div>
      {grants.length === 0 && <p className="mute">{t('access.noGrants')}</p>}
      <ul className="access-list">
        {grants.map((grant) => (
          <li key={grant.id}>
            <b>{scope(grant)}</b>
            {mayRevoke.allowed && (
              <button type="button" className="link-button" onClick={() => setRevoking(grant)}>
                {t('access.revoke')}
              </button>
            )}
            <small>
              <code>{grant.capabilities.join(', ')}</code>
            </small>
            <small>
              <Timestamp at={grant.createdAt} /> {grant.createdBy?.name}
            </small>
          </li>
        ))}
      </ul>
      <div className="access-section">
        <h2>{t('access.tokens')}</h2>
      </div>
      <TokenList tokens={principal.tokens} onChanged={onChanged} onViewAs={onViewAs} />
      {granting && (
        <GrantDialog
          principal={principal}
          onClose={() => setGranting(false)}
          onGranted={() => {
            setGranting(false)
            onChanged()
          }}
        />
      )}
      <Confirm
        opened={revoking !== undefined}
        title={t('access.revokeGrantTitle', { name: principal.name })}
        verb={t('access.revokeGrant')}
        danger
        reason="optional"
        busy={revoke.busy}
        problem={revoke.problem}
        onClose={() => {
          revoke.clear()
          setRevoking(undefined)
        }}
        onConfirm={(reason) => void confirmRevoke(reason)}
      >
        {revoking &&
          t('access.revokeGrantEffect', { count: revoking.capabilities.length, scope: scope(revoking) })}
      </Confirm>
    </aside>
  )
}
