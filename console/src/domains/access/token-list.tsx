import { useState } from 'react'
import { actionOf } from '../../kit/allowed.ts'
import { useNow } from '../../kit/now.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import type { TokenRow } from './access-queries.ts'
import { tokenState } from './grant-words.ts'
import { RevokeTokenDialog } from './revoke-token.tsx'
import { accessText } from './text.ts'

type TokenListProps = {
  tokens: readonly TokenRow[]
  onChanged: () => void
  onViewAs: (tokenId: string) => void
}

/** A principal's tokens, the living ones first. */
export function TokenList({ tokens, onChanged, onViewAs }: TokenListProps) {
  const t = accessText.useText()
  const now = useNow()
  const [revoking, setRevoking] = useState<TokenRow>()
  if (tokens.length === 0) return <p className="mute">{t('access.noTokens')}</p>
  const sorted = [...tokens].sort((a, b) => Number(Boolean(a.revokedAt)) - Number(Boolean(b.revokedAt)))
  return (
    <>
      <ul className="access-list">
        {sorted.map((token) => {
          const state = tokenState(token, now)
          return (
            <li key={token.id}>
              <span>
                <b>{token.name}</b> <code className="mute">{token.prefix}…</code>{' '}
                <span className="access-state" data-state={state}>
                  {t(`access.${state}`)}
                </span>
              </span>
              <span className="row">
                {state === 'active' && (
                  <button type="button" className="link-button" onClick={() => onViewAs(token.id)}>
                    {t('access.tabs.view-as')}
                  </button>
                )}
                {actionOf(token.allowedActions, 'revokeToken').allowed && (
                  <button type="button" className="link-button" onClick={() => setRevoking(token)}>
                    {t('access.revoke')}
                  </button>
                )}
              </span>
              <small>
                {t('access.lastUsed')}:{' '}
                {token.lastUsedAt ? <Timestamp at={token.lastUsedAt} /> : t('access.never')}
                {token.expiresAt && (
                  <>
                    {' '}
                    · {t('access.expires')}: <Timestamp at={token.expiresAt} />
                  </>
                )}
              </small>
            </li>
          )
        })}
      </ul>
      {revoking && (
        <RevokeTokenDialog token={revoking} onClose={() => setRevoking(undefined)} onRevoked={onChanged} />
      )}
    </>
  )
}
