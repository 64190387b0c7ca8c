import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { actionOf } from '../../kit/allowed.ts'
import { type DataColumn, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { useNow } from '../../kit/now.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import type { TokenRow } from './access-queries.ts'
import { tokenState, useScopeWords } from './grant-words.ts'
import type { AccessTabProps } from './principals-tab.tsx'
import { RevokeTokenDialog } from './revoke-token.tsx'
import { accessText } from './text.ts'

/** Every token of every principal that is loaded, the last created first. */
export function TokensTab({ pages, search, onChange, onCreate }: AccessTabProps & { onCreate: () => void }) {
  const t = accessText.useText()
  const scope = useScopeWords()
  const now = useNow()
  const [revoking, setRevoking] = useState<TokenRow>()
  const tokens = useMemo(
    () =>
      pages.rows
        .flatMap((principal) => principal.tokens)
        .sort((a, b) => b.createdAt.localeCompare(a.createdAt)),
    [pages.rows],
  )
  const columns: readonly DataColumn<TokenRow>[] = [
    { id: 'name', header: t('access.name'), cell: (row) => row.name },
    {
      id: 'state',
      header: t('access.state'),
      width: 90,
      cell: (row) => {
        const state = tokenState(row, now)
        return (
          <span className="access-state" data-state={state}>
            {t(`access.${state}`)}
          </span>
        )
      },
    },
    { id: 'principal', header: t('access.principal'), wide: true, cell: (row) => row.principal.name },
    {
      id: 'prefix',
      header: t('access.prefix'),
      width: 110,
      wide: true,
      cell: (row) => <code className="mute">{row.prefix}…</code>,
    },
    {
      id: 'scope',
      header: t('access.scope'),
      wide: true,
      cell: (row) => [...new Set(row.grants.map(scope))].join(', '),
    },
    {
      id: 'used',
      header: t('access.lastUsed'),
      width: 110,
      cell: (row) =>
        row.lastUsedAt ? (
          <Timestamp at={row.lastUsedAt} />
        ) : (
          <span className="mute">{t('access.never')}</span>
        ),
    },
    {
      id: 'expires',
      header: t('access.expires'),
      width: 110,
      wide: true,
      cell: (row) =>
        row.expiresAt ? <Timestamp at={row.expiresAt} /> : <span className="mute">{t('access.never')}</span>,
    },
    {
      id: 'actions',
      header: t('access.revoke'),
      quiet: true,
      width: 84,
      align: 'end',
      cell: (row) =>
        actionOf(row.allowedActions, 'revokeToken').allowed && (
          <button type="button" className="link-button" onClick={() => setRevoking(row)}>
            {t('access.revoke')}
          </button>
        ),
    },
  ]
  return (
    <>
      <DataTable
        label={t('access.tabs.tokens')}
        rows={tokens}
        columns={columns}
        rowName={({ name }) => name}
        active={search.token}
        onActive={({ id }) => onChange({ ...search, token: id }, true)}
        onOpen={(row) => onChange({ tab: 'view-as', principal: row.principal.id, token: row.id })}
        hasMore={pages.hasMore}
        loading={pages.loading}
        loadingMore={pages.loadingMore}
        onMore={pages.loadMore}
        empty={
          <EmptyState
            title={t('access.noTokens')}
            action={<Button onClick={onCreate}>{t('access.newToken')}</Button>}
          >
            {t('access.noTokensHint')}
          </EmptyState>
        }
      />
      {revoking && (
        <RevokeTokenDialog
          token={revoking}
          onClose={() => setRevoking(undefined)}
          onRevoked={() => void pages.refresh()}
        />
      )}
    </>
  )
}
