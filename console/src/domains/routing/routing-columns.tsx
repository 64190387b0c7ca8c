import { useMemo } from 'react'
import type { DataColumn } from '../../kit/data-table.tsx'
import { Timestamp } from '../../kit/timestamp.tsx'
import type { RouteRow } from './queries.ts'
import { routingText } from './text.ts'
import { warningWords } from './words.ts'

export function useRoutingColumns(): readonly DataColumn<RouteRow>[] {
  const t = routingText.useText()
  return useMemo(
    () => [
      { id: 'at', header: t('at'), width: 168, wide: true, cell: ({ at }) => <Timestamp at={at} ledger /> },
      {
        id: 'message',
        header: t('message'),
        cell: ({ run, session }) => (
          <span title={run?.message.text}>
            {run?.message.text.slice(0, 200) ?? <span className="mute">{session.title}</span>}
          </span>
        ),
      },
      {
        id: 'relation',
        header: t('relation'),
        width: 96,
        cell: ({ relation }) => t(`relations.${relation}`),
      },
      {
        id: 'protocol',
        header: t('protocol'),
        width: 150,
        wide: true,
        cell: ({ protocol }) => <code>{protocol}</code>,
      },
      {
        id: 'source',
        header: t('source'),
        width: 116,
        wide: true,
        cell: ({ source }) => t(`sources.${source}`),
      },
      {
        id: 'confidence',
        header: t('confidence'),
        width: 64,
        align: 'end',
        wide: true,
        cell: ({ confidence }) => (confidence === null ? '–' : confidence.toFixed(2)),
      },
      {
        id: 'warnings',
        header: t('warnings'),
        width: 170,
        wide: true,
        cell: ({ warnings }) => (
          <span className="route-warnings" title={warnings.join(', ')}>
            {warnings.map(warningWords).join(', ')}
          </span>
        ),
      },
    ],
    [t],
  )
}

/** Beside an open decision, which shows the rest. */
export const besidePane = ['at', 'message', 'relation', 'source']
