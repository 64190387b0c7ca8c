import { Button, Tabs } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { usePages } from '../../data/pages.ts'
import { FailedState } from '../../kit/empty-state.tsx'
import { useViewer } from '../../shell/viewer.ts'
import { Principals } from './access-queries.ts'
import { CapabilityTable } from './capability-table.tsx'
import { PrincipalDialog } from './principal-dialog.tsx'
import { PrincipalsTab } from './principals-tab.tsx'
import type { AccessSearch } from './search.ts'
import { accessText } from './text.ts'
import { TokenDialog } from './token-dialog.tsx'
import { TokensTab } from './tokens-tab.tsx'
import { ViewAs } from './view-as.tsx'
import '../../kit/peek.css'
import './access.css'

const tabs = ['principals', 'tokens', 'capabilities', 'view-as'] as const
type Tab = (typeof tabs)[number]

/** Who may do what: principals with grants, tokens, the complete table, and what a token gets. */
export function AccessPage() {
  const t = accessText.useText()
  const viewer = useViewer()
  const navigate = useNavigate()
  const search = useSearch({ from: '/app/access' })
  const [creating, setCreating] = useState<'principal' | 'token'>()
  const pages = usePages(Principals, {}, (data) => data.principals)
  const tab = search.tab ?? 'principals'
  const change = useCallback(
    (next: AccessSearch, replace = false) => void navigate({ to: '/access', search: next, replace }),
    [navigate],
  )
  const manages = viewer.capabilities.includes('access.manage') || viewer.capabilities.includes('project.own')
  const list = { pages, search, onChange: change }
  return (
    <Tabs
      className="page"
      value={tab}
      onChange={(next) => change({ tab: (next as Tab | null) ?? 'principals' })}
      keepMounted={false}
      variant="none"
    >
      <div className="page-head">
        <h1>{t('access.title')}</h1>
        <Tabs.List className="access-tabs">
          {tabs.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {t(`access.tabs.${each}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <span className="grow" />
        <Button variant="default" size="compact-sm" onClick={() => setCreating('token')}>
          {t('access.newToken')}
        </Button>
        {manages && (
          <Button size="compact-sm" onClick={() => setCreating('principal')}>
            {t('access.newPrincipal')}
          </Button>
        )}
      </div>
      <Tabs.Panel value={tab} className="access-panel">
        {pages.problem && pages.rows.length === 0 && tab !== 'capabilities' ? (
          <FailedState problem={pages.problem} onRetry={() => void pages.refresh()} />
        ) : (
          <>
            {tab === 'principals' && <PrincipalsTab {...list} />}
            {tab === 'tokens' && <TokensTab {...list} onCreate={() => setCreating('token')} />}
            {tab === 'capabilities' && <CapabilityTable search={search} onChange={change} />}
            {tab === 'view-as' && <ViewAs principals={pages.rows} search={search} onChange={change} />}
          </>
        )}
      </Tabs.Panel>
      {creating === 'principal' && (
        <PrincipalDialog onClose={() => setCreating(undefined)} onCreated={() => void pages.refresh()} />
      )}
      {creating === 'token' && (
        <TokenDialog
          principals={pages.rows}
          onClose={() => setCreating(undefined)}
          onCreated={() => void pages.refresh()}
        />
      )}
    </Tabs>
  )
}
