/*
 * A measure is judged by its thresholds, a panel by its worst measure, the whole by its worst panel:
 *   OK ── above `warnAbove` ──▶ WARN ── above `failAbove` ──▶ FAILING
 * What could not be measured for long is itself a warning.
 */
export const healthStatuses = ['OK', 'WARN', 'FAILING'] as const
export type HealthStatus = (typeof healthStatuses)[number]

export interface Metric {
  key: string
  value: number | null
  unit: 'ms' | 's' | 'bytes' | 'count' | 'per_second'
  warnAbove?: number
  failAbove?: number
}
export interface PanelFacts {
  key: string
  summary: string
  checkedAt: Date
  metrics: Metric[]
  /** Where something else than a measure decides. */
  atLeast?: HealthStatus
}
export interface Panel extends PanelFacts {
  status: HealthStatus
}

const worst = (statuses: readonly HealthStatus[]): HealthStatus =>
  healthStatuses[Math.max(0, ...statuses.map((status) => healthStatuses.indexOf(status)))] ?? 'FAILING'

export function statusOf({ value, warnAbove, failAbove }: Metric): HealthStatus {
  if (value === null) return 'OK'
  if (failAbove !== undefined && value > failAbove) return 'FAILING'
  return warnAbove !== undefined && value > warnAbove ? 'WARN' : 'OK'
}
export const judge = (panel: PanelFacts): Panel => ({
  ...panel,
  status: worst([panel.atLeast ?? 'OK', ...panel.metrics.map(statusOf)]),
})
export const overall = (panels: readonly Panel[]) => worst(panels.map((panel) => panel.status))

/** What the database says of itself and of what is in it, in one reading. */
export interface Vitals {
  database: string
  serverVersion: string
  /** Where it listens; null for a socket of this machine. */
  address: string | null
  sizeBytes: number
  journalBytes: number
  connections: number
  maxConnections: number
  /** Of the product's own connections, by what they do. */
  pool: Record<string, number>
  /** Rows ever inserted into the journals. */
  appended: number
  /** How long the oldest writing transaction has been under way, in seconds: feeds wait for it. */
  oldestWriteSeconds: number
  liveRuns: Record<string, number>
  runtimesConnected: number
  runtimesDisconnected: number
  /** Disconnected ones that still have runs alive. */
  runtimesAway: number
  approvalsOpen: number
  oldestApprovalAt: Date | null
  /** Open asks whose deadline has passed: the sweeper should have settled them. */
  approvalsOverdue: number
  inboxOpen: number
  outboxQueued: number
  outboxDead: number
}

export interface Probe {
  at: Date
  /** How long it took; null when it failed. */
  ms: number | null
  /** Of a failure that a person can mend. */
  cause?: string | null
}

/** What keeps a database from writing, by PostgreSQL's code, in words for who can mend it. */
const causes: Record<string, string> = {
  '53100': 'The database’s disk is full: make room, and it goes on by itself.',
  '53200': 'The database is out of memory.',
  '53300': 'The database has no connection left: raise max_connections, or end who holds them.',
  '25006': 'The database only reads: DATABASE_URL names a replica, or it was set read-only.',
  '42501': 'The role in DATABASE_URL may not write to Wheelhouse’s tables.',
}

/** The cause of a failed write, where its code names one that a person can mend. */
export const causeOf = (code: string | undefined): string | null => (code && causes[code]) || null
/** One look at everything. `vitals` and `latencyMs` are null when the database did not answer. */
export interface Sample {
  at: Date
  vitals: Vitals | null
  latencyMs: number | null
  appendRate: number | null
  /** Events that the tails of this process have not read yet. */
  lag: number | null
  watchers: Record<string, number>
  deliveries: number
  overflows: number
  /** Watches that overflowed since the sample before. */
  newOverflows: number
  sweeper: { ageSeconds: number | null; failures: number; lastFailure: string | null }
  probe: Probe | null
  memoryBytes: number
  /** Where the data is, as the start said it. */
  databaseNotice: string | null
  /** Why the runtime in the box does not work here; null when it does. */
  sampleOff?: string | null
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0)
const counted = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`

function databasePanel({ at, vitals, latencyMs, databaseNotice }: Sample): PanelFacts {
  const where = databaseNotice ? `${databaseNotice}. ` : ''
  if (!vitals) {
    return {
      key: 'database',
      summary: `${where}The database does not answer.`,
      checkedAt: at,
      atLeast: 'FAILING',
      metrics: [{ key: 'latency', value: null, unit: 'ms', warnAbove: 50, failAbove: 1_000 }],
    }
  }
  const { database, serverVersion, address, maxConnections } = vitals
  return {
    key: 'database',
    summary: `${where}“${database}” on PostgreSQL ${serverVersion}, ${address === null ? 'over a socket of this machine' : `at ${address}`}.`,
    checkedAt: at,
    metrics: [
      { key: 'latency', value: latencyMs, unit: 'ms', warnAbove: 50, failAbove: 1_000 },
      { key: 'size', value: vitals.sizeBytes, unit: 'bytes' },
      {
        key: 'connections',
        value: vitals.connections,
        unit: 'count',
        warnAbove: Math.floor(maxConnections * 0.8),
        failAbove: Math.floor(maxConnections * 0.95),
      },
    ],
  }
}

const journalPanel = (sample: Sample, vitals: Vitals): PanelFacts => ({
  key: 'journal',
  summary: `Every change of a session, and where this server’s watchers stand behind it.`,
  checkedAt: sample.at,
  metrics: [
    { key: 'append_rate', value: sample.appendRate, unit: 'per_second' },
    { key: 'lag', value: sample.lag, unit: 'count', warnAbove: 1_000, failAbove: 50_000 },
    { key: 'oldest_write', value: vitals.oldestWriteSeconds, unit: 's', warnAbove: 10, failAbove: 60 },
    { key: 'size', value: vitals.journalBytes, unit: 'bytes' },
  ],
})

const watchersPanel = (sample: Sample): PanelFacts => ({
  key: 'watchers',
  summary: `${counted(sum(sample.watchers), 'watch', 'watches')} open on this server. A slow one overflows alone and resumes.`,
  checkedAt: sample.at,
  metrics: [
    { key: 'watchers', value: sum(sample.watchers), unit: 'count' },
    { key: 'deliveries', value: sample.deliveries, unit: 'count' },
    { key: 'overflows', value: sample.overflows, unit: 'count' },
    { key: 'new_overflows', value: sample.newOverflows, unit: 'count', warnAbove: 0 },
  ],
})

const sweeperPanel = ({ at, sweeper }: Sample): PanelFacts => ({
  key: 'sweeper',
  summary:
    sweeper.lastFailure === null
      ? 'Settles what time makes due: deadlines, lost runtimes, retention.'
      : `“${sweeper.lastFailure}” failed last; it runs again by itself.`,
  checkedAt: at,
  metrics: [
    { key: 'age', value: sweeper.ageSeconds, unit: 's', warnAbove: 10, failAbove: 60 },
    { key: 'failures', value: sweeper.failures, unit: 'count', warnAbove: 0, failAbove: 20 },
  ],
})

const runtimesPanel = ({ at, sampleOff }: Sample, vitals: Vitals): PanelFacts => ({
  key: 'runtimes',
  summary: [
    vitals.runtimesAway > 0
      ? `${counted(vitals.runtimesAway, 'runtime')} went silent with runs alive; they fail when the grace is over.`
      : `${counted(vitals.runtimesConnected, 'runtime')} connected.`,
    ...(sampleOff ? [`The sample agent is off: ${sampleOff}.`] : []),
  ].join(' '),
  checkedAt: at,
  metrics: [
    { key: 'connected', value: vitals.runtimesConnected, unit: 'count' },
    { key: 'disconnected', value: vitals.runtimesDisconnected, unit: 'count' },
    { key: 'away_with_runs', value: vitals.runtimesAway, unit: 'count', warnAbove: 0 },
  ],
})

const runsPanel = (at: Date, vitals: Vitals): PanelFacts => ({
  key: 'runs',
  summary: `${counted(sum(vitals.liveRuns), 'run')} alive in all projects.`,
  checkedAt: at,
  metrics: ['OFFERED', 'RUNNING', 'WAITING_APPROVAL'].map((state) => ({
    key: state.toLowerCase(),
    value: vitals.liveRuns[state] ?? 0,
    unit: 'count',
  })),
})

const approvalsPanel = (at: Date, vitals: Vitals): PanelFacts => ({
  key: 'approvals',
  summary:
    vitals.approvalsOpen === 0
      ? 'Nothing waits for an answer.'
      : `${counted(vitals.approvalsOpen, 'ask')} waiting for an answer, each with a deadline and a default.`,
  checkedAt: at,
  metrics: [
    { key: 'open', value: vitals.approvalsOpen, unit: 'count' },
    {
      key: 'oldest',
      value:
        vitals.oldestApprovalAt && Math.max(0, (at.getTime() - vitals.oldestApprovalAt.getTime()) / 1_000),
      unit: 's',
    },
    { key: 'overdue', value: vitals.approvalsOverdue, unit: 'count', warnAbove: 0, failAbove: 100 },
  ],
})

const outboxPanel = (at: Date, vitals: Vitals): PanelFacts => ({
  key: 'outbox',
  summary:
    vitals.outboxDead > 0
      ? `${counted(vitals.outboxDead, 'message')} could not be handed over and will not be tried again.`
      : 'Messages that were committed with a change and are handed over afterwards.',
  checkedAt: at,
  metrics: [
    { key: 'queued', value: vitals.outboxQueued, unit: 'count', warnAbove: 1_000, failAbove: 100_000 },
    { key: 'dead', value: vitals.outboxDead, unit: 'count', warnAbove: 0 },
  ],
})

function probePanel(probe: Probe): PanelFacts {
  return {
    key: 'probe',
    summary:
      probe.ms === null
        ? ['A project, a session and an event of it could not be written and read back.', probe.cause]
            .filter(Boolean)
            .join(' ')
        : 'A project, a session and an event of it are written, read back and undone in one transaction; nobody sees them.',
    checkedAt: probe.at,
    ...(probe.ms === null && { atLeast: 'FAILING' as const }),
    metrics: [{ key: 'round_trip', value: probe.ms, unit: 'ms', warnAbove: 250, failAbove: 5_000 }],
  }
}

const processPanel = (sample: Sample): PanelFacts => ({
  key: 'process',
  summary: 'This server process.',
  checkedAt: sample.at,
  metrics: [{ key: 'memory', value: sample.memoryBytes, unit: 'bytes' }],
})

/** The panels of a sample. What only the database knows is left out while it does not answer. */
export function panelsOf(sample: Sample): Panel[] {
  const { at, vitals, probe } = sample
  const panels = [
    databasePanel(sample),
    ...(probe ? [probePanel(probe)] : []),
    ...(vitals ? [journalPanel(sample, vitals)] : []),
    watchersPanel(sample),
    sweeperPanel(sample),
    ...(vitals
      ? [
          runtimesPanel(sample, vitals),
          runsPanel(at, vitals),
          approvalsPanel(at, vitals),
          outboxPanel(at, vitals),
        ]
      : []),
    processPanel(sample),
  ]
  return panels.map(judge)
}

/** Why a server is not ready to be sent requests; empty when it is. */
export interface Readiness {
  ready: boolean
  checks: {
    database: 'reachable' | 'unreachable'
    migrations: 'current' | 'pending' | 'unknown'
    sweeper: 'alive' | 'stalled'
    process: 'serving' | 'stopping'
  }
}

/** A sweeper that has not ended a pass for this long, or not begun one since the start, is stalled. */
export const sweeperStallsAfterMs = 30_000

export function readinessOf(facts: {
  reachable: boolean
  pending: number | null
  sinceSweepMs: number
  stopping: boolean
}): Readiness {
  const checks: Readiness['checks'] = {
    database: facts.reachable ? 'reachable' : 'unreachable',
    migrations: facts.pending === null ? 'unknown' : facts.pending === 0 ? 'current' : 'pending',
    sweeper: facts.sinceSweepMs <= sweeperStallsAfterMs ? 'alive' : 'stalled',
    process: facts.stopping ? 'stopping' : 'serving',
  }
  const ready =
    checks.database === 'reachable' &&
    checks.migrations === 'current' &&
    checks.sweeper === 'alive' &&
    checks.process === 'serving'
  return { ready, checks }
}
