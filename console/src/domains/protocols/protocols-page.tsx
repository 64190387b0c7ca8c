import { Button, SegmentedControl, TextInput } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, useRef } from 'react'
import { useCommands } from '../../kit/commands.ts'
import { type DataColumn, DataTable } from '../../kit/data-table.tsx'
import { FailedState, FilteredEmpty } from '../../kit/empty-state.tsx'
import { useKeys } from '../../kit/keys.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import { type ShellProject, useProject } from '../../shell/viewer.ts'
import { AllowedTag } from './allowed-tag.tsx'
import { useMayRegister } from './may-register.ts'
import { type ProtocolListRow, protocolList } from './protocol-list.ts'
import type { ProtocolsSearch } from './search.ts'
import { protocolsText } from './text.ts'
import { UseCount } from './use-count.tsx'
import { useProtocolList } from './use-protocols.ts'
import './protocols.css'

/** Every protocol of the project, by its newest version. */
export function ProtocolsPage() {
  const t = protocolsText.useText()
  const project = useProject()
  const mayRegister = useMayRegister()
  const search = useSearch({ from: '/app/p/$slug/protocols' })
  const navigate = useNavigate({ from: '/p/$slug/protocols' })
  const { protocols, problem, reread } = useProtocolList(project.id)
  const field = useRef<HTMLInputElement>(null)
  useKeys(
    t('title'),
    useMemo(() => [{ keys: '/', label: t('list.search'), run: () => field.current?.focus() }], [t]),
  )
  const change = useCallback(
    (next: Partial<ProtocolsSearch>) =>
      void navigate({ search: (old) => ({ ...old, ...next }), replace: true }),
    [navigate],
  )
  const all = useMemo(() => protocolList(protocols ?? [], {}), [protocols])
  const rows = useMemo(() => protocolList(protocols ?? [], search), [protocols, search])
  useCommands(
    useMemo(
      () =>
        mayRegister
          ? [
              {
                id: 'new-protocol',
                label: t('register.title'),
                run: () => void navigate({ to: '/p/$slug/protocols/new/draft', params: project }),
              },
            ]
          : [],
      [t, navigate, project, mayRegister],
    ),
  )
  const columns = useColumns(project)
  const open = ({ id }: ProtocolListRow) =>
    void navigate({ to: '/p/$slug/protocols/$protocolId', params: { slug: project.slug, protocolId: id } })
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('title')}</h1>
        {protocols && <span className="mute num">{t('count', { count: all.length })}</span>}
        <TextInput
          ref={field}
          size="xs"
          type="search"
          placeholder={t('list.search')}
          aria-label={t('list.search')}
          value={search.q ?? ''}
          onChange={(event) => change({ q: event.currentTarget.value || undefined })}
        />
        <SegmentedControl
          size="xs"
          aria-label={t('list.kind')}
          value={search.kind ?? 'all'}
          onChange={(kind) =>
            change({ kind: kind === 'all' ? undefined : (kind as ProtocolsSearch['kind']) })
          }
          data={[
            { value: 'all', label: t('list.all') },
            { value: 'built-in', label: t('list.built-in') },
            { value: 'registered', label: t('list.registeredOnly') },
          ]}
        />
        <span className="grow" />
        {mayRegister && (
          <Button
            size="compact-sm"
            onClick={() => void navigate({ to: '/p/$slug/protocols/new/draft', params: project })}
          >
            {t('register.open')}
          </Button>
        )}
      </div>
      {problem && !protocols ? (
        <FailedState problem={problem} onRetry={reread} />
      ) : (
        <DataTable
          label={t('title')}
          rows={rows}
          columns={columns}
          rowName={({ newest }) => newest.title}
          active={search.at}
          onActive={(row) => (search.at === row.id ? open(row) : change({ at: row.id }))}
          onOpen={open}
          total={rows.length}
          loading={!protocols}
          empty={
            <FilteredEmpty hidden={all.length} onClear={() => change({ q: undefined, kind: undefined })} />
          }
        />
      )}
    </div>
  )
}

function useColumns({ id: projectId, slug }: ShellProject): readonly DataColumn<ProtocolListRow>[] {
  const t = protocolsText.useText()
  return useMemo(
    () => [
      {
        id: 'title',
        header: t('list.name'),
        cell: ({ id, newest }) => (
          <Link to="/p/$slug/protocols/$protocolId" params={{ slug, protocolId: id }}>
            {newest.title}
          </Link>
        ),
      },
      { id: 'name', header: t('list.version'), cell: ({ newest }) => <code>{newest.name}</code> },
      {
        id: 'versions',
        header: t('list.versions'),
        width: 80,
        align: 'end',
        wide: true,
        cell: ({ versions }) => versions,
      },
      {
        id: 'kind',
        header: t('list.kind'),
        width: 100,
        wide: true,
        cell: ({ newest }) => t(newest.builtIn ? 'kind.built-in' : 'kind.registered'),
      },
      {
        id: 'allowed',
        header: t('list.allowed'),
        width: 110,
        cell: ({ newest }) => <AllowedTag allowed={newest.allowed} />,
      },
      {
        id: 'phases',
        header: t('list.phases'),
        width: 80,
        align: 'end',
        wide: true,
        cell: ({ newest }) => newest.phases.length,
      },
      {
        id: 'governs',
        header: t('list.governs'),
        width: 96,
        align: 'end',
        wide: true,
        cell: ({ newest }) => t('actions', { count: newest.governs.length }),
      },
      {
        id: 'use',
        header: t('list.use'),
        width: 110,
        align: 'end',
        wide: true,
        cell: ({ id }) => <UseCount projectId={projectId} slug={slug} protocolId={id} />,
      },
      {
        id: 'registered',
        header: t('list.registered'),
        width: 190,
        wide: true,
        cell: ({ newest: { registeredAt, registeredBy } }) =>
          registeredAt && (
            <>
              <Timestamp at={registeredAt} />{' '}
              <span className="mute">{registeredBy && t('list.by', { name: registeredBy.name })}</span>
            </>
          ),
      },
    ],
    [t, slug, projectId],
  )
}
