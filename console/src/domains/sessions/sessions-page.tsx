import { Button } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { usePages } from '../../data/pages.ts'
import { watch } from '../../data/watch.ts'
import { type DataColumn, DataTable } from '../../kit/data-table.tsx'
import { EmptyState, FailedState, FilteredEmpty } from '../../kit/empty-state.tsx'
import { useNow } from '../../kit/now.ts'
import { SavedViews } from '../../kit/saved-views.tsx'
import { StateMark } from '../../kit/state-marks.tsx'
import { Timestamp } from '../../kit/timestamp.tsx'
import { useProject } from '../../shell/viewer.ts'
import { permission } from '../runs/allowed.ts'
import { sessionSummary, summaryMark } from '../runs/run-state.ts'
import { runText } from '../runs/text.ts'
import { NewSession } from './new-session.tsx'
import { compactNumber, totalTokens } from './numbers.ts'
import type { SessionsSearch } from './search.ts'
import { SessionPeekPane } from './session-peek.tsx'
import { filterOf, isFiltered, unfiltered } from './sessions-filter.ts'
import { SessionsFilters } from './sessions-filters.tsx'
import './sessions-page.css'
import { placeOf, placeWords } from './session-place.ts'
import { throttled } from './session-query.ts'
import { type SessionRowView, SessionsChanged, SessionsCounts, SessionsQuery } from './sessions-query.ts'
import { sessionText } from './text.ts'
import { TranscriptHits } from './transcript-hits.tsx'

export function SessionsPage() {
  const t = sessionText.useText()
  const project = useProject()
  const search = useSearch({ from: '/app/p/$slug/sessions' })
  const navigate = useNavigate({ from: '/p/$slug/sessions' })
  const [creating, setCreating] = useState(false)
  const [{ data }, recount] = useQuery({ query: SessionsCounts, variables: { projectId: project.id } })
  const onSearch = useCallback(
    (change: Partial<SessionsSearch>, replace = true) =>
      void navigate({ search: (old) => ({ ...old, ...change }), replace }),
    [navigate],
  )
  const onView = useCallback(
    (view: { readonly [key: string]: unknown }, replace: boolean) =>
      void navigate({ search: view as SessionsSearch, replace }),
    [navigate],
  )
  const counts = data?.project?.counts
  const mayCreate = permission(data?.project?.allowedActions, 'createSession').is === 'allowed'
  const open = (id: string) =>
    void navigate({ to: '/p/$slug/sessions/$sessionId', params: { slug: project.slug, sessionId: id } })
  const reread = () => recount({ requestPolicy: 'network-only' })
  return (
    <div className="page sessions">
      <div>
        <header className="page-head">
          <h1>{t('title')}</h1>
          {counts && (
            <span className="mute num">
              {t('list.total', { count: counts.sessions })} ·{' '}
              {t('list.openOf', {
                open: counts.openSessions,
                runs: counts.liveRuns,
                waiting: counts.openApprovals,
              })}
            </span>
          )}
          <span className="grow" />
          <SavedViews projectId={project.id} screen="sessions" search={search} onChange={onView} />
          {mayCreate && <Button onClick={() => setCreating(true)}>{t('list.new')}</Button>}
        </header>
        <SessionsFilters search={search} onSearch={onSearch} />
      </div>
      {search.in === 'transcripts' && search.q ? (
        <TranscriptHits projectId={project.id} slug={project.slug} text={search.q} />
      ) : (
        <SessionsTable
          search={search}
          onSearch={onSearch}
          onOpen={open}
          onChanged={reread}
          onNew={mayCreate ? () => setCreating(true) : undefined}
        />
      )}
      {creating && (
        <NewSession projectId={project.id} onClose={() => setCreating(false)} onCreated={(id) => open(id)} />
      )}
    </div>
  )
}

type SessionsTableProps = {
  search: SessionsSearch
  onSearch: (change: Partial<SessionsSearch>, replace?: boolean) => void
  onOpen: (id: string) => void
  onChanged: () => void
  onNew: (() => void) | undefined
}

function SessionsTable({ search, onSearch, onOpen, onChanged, onNew }: SessionsTableProps) {
  const t = sessionText.useText()
  const project = useProject()
  const now = useNow(60_000)
  const filter = filterOf(search, now)
  const pages = usePages(
    SessionsQuery,
    { projectId: project.id, filter, orderBy: search.order ?? 'LAST_ACTIVITY_DESC' },
    (data) => data.sessions,
  )
  const columns = useColumns(project.slug)
  useLive(project.id, () => {
    void pages.refresh()
    onChanged()
  })
  const peeked = pages.rows.find((row) => row.id === search.peek)
  const filtered = isFiltered(search)
  return (
    <div className="sessions-columns" data-peek={peeked !== undefined || undefined}>
      {pages.problem && pages.rows.length === 0 ? (
        <FailedState problem={pages.problem} onRetry={() => void pages.refresh()} />
      ) : (
        <DataTable
          label={t('title')}
          rows={pages.rows}
          columns={columns}
          visible={peeked && besidePeek}
          rowName={(row) => row.title}
          active={search.peek}
          onActive={(row) => onSearch({ peek: row.id })}
          onOpen={(row) => onOpen(row.id)}
          total={pages.total}
          hasMore={pages.hasMore}
          loading={pages.loading}
          loadingMore={pages.loadingMore}
          outdated={pages.outdated}
          onMore={pages.loadMore}
          empty={
            filtered ? (
              <FilteredEmpty onClear={() => onSearch(unfiltered)} />
            ) : (
              <EmptyState
                title={t('list.empty')}
                action={
                  onNew && (
                    <Button size="xs" onClick={onNew}>
                      {t('list.new')}
                    </Button>
                  )
                }
              >
                {t('list.emptyHint')}
              </EmptyState>
            )
          }
        />
      )}
      {peeked && (
        <SessionPeekPane
          session={peeked}
          onOpen={() => onOpen(peeked.id)}
          onClose={() => onSearch({ peek: undefined })}
          onChanged={() => {
            void pages.refresh()
            onChanged()
          }}
        />
      )}
    </div>
  )
}

/** Beside an open peek, which shows the rest, the title keeps its room. */
const besidePeek = ['state', 'session', 'run', 'last']

/** Rows are patched where they stand; the list is read again at most every two seconds. */
function useLive(projectId: string, onChange: () => void): void {
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => {
    const again = throttled(() => latest.current(), 2_000)
    const stop = watch(SessionsChanged, () => ({ projectId }), { next: () => again.call() })
    return () => {
      again.cancel()
      stop()
    }
  }, [projectId])
}

function useColumns(slug: string): DataColumn<SessionRowView>[] {
  const t = sessionText.useText()
  const run = runText.useText()
  return useMemo(
    () => [
      {
        id: 'state',
        header: t('list.column.state'),
        width: 150,
        cell: (row) => {
          const summary = sessionSummary(row)
          return <StateMark kind={summaryMark(summary)}>{run(`state.${summary}`)}</StateMark>
        },
      },
      {
        id: 'session',
        header: t('list.column.session'),
        cell: (row) => (
          <>
            <Link to="/p/$slug/sessions/$sessionId" params={{ slug, sessionId: row.id }}>
              {row.title}
            </Link>{' '}
            <span className="mute">{row.intent?.text ?? row.summary}</span>
          </>
        ),
      },
      {
        id: 'protocol',
        header: t('list.column.protocol'),
        width: 190,
        wide: true,
        cell: (row) => <span className="mute">{placeWords(placeOf(row)) ?? '–'}</span>,
      },
      {
        id: 'model',
        header: t('list.column.model'),
        width: 110,
        wide: true,
        cell: (row) => <span className="mute">{row.model ?? '–'}</span>,
      },
      {
        id: 'run',
        header: t('list.column.run'),
        width: 70,
        align: 'end',
        wide: true,
        cell: (row) => (row.activeRun ?? row.lastRun)?.number ?? '–',
      },
      {
        id: 'events',
        header: t('list.column.events'),
        width: 80,
        align: 'end',
        wide: true,
        cell: (row) => compactNumber(row.eventCount),
      },
      {
        id: 'tokens',
        header: t('list.column.tokens'),
        width: 80,
        align: 'end',
        wide: true,
        cell: (row) => {
          const tokens = totalTokens(row.usage)
          return tokens === null ? '–' : compactNumber(tokens)
        },
      },
      {
        id: 'last',
        header: t('list.column.last'),
        width: 110,
        align: 'end',
        cell: (row) => <Timestamp at={row.lastActivityAt} />,
      },
    ],
    [t, run, slug],
  )
}
