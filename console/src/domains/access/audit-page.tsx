import { Button, Tooltip } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { use, useCallback, useMemo, useState } from 'react'
import { useClient } from 'urql'
import { type Problem, problemOf } from '../../data/outcome.ts'
import { usePages } from '../../data/pages.ts'
import { DataTable } from '../../kit/data-table.tsx'
import { EmptyState, FailedState, FilteredEmpty } from '../../kit/empty-state.tsx'
import { ProblemNotice } from '../../kit/problem-notice.tsx'
import { SavedViews } from '../../kit/saved-views.tsx'
import { timeText } from '../../kit/timestamp.tsx'
import { ProjectContext } from '../../shell/viewer.ts'
import { useAuditColumns } from './audit-columns.tsx'
import { AuditEntryPanel } from './audit-entry.tsx'
import { AuditFilterBar } from './audit-filters.tsx'
import { AuditExport, AuditLog } from './audit-queries.ts'
import { type AuditSearch, auditSearch } from './search.ts'
import { accessText } from './text.ts'
import '../../kit/peek.css'
import './audit.css'

/** Who did what, when, through which door: of one project or of everything the viewer may see. */
export function AuditPage() {
  const t = accessText.useText()
  const project = use(ProjectContext)
  const { slug } = useParams({ strict: false })
  const search = useSearch({ strict: false }) as AuditSearch
  const navigate = useNavigate()
  const client = useClient()
  const [exportProblem, setExportProblem] = useState<Problem>()

  const change = useCallback(
    (next: AuditSearch, replace = false) =>
      void (slug
        ? navigate({ to: '/p/$slug/audit', params: { slug }, search: next, replace })
        : navigate({ to: '/audit', search: next, replace })),
    [navigate, slug],
  )
  const fillView = useCallback(
    (next: object, replace: boolean) => change(auditSearch.parse(next), replace),
    [change],
  )
  const filter = useMemo(
    () => ({
      actorId: search.actor ?? null,
      actions: search.actions ?? null,
      subjectId: search.subject ?? null,
      channels: search.channels ?? null,
      from: search.from ?? null,
      to: search.to ?? null,
    }),
    [search],
  )
  const filtered = Object.values(filter).some((value) => value !== null)
  const pages = usePages(AuditLog, { projectId: project?.id ?? null, filter }, (data) => data.auditLog)
  const columns = useAuditColumns()
  const entry = pages.rows.find(({ id }) => id === search.entry)

  const exportCsv = async () => {
    setExportProblem(undefined)
    const { data, error } = await client
      .query(AuditExport, { projectId: project?.id ?? null, filter }, { requestPolicy: 'network-only' })
      .toPromise()
    if (data) location.assign(data.auditExportPath)
    else if (error) setExportProblem(problemOf(error))
  }
  const { entry: _entry, saved: _saved, ...filters } = search
  return (
    <div className="page audit">
      <div className="page-head">
        <h1>{t('audit.title')}</h1>
        {!project && <span className="tag">{t('audit.all')}</span>}
        <AuditFilterBar search={search} onChange={change} />
        <span className="grow" />
        {project && (
          <SavedViews
            projectId={project.id}
            screen="audit"
            search={{ ...filters, saved: search.saved }}
            onChange={fillView}
          />
        )}
        {pages.rows.length > 0 && (
          <Tooltip label={t('audit.exportHint')}>
            <Button variant="default" size="compact-sm" onClick={() => void exportCsv()}>
              {t('audit.export')}
            </Button>
          </Tooltip>
        )}
        <ProblemNotice problem={exportProblem} />
      </div>
      <div className="audit-body" data-open={entry ? true : undefined}>
        {pages.problem && pages.rows.length === 0 ? (
          <FailedState problem={pages.problem} onRetry={() => void pages.refresh()} />
        ) : (
          <DataTable
            label={t('audit.title')}
            rows={pages.rows}
            columns={columns}
            visible={entry ? ['at', 'actor', 'action', 'target'] : undefined}
            rowName={(row) => `${row.action} ${timeText(row.at)}`}
            active={search.entry}
            onActive={(row) => change({ ...search, entry: row.id }, true)}
            total={pages.total}
            hasMore={pages.hasMore}
            loading={pages.loading}
            loadingMore={pages.loadingMore}
            outdated={pages.outdated}
            onMore={pages.loadMore}
            empty={
              filtered ? (
                <FilteredEmpty onClear={() => change({})} />
              ) : (
                <EmptyState title={t('audit.nothing')}>{t('audit.nothingHint')}</EmptyState>
              )
            }
          />
        )}
        {entry && (
          <AuditEntryPanel
            entry={entry}
            onFilter={(next) => change({ ...search, ...next })}
            onClose={() => change({ ...search, entry: undefined }, true)}
          />
        )}
      </div>
    </div>
  )
}
