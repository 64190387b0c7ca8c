import { builder } from '../../graphql/builder.ts'
import { type Context, permit } from '../../graphql/context.ts'
import { apiVersion, minimumClient, version } from '../../platform/version.ts'
import { allows } from '../access/rules.ts'
import type { HealthReport, Point } from './monitor.ts'
import type { healthStatuses, Metric, Panel } from './rules.ts'

const ServerInfoRef = builder.objectRef<{ startedAt: Date; features: string[] }>('ServerInfo').implement({
  description: 'What this server is.',
  fields: (t) => ({
    version: t.string({ description: 'Its version.', resolve: () => version }),
    apiVersion: t.int({ description: 'The API version that it speaks.', resolve: () => apiVersion }),
    minimumClient: t.int({
      description: 'The oldest API version that it still speaks (`x-wheelhouse-api`).',
      resolve: () => minimumClient,
    }),
    features: t.exposeStringList('features', { description: 'What it can do, beyond the API version.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it was started.' }),
  }),
})

const features = [
  'watch.graphql-ws',
  'watch.sse',
  'search',
  'inbox',
  'export.markdown',
  'export.json',
  'export.jsonl',
]

const HealthStatusRef = builder.enumType('HealthStatus', {
  description: 'How well something is.',
  values: {
    OK: { description: 'Well.' },
    WARN: { description: 'Somebody should look.' },
    FAILING: { description: 'It does not work.' },
  } satisfies Record<(typeof healthStatuses)[number], object>,
})

const HealthPointRef = builder.objectRef<Point>('HealthPoint').implement({
  description: 'One value of a trend.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it was measured.' }),
    value: t.exposeFloat('value', { description: 'What was measured, in the unit of its metric.' }),
  }),
})

const HealthMetricRef = builder.objectRef<Metric & { trend: readonly Point[] }>('HealthMetric').implement({
  description: 'One measure of a panel.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Its name within the panel.' }),
    value: t.exposeFloat('value', {
      nullable: true,
      description: 'What was measured; null when nothing was.',
    }),
    unit: t.exposeString('unit', { description: '`ms`, `s`, `bytes`, `count` or `per_second`.' }),
    warnAbove: t.float({
      nullable: true,
      description: 'Above this somebody should look.',
      resolve: (metric) => metric.warnAbove ?? null,
    }),
    failAbove: t.float({
      nullable: true,
      description: 'Above this it does not work.',
      resolve: (metric) => metric.failAbove ?? null,
    }),
    trend: t.field({
      type: [HealthPointRef],
      description: 'The last half hour, oldest first, a point every 10 seconds.',
      resolve: (metric) => [...metric.trend],
    }),
  }),
})

const HealthPanelRef = builder.objectRef<Panel & Pick<HealthReport, 'trends'>>('HealthPanel').implement({
  description: 'One part of the server, measured.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Its name.' }),
    status: t.field({
      type: HealthStatusRef,
      description: 'As well as its worst measure.',
      resolve: (panel) => panel.status,
    }),
    summary: t.exposeString('summary', { description: 'What it is about, or what is wrong, in words.' }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', description: 'When it was measured.' }),
    metrics: t.field({
      type: [HealthMetricRef],
      description: 'Its measures.',
      resolve: ({ key, metrics, trends }) =>
        metrics.map((metric) => ({ ...metric, trend: trends.get(`${key}.${metric.key}`) ?? [] })),
    }),
  }),
})

const HealthRef = builder.objectRef<HealthReport>('Health').implement({
  description: 'How this server and its database are.',
  fields: (t) => ({
    status: t.field({
      type: HealthStatusRef,
      description: 'As well as its worst panel.',
      resolve: (health) => health.status,
    }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', description: 'When it was measured.' }),
    panels: t.field({
      type: [HealthPanelRef],
      description: 'Its parts.',
      resolve: ({ panels, trends }) => panels.map((panel) => ({ ...panel, trends })),
    }),
  }),
})

builder.queryFields((t) => ({
  serverInfo: t.field({
    type: ServerInfoRef,
    description: 'What this server is; for everybody, signed in or not.',
    resolve: (_root, _args, { app }) => ({
      startedAt: app.startedAt,
      features: [...features, ...(app.config.sample ? ['sample'] : [])],
    }),
  }),
  health: t.field({
    type: HealthRef,
    description:
      'How this server and its database are, measured a second ago at most. Capability: `ops.read`.',
    complexity: { field: 1, multiplier: 1 },
    resolve: (_root, _args, context) => {
      permit(context, 'ops.read', {})
      return context.app.health.report()
    },
  }),
}))

/** Watches health for a caller; it ends when the caller loses the right. */
export function openHealthWatch(context: Context) {
  const viewer = permit(context, 'ops.read', {})
  const watch = context.app.health.watch()
  watch.onEnd(
    context.app.openWatches.add({
      viewer,
      permitted: (now) => allows(now, 'ops.read', {}),
      revoke: () => watch.end(),
    }),
  )
  return watch
}

builder.subscriptionField('health', (t) =>
  t.field({
    type: HealthRef,
    description: 'The same now, every 5 seconds, and when the status changes. Capability: `ops.read`.',
    subscribe: (_root, _args, context) => openHealthWatch(context),
    resolve: (report) => report,
  }),
)
