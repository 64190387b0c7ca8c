import type { Metrics } from '../../platform/metrics.ts'
import type { HealthMonitor } from './monitor.ts'
import { healthStatuses, panelsOf, type Sample } from './rules.ts'

/** Gives the last sample to whoever scrapes. Sets of labels are closed: states, streams, panels. */
export function exposeHealth(metrics: Metrics, health: HealthMonitor): void {
  const vital =
    (read: (vitals: NonNullable<Sample['vitals']>) => number | Record<string, number> | null) => () => {
      const vitals = health.latest?.vitals
      return vitals ? read(vitals) : null
    }
  const sampled = (read: (sample: Sample) => number | Record<string, number> | null) => () =>
    health.latest && read(health.latest)

  metrics.gauge(
    'wheelhouse_runs',
    'Runs alive, by state.',
    vital((v) => v.liveRuns),
    'state',
  )
  metrics.gauge(
    'wheelhouse_runtimes',
    'Agent runtimes, by state.',
    vital((v) => ({ CONNECTED: v.runtimesConnected, DISCONNECTED: v.runtimesDisconnected })),
    'state',
  )
  metrics.gauge(
    'wheelhouse_approvals_open',
    'Asks that wait for an answer.',
    vital((v) => v.approvalsOpen),
  )
  metrics.gauge(
    'wheelhouse_inbox_open',
    'Open inbox items.',
    vital((v) => v.inboxOpen),
  )
  metrics.gauge(
    'wheelhouse_outbox',
    'Messages not handed over, by state.',
    vital((v) => ({ QUEUED: v.outboxQueued, DEAD: v.outboxDead })),
    'state',
  )
  metrics.total(
    'wheelhouse_journal_appends_total',
    'Events ever written.',
    vital((v) => v.appended),
  )
  metrics.gauge(
    'wheelhouse_database_size_bytes',
    'Size of the database.',
    vital((v) => v.sizeBytes),
  )
  metrics.gauge(
    'wheelhouse_database_connections',
    'Connections of Wheelhouse, by what they do.',
    vital((v) => v.pool),
    'state',
  )
  metrics.gauge(
    'wheelhouse_database_latency_seconds',
    'Round trip to the database.',
    sampled((s) => s.latencyMs && s.latencyMs / 1_000),
  )
  metrics.gauge(
    'wheelhouse_watchers',
    'Open watches, by stream.',
    sampled((s) => s.watchers),
    'stream',
  )
  metrics.gauge(
    'wheelhouse_tail_lag_events',
    'Events that watchers wait for.',
    sampled((s) => s.lag),
  )
  metrics.total(
    'wheelhouse_deliveries_total',
    'Live items queued for watches.',
    sampled((s) => s.deliveries),
  )
  metrics.total(
    'wheelhouse_overflows_total',
    'Watches that were too slow.',
    sampled((s) => s.overflows),
  )
  metrics.gauge(
    'wheelhouse_sweeper_age_seconds',
    'Age of the sweeper’s last pass.',
    sampled((s) => s.sweeper.ageSeconds),
  )
  metrics.gauge(
    'wheelhouse_probe_seconds',
    'Duration of the last end-to-end probe.',
    sampled((s) => (s.probe?.ms ? s.probe.ms / 1_000 : null)),
  )
  metrics.gauge(
    'wheelhouse_health_status',
    'Status of each health panel: 0 OK, 1 WARN, 2 FAILING.',
    sampled((s) =>
      Object.fromEntries(panelsOf(s).map((panel) => [panel.key, healthStatuses.indexOf(panel.status)])),
    ),
    'panel',
  )
}
