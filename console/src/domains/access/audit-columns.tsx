import { useMemo } from 'react'
import type { DataColumn } from '../../kit/data-table.tsx'
import { Timestamp } from '../../kit/timestamp.tsx'
import type { AuditRow } from './audit-queries.ts'
import { accessText } from './text.ts'

/** What a record is called: its title or name, else its kind and the end of its id. */
export function targetName({ subject, subjectType, subjectId }: AuditRow): string {
  switch (subject?.__typename) {
    case 'Session':
      return subject.title
    case 'Run':
      return `${subject.session.title} · ${subject.number}`
    case 'Approval':
      return subject.approvalTitle
    case 'InboxItem':
      return subject.inboxTitle
    case 'Project':
    case 'Principal':
    case 'Token':
      return subject.name
    default:
      return [subjectType, subjectId?.replace(/=+$/, '').slice(-8)].filter(Boolean).join(' ')
  }
}

export function useAuditColumns(): readonly DataColumn<AuditRow>[] {
  const t = accessText.useText()
  return useMemo(
    () => [
      { id: 'at', header: t('audit.at'), width: 176, cell: (row) => <Timestamp at={row.at} ledger /> },
      {
        id: 'actor',
        header: t('audit.actor'),
        width: 110,
        cell: (row) => row.actor?.name ?? <span className="mute">{t('audit.system')}</span>,
      },
      { id: 'action', header: t('audit.action'), cell: (row) => <code>{row.action}</code> },
      { id: 'target', header: t('audit.target'), wide: true, cell: targetName },
      {
        id: 'reason',
        header: t('audit.reason'),
        wide: true,
        cell: (row) => <span className="mute">{row.reason}</span>,
      },
      {
        id: 'channel',
        header: t('audit.channel'),
        width: 100,
        wide: true,
        cell: (row) => t(`audit.channels.${row.channel}`),
      },
    ],
    [t],
  )
}
