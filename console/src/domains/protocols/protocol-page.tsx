import { Button, NativeSelect, Tabs } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback } from 'react'
import { EmptyState, FailedState } from '../../kit/empty-state.tsx'
import { useCrumb } from '../../shell/crumbs.tsx'
import { AppPending } from '../../shell/pending.tsx'
import { useProject } from '../../shell/viewer.ts'
import { AllowedTag } from './allowed-tag.tsx'
import { useMayRegister } from './may-register.ts'
import { PhasesView } from './phases-view.tsx'
import type { ProtocolSearch } from './search.ts'
import { protocolsText } from './text.ts'
import { useProtocols } from './use-protocols.ts'
import { UseView } from './use-view.tsx'
import '../../kit/peek.css'
import './protocols.css'

const DefinitionView = lazy(() =>
  import('./definition-view.tsx').then(({ DefinitionView }) => ({ default: DefinitionView })),
)
const CompareView = lazy(() =>
  import('./compare-view.tsx').then(({ CompareView }) => ({ default: CompareView })),
)

const tabs = ['phases', 'definition', 'compare', 'use'] as const
type Tab = (typeof tabs)[number]

/** A protocol: its phases drawn, its rules in words, its definition, its versions compared, and where it is used. */
export function ProtocolPage() {
  const t = protocolsText.useText()
  const project = useProject()
  const mayRegister = useMayRegister()
  const { protocolId } = useParams({ from: '/app/p/$slug/protocols/$protocolId' })
  const search = useSearch({ from: '/app/p/$slug/protocols/$protocolId' })
  const navigate = useNavigate({ from: '/p/$slug/protocols/$protocolId' })
  const { protocols, problem, reread } = useProtocols(project.id)
  const versions = protocols
    ?.filter((each) => each.protocolId === protocolId)
    .sort((a, b) => b.version - a.version)
  const protocol = search.version
    ? versions?.find(({ version }) => version === search.version)
    : versions?.[0]
  useCrumb(protocol?.title)
  const change = useCallback(
    (next: Partial<ProtocolSearch>) =>
      void navigate({ search: (old) => ({ ...old, ...next }), replace: true }),
    [navigate],
  )
  if (!versions) return problem ? <FailedState problem={problem} onRetry={reread} /> : <AppPending />
  if (!protocol)
    return (
      <EmptyState
        title={
          versions.length === 0
            ? t('noSuch', { id: protocolId })
            : t('noSuchVersion', { id: protocolId, version: search.version ?? 0 })
        }
        action={
          versions.length === 0 ? (
            <Link className="link" to="/p/$slug/protocols" params={project}>
              {t('toList')}
            </Link>
          ) : (
            <button type="button" className="link-button" onClick={() => change({ version: undefined })}>
              {t('toNewest')}
            </button>
          )
        }
      />
    )
  const tab = search.tab ?? 'phases'
  return (
    <Tabs
      className="page"
      value={tab}
      onChange={(next) =>
        change({ tab: next === 'phases' ? undefined : ((next as Exclude<Tab, 'phases'>) ?? undefined) })
      }
      keepMounted={false}
      variant="none"
    >
      <div className="page-head">
        <h1>{protocol.title}</h1>
        {versions.length > 1 ? (
          <NativeSelect
            size="xs"
            className="protocol-version"
            aria-label={t('version')}
            value={protocol.version}
            onChange={(event) => {
              const version = Number(event.currentTarget.value)
              change({ version: version === versions[0]?.version ? undefined : version })
            }}
          >
            {versions.map(({ name, version, latest }) => (
              <option key={version} value={version}>
                {latest ? t('versionOf', { version: name }) : name}
              </option>
            ))}
          </NativeSelect>
        ) : (
          <code>{protocol.name}</code>
        )}
        <span className="tag">{t(protocol.builtIn ? 'kind.built-in' : 'kind.registered')}</span>
        <AllowedTag allowed={protocol.allowed} />
        <Tabs.List className="protocol-tabs">
          {tabs.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {t(`tabs.${each}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <span className="grow" />
        {mayRegister && (
          <Button
            variant="default"
            size="compact-sm"
            onClick={() =>
              void navigate({
                to: '/p/$slug/protocols/new/draft',
                params: project,
                search: { from: protocol.name },
              })
            }
          >
            {t(protocol.builtIn ? 'register.openCopy' : 'register.openVersion')}
          </Button>
        )}
      </div>
      <Tabs.Panel value={tab} className="page-body">
        <Suspense fallback={<AppPending />}>
          {tab === 'phases' && (
            <PhasesView protocol={protocol} open={search.phase} onOpen={(phase) => change({ phase })} />
          )}
          {tab === 'definition' && (
            <DefinitionView
              projectId={project.id}
              protocol={protocol}
              as={search.as}
              onAs={(as) => change({ as })}
            />
          )}
          {tab === 'compare' && (
            <CompareView
              protocol={protocol}
              versions={versions}
              against={search.against}
              onAgainst={(against) => change({ against })}
            />
          )}
          {tab === 'use' && <UseView key={protocol.name} protocol={protocol} />}
        </Suspense>
      </Tabs.Panel>
    </Tabs>
  )
}
