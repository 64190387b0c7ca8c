import { Link } from '@tanstack/react-router'
import { type FragmentOf, graphql, type ResultOf, readFragment } from '../../data/graphql.ts'
import { usePreferences } from '../../kit/preferences.ts'
import { Sparkline } from '../../kit/sparkline.tsx'
import { Timestamp } from '../../kit/timestamp.tsx'
import { formatMetric, readableKey } from './format.ts'
import { StatusMark } from './status-mark.tsx'
import { healthText } from './text.ts'

export const HealthPanelFields = graphql(`
  fragment HealthPanelFields on HealthPanel {
    key status summary checkedAt
    metrics { key value unit warnAbove failAbove trend { at value } }
  }
`)

type PanelProps = { panel: FragmentOf<typeof HealthPanelFields>; wanted: string | undefined }

export function Panel({ panel: masked, wanted }: PanelProps) {
  const t = healthText.useText()
  const { key, status, summary, checkedAt, metrics } = readFragment(HealthPanelFields, masked)
  const name = healthText.find(`panels.${key}`) ?? readableKey(key)
  // The server words what it found in English; a Chinese reader gets what the panel is about, and the
  // finding itself where it names something: which database, or what is wrong.
  const { language } = usePreferences()
  const translated = language === 'en' ? undefined : healthText.find(`about.${key}`)
  return (
    <section className="health-panel" id={`panel-${key}`} data-wanted={wanted === key || undefined}>
      <header>
        <h2>
          <Link to="/health" search={{ panel: key }} title={t('open')}>
            {name}
          </Link>
        </h2>
        <StatusMark status={status} label={t(`status.${status}`)} />
        <span className="grow" />
        <span className="mute">
          {t('checked')} <Timestamp at={checkedAt} />
        </span>
      </header>
      <p>
        {translated && <span>{translated} </span>}
        {(!translated || status !== 'OK' || key === 'database') && <span lang="en">{summary}</span>}
      </p>
      <table>
        <colgroup>
          <col className="health-col-name" />
          <col className="health-col-trend" />
          <col className="health-col-value" />
          <col />
        </colgroup>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">{t('metric')}</th>
            <th scope="col">{t('trend')}</th>
            <th scope="col">{t('value')}</th>
            <th scope="col">{t('thresholds')}</th>
          </tr>
        </thead>
        <tbody>
          {metrics.map((metric) => (
            <MetricRow key={metric.key} metric={metric} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

type Metric = ResultOf<typeof HealthPanelFields>['metrics'][number]

function MetricRow({ metric }: { metric: Metric }) {
  const t = healthText.useText()
  const { key, value, unit, warnAbove, failAbove, trend } = metric
  const name = healthText.find(`metrics.${key}`) ?? readableKey(key)
  const level =
    value == null
      ? undefined
      : failAbove != null && value > failAbove
        ? 'fail'
        : warnAbove != null && value > warnAbove
          ? 'warn'
          : undefined
  const first = trend[0]
  const last = trend.at(-1)
  const thresholds = [
    warnAbove != null && t('warnAbove', { value: formatMetric(warnAbove, unit) }),
    failAbove != null && t('failAbove', { value: formatMetric(failAbove, unit) }),
  ].filter(Boolean)
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="health-trend">
        {first && last && trend.length > 1 && (
          <Sparkline
            points={trend}
            threshold={warnAbove}
            label={t('trendOf', {
              name,
              first: formatMetric(first.value, unit),
              last: formatMetric(last.value, unit),
              highest: formatMetric(Math.max(...trend.map((point) => point.value)), unit),
            })}
          />
        )}
      </td>
      <td className="num health-value" data-level={level}>
        {value == null ? <span className="mute">{t('notMeasured')}</span> : formatMetric(value, unit)}
      </td>
      <td className="num mute health-threshold">{thresholds.join(' · ') || t('noThreshold')}</td>
    </tr>
  )
}
