import { useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useQuery, useSubscription } from 'urql'
import { graphql } from '../../data/graphql.ts'
import { problemOf } from '../../data/outcome.ts'
import { FailedState } from '../../kit/empty-state.tsx'
import { useNow } from '../../kit/now.ts'
import { usePreferences } from '../../kit/preferences.ts'
import { shortDuration } from '../../kit/time.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import { AppPending } from '../../shell/pending.tsx'
import { HealthPanelFields, Panel } from './panel.tsx'
import { StatusMark } from './status-mark.tsx'
import { healthText } from './text.ts'
import './health.css'

const HealthQuery = graphql(
  `
    query Health {
      health { status checkedAt panels { ...HealthPanelFields } }
      serverInfo { version startedAt }
    }
  `,
  [HealthPanelFields],
)
const HealthChanges = graphql(
  `
    subscription HealthChanges {
      health { status checkedAt panels { ...HealthPanelFields } }
    }
  `,
  [HealthPanelFields],
)

/** What an operator looks at: each panel with thresholds, the age of its probe and its trend, live. */
export function HealthPage() {
  const t = healthText.useText()
  const { panel: wanted } = useSearch({ from: '/app/health' })
  const { language } = usePreferences()
  const now = useNow()
  const [{ data, error }, refresh] = useQuery({ query: HealthQuery, requestPolicy: 'cache-and-network' })
  const [{ data: change }] = useSubscription({ query: HealthChanges })
  const health = change?.health ?? data?.health
  const ready = health != null
  useEffect(() => {
    if (wanted && ready) document.getElementById(`panel-${wanted}`)?.scrollIntoView({ block: 'start' })
  }, [wanted, ready])
  if (!health)
    return error ? <FailedState problem={problemOf(error)} onRetry={() => refresh()} /> : <AppPending />
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('title')}</h1>
        <StatusMark status={health.status} label={t(`overall.${health.status}`)} />
        <span className="grow" />
        {data && (
          <span className="mute num">
            {t('version', { version: data.serverInfo.version })} ·{' '}
            {t('up', { span: shortDuration(now - Date.parse(data.serverInfo.startedAt), language) })}
          </span>
        )}
        <span className="mute num">
          {t('checked')} <Timestamp at={health.checkedAt} />
        </span>
      </div>
      <div className="page-body">
        <div className="health-panels">
          {health.panels.map((panel, index) => (
            // The order of the panels is the server's and does not change while it runs.
            // biome-ignore lint/suspicious/noArrayIndexKey: as above, and the fragment hides the key
            <Panel key={index} panel={panel} wanted={wanted} />
          ))}
        </div>
      </div>
    </div>
  )
}
