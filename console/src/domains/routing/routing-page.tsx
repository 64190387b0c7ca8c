import { Button } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { usePages } from '../../data/pages.ts'
import { watch } from '../../data/watch.ts'
import { DataTable } from '../../kit/data-table.tsx'
import { EmptyState, FailedState, FilteredEmpty } from '../../kit/empty-state.tsx'
import { SavedViews } from '../../kit/saved-views.tsx'
import { useProject } from '../../shell/viewer.ts'
import { DecisionPane } from './decision-pane.tsx'
import { RouteDecisions, RoutedTurns } from './queries.ts'
import { besidePane, useRoutingColumns } from './routing-columns.tsx'
import { RoutingFilters } from './routing-filters.tsx'
import { filterOf, type RoutingSearch, routingSearch, unfiltered } from './search.ts'
import { routingText } from './text.ts'
import '../../kit/peek.css'
import './routing.css'

/** Where the messages of a project went and why, the newest first. */
export function RoutingPage() {
  const t = routingText.useText()
  const project = useProject()
  const search = useSearch({ from: '/app/p/$slug/routing' })
  const navigate = useNavigate({ from: '/p/$slug/routing' })
  const change = useCallback(
    (next: RoutingSearch) => void navigate({ search: (old) => ({ ...old, ...next }) }),
    [navigate],
  )
  const open = useCallback(
    (decision: string | undefined) =>
      void navigate({ search: (old) => ({ ...old, decision }), replace: true }),
    [navigate],
  )
  const fillView = useCallback(
    (next: object, replace: boolean) => void navigate({ search: routingSearch.parse(next), replace }),
    [navigate],
  )
  const filter = filterOf(search)
  const isFiltered = Object.values(filter).some((value) => value !== null)
  const pages = usePages(RouteDecisions, { projectId: project.id, filter }, (data) => data.routeDecisions)
  const fresh = useFresh(project.id)
  const columns = useRoutingColumns()
  const { decision, saved, ...filters } = search
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('title')}</h1>
        <RoutingFilters projectId={project.id} search={search} onChange={change} />
        {fresh.count > 0 && (
          <Button
            variant="light"
            size="compact-sm"
            onClick={() => {
              fresh.clear()
              void pages.refresh()
            }}
          >
            {t('new', { count: fresh.count })}
          </Button>
        )}
        <span className="grow" />
        <SavedViews
          projectId={project.id}
          screen="routing"
          search={{ ...filters, saved }}
          onChange={fillView}
        />
      </div>
      <div className="routing-body" data-open={decision ? true : undefined}>
        {pages.problem && pages.rows.length === 0 ? (
          <FailedState problem={pages.problem} onRetry={() => void pages.refresh()} />
        ) : (
          <DataTable
            label={t('title')}
            rows={pages.rows}
            columns={columns}
            visible={decision ? besidePane : undefined}
            rowName={({ run, session }) => run?.message.text ?? session.title}
            active={decision}
            onActive={({ id }) => open(id)}
            total={pages.total}
            hasMore={pages.hasMore}
            loading={pages.loading}
            loadingMore={pages.loadingMore}
            outdated={pages.outdated}
            onMore={pages.loadMore}
            empty={
              isFiltered ? (
                <FilteredEmpty onClear={() => change(unfiltered)} />
              ) : (
                <EmptyState title={t('empty')}>{t('emptyHint')}</EmptyState>
              )
            }
          />
        )}
        {decision && (
          <DecisionPane
            key={decision}
            id={decision}
            row={pages.rows.find(({ id }) => id === decision)}
            onFilter={change}
            onClose={() => open(undefined)}
          />
        )}
      </div>
    </div>
  )
}

/** How many turns were routed since the list was read: it is read again when somebody says so, and never moves by itself. */
function useFresh(projectId: string) {
  const [count, setCount] = useState(0)
  useEffect(
    () =>
      watch(RoutedTurns, () => ({ projectId }), {
        next: ({ projectEvents }) => {
          if (projectEvents.__typename === 'ProjectEvent') setCount((before) => before + 1)
        },
      }),
    [projectId],
  )
  return { count, clear: useCallback(() => setCount(0), []) }
}
