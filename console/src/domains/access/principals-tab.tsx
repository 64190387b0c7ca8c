import { useMemo } from 'react'
import type { Pages } from '../../data/pages.ts'
import { type DataColumn, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { Timestamp } from '../../kit/timestamp.tsx'
import type { PrincipalRow } from './access-queries.ts'
import { liveGrants } from './grant-words.ts'
import { PrincipalPanel } from './principal-panel.tsx'
import type { AccessSearch } from './search.ts'
import { accessText } from './text.ts'

export type AccessTabProps = {
  pages: Pages<PrincipalRow>
  search: AccessSearch
  onChange: (search: AccessSearch, replace?: boolean) => void
}

/** The latest use of any of its tokens; null when none was ever used. */
const lastUse = ({ tokens }: PrincipalRow): string | null =>
  tokens.reduce<string | null>((latest, { lastUsedAt }) => {
    if (!lastUsedAt || (latest && latest > lastUsedAt)) return latest
    return lastUsedAt
  }, null)

export function PrincipalsTab({ pages, search, onChange }: AccessTabProps) {
  const t = accessText.useText()
  const columns = useMemo(
    (): readonly DataColumn<PrincipalRow>[] => [
      {
        id: 'name',
        header: t('access.name'),
        cell: (row) => (
          <>
            {row.name}{' '}
            {row.disabledAt && (
              <span className="access-state" data-state="disabled">
                {t('access.disabled')}
              </span>
            )}
          </>
        ),
      },
      { id: 'kind', header: t('access.kind'), width: 130, cell: (row) => t(`access.kinds.${row.kind}`) },
      {
        id: 'email',
        header: t('access.email'),
        wide: true,
        cell: (row) => <span className="mute">{row.email}</span>,
      },
      {
        id: 'grants',
        header: t('access.grants'),
        width: 80,
        align: 'end',
        cell: (row) => liveGrants(row.grants).length,
      },
      {
        id: 'tokens',
        header: t('access.tokens'),
        width: 80,
        align: 'end',
        wide: true,
        cell: (row) => row.tokens.filter(({ revokedAt }) => !revokedAt).length,
      },
      {
        id: 'used',
        header: t('access.lastUsed'),
        width: 120,
        wide: true,
        cell: (row) => {
          const at = lastUse(row)
          return at ? <Timestamp at={at} /> : <span className="mute">{t('access.never')}</span>
        },
      },
      {
        id: 'created',
        header: t('access.created'),
        width: 120,
        wide: true,
        cell: (row) => <Timestamp at={row.createdAt} />,
      },
    ],
    [t],
  )
  const open = pages.rows.find(({ id }) => id === search.principal)
  return (
    <div className="access-split" data-open={open ? true : undefined}>
      <DataTable
        label={t('access.tabs.principals')}
        rows={pages.rows}
        columns={columns}
        visible={open ? ['name', 'kind', 'grants'] : undefined}
        rowName={({ name }) => name}
        active={search.principal}
        onActive={({ id }) => onChange({ ...search, principal: id }, true)}
        hasMore={pages.hasMore}
        loading={pages.loading}
        loadingMore={pages.loadingMore}
        onMore={pages.loadMore}
        empty={<EmptyState title={t('access.noPrincipals')} />}
      />
      {open && (
        <PrincipalPanel
          key={open.id}
          principal={open}
          onChanged={() => void pages.refresh()}
          onViewAs={(token) => onChange({ tab: 'view-as', principal: open.id, token })}
          onClose={() => onChange({ ...search, principal: undefined }, true)}
        />
      )}
    </div>
  )
}
