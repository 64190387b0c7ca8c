import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { ResultOf } from '../../data/graphql.ts'
import { usePages } from '../../data/pages.ts'
import { type DataColumn, DataTable } from '../../kit/data-table.tsx'
import { EmptyState, FailedState } from '../../kit/empty-state.tsx'
import { Timestamp } from '../../kit/timestamp.tsx'
import { useProject } from '../../shell/viewer.ts'
import { type ProtocolRow, ProtocolUse } from './queries.ts'
import { protocolsText } from './text.ts'

type UseRow = ResultOf<typeof ProtocolUse>['sessions']['nodes'][number]

/** The sessions whose task is under this version now. */
export function UseView({ protocol }: { protocol: ProtocolRow }) {
  const t = protocolsText.useText()
  const project = useProject()
  const navigate = useNavigate()
  const pages = usePages(
    ProtocolUse,
    { projectId: project.id, protocol: protocol.name },
    (data) => data.sessions,
  )
  // The server takes the beginning of a name, and that of version 1 begins version 10; without a task it is the general one.
  const rows = pages.rows.filter(({ intent }) => (intent?.protocol ?? 'general-task@1') === protocol.name)
  const columns = useMemo(
    (): DataColumn<UseRow>[] => [
      {
        id: 'session',
        header: t('use.session'),
        cell: ({ id, title }) => (
          <Link to="/p/$slug/sessions/$sessionId" params={{ slug: project.slug, sessionId: id }}>
            {title}
          </Link>
        ),
      },
      {
        id: 'task',
        header: t('use.task'),
        wide: true,
        cell: ({ intent }) => <span className="mute">{intent?.text}</span>,
      },
      {
        id: 'active',
        header: t('use.active'),
        width: 120,
        cell: ({ lastActivityAt }) => <Timestamp at={lastActivityAt} />,
      },
    ],
    [t, project.slug],
  )
  if (pages.problem && pages.rows.length === 0)
    return <FailedState problem={pages.problem} onRetry={() => void pages.refresh()} />
  return (
    <DataTable
      label={t('use.title', { name: protocol.name })}
      rows={rows}
      columns={columns}
      rowName={({ title }) => title}
      onOpen={({ id }) =>
        void navigate({ to: '/p/$slug/sessions/$sessionId', params: { slug: project.slug, sessionId: id } })
      }
      hasMore={pages.hasMore}
      loading={pages.loading}
      loadingMore={pages.loadingMore}
      onMore={pages.loadMore}
      empty={<EmptyState title={t('use.none')}>{t('use.noneHint')}</EmptyState>}
    />
  )
}
