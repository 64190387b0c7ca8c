import { OpenWatches } from './domains/access/open-watches.ts'
import { authenticateToken, refreshViewers } from './domains/access/operations.ts'
import type { Viewer } from './domains/access/rules.ts'
import { ensureFirstOwner } from './domains/access/sign-in/operations.ts'
import { OpenCounts } from './domains/delivery/open-counts.ts'
import { consoleChannel } from './domains/delivery/operations.ts'
import { exposeHealth } from './domains/health/measures.ts'
import { HealthMonitor, sampleEveryMs } from './domains/health/monitor.ts'
import { openProjectTail, type ProjectTail } from './domains/projects/feed/operations.ts'
import type { Classifier } from './domains/routing/operations.ts'
import { openSignalTail, type SignalTail, signalTopic } from './domains/runs/runtimes/signals.ts'
import { RunSweep } from './domains/runs/sweep.ts'
import { openSessionTail, type SessionTail, sessionTopic } from './domains/sessions/journal/operations.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import type { Db } from './platform/database.ts'
import type { Ids } from './platform/ids.ts'
import type { Logger } from './platform/logger.ts'
import { createMetrics, type Metrics } from './platform/metrics.ts'
import { originOf } from './platform/origin.ts'
import { drainOutbox } from './platform/outbox.ts'
import { type Chore, type Sweeper, startSweeper } from './platform/sweeper.ts'
import type { Platform } from './platform/transaction.ts'
import { openWake } from './platform/wake.ts'
import { retentionChores } from './retention.ts'
import { type RunningSample, type SampleState, startSample } from './runtimes/start-sample.ts'
import { handleAuditExport } from './transports/audit-export.ts'
import { createAuth } from './transports/auth.ts'
import { handleSessionExport } from './transports/exports.ts'
import { handleHealth } from './transports/health.ts'
import { openServer, type Server } from './transports/server.ts'

export interface AppOptions {
  db: Db
  databaseUrl: string
  config: Config
  clock: Clock
  ids: Ids
  log: Logger
  /** Tests with a controlled clock sweep by hand. Default: chores run by themselves. */
  automaticSweeps?: boolean
  /** Where the data is, in words, for health to say. */
  databaseNotice?: string
}

/** Serves a request, or says that it is not its own. `address` is the client's. */
export type Endpoint = (request: Request, address: string) => Promise<Response | null>

/** What the resolvers and transports of one process share. */
export interface App extends Platform {
  config: Config
  log: Logger
  startedAt: Date
  sessions: SessionTail
  projects: ProjectTail
  signals: SignalTail
  inbox: OpenCounts
  openWatches: OpenWatches
  sweeper: Sweeper
  health: HealthMonitor
  /** Asks the model that relates messages to tasks; null where none is configured. */
  classifier: Classifier | null
  metrics: Metrics
  /** Endpoints outside GraphQL; each answers null for paths that are not its own. */
  endpoints: Endpoint[]
  /** Where people reach the console; with port 0 only once this server listens. */
  origin: string
  /** The path of the one-time sign-in link, while nobody has signed up as the first owner. */
  firstOwnerPath: string | null
  /** Whether the runtime in the box works here; known once this server listens. */
  sample: SampleState
  /** The rights of callers as they are now; null for a credential that has ended. */
  refreshViewers(viewers: Viewer[]): Promise<(Viewer | null)[]>
  /** The caller behind a request's headers: a bearer token, else the console's cookie. */
  authenticate(headers: Headers): Promise<Viewer | null>
  listen(port: number, host: string): Promise<{ url: string }>
  close(): Promise<void>
}

/** The SDK is large: it is read only where a model is configured. */
async function loadClassifier(model: NonNullable<Config['model']>): Promise<Classifier> {
  const { createClassifier } = await import('./domains/routing/classifier.ts')
  return createClassifier(model)
}

/** Puts one server together on an open, migrated database. Nothing listens yet. */
export async function createApp(options: AppOptions): Promise<App> {
  const { db, databaseUrl, config, clock, ids, log } = options
  const wake = await openWake(databaseUrl, log)
  const installation = await db.installation.findUniqueOrThrow({ where: { id: 1 } })
  const platform: Platform = { db, clock, ids, wake, secret: installation.secret }
  const sessions = openSessionTail(platform, log)
  const projects = openProjectTail(platform, log)
  const signals = openSignalTail(platform, log)
  const inbox = new OpenCounts(platform, log)
  const openWatches = new OpenWatches(platform)
  const startedAt = clock.now()
  const runs = new RunSweep(platform, { notesPauses: options.automaticSweeps ?? true })

  wake.listen((hints) => {
    if (hints === 'anything') {
      sessions.poke()
      projects.poke()
      signals.poke()
      inbox.poke()
      void openWatches.check().catch(() => {})
      return
    }
    for (const hint of hints) {
      if (hint.topic === 'session') sessions.poke(sessionTopic(hint))
      else if (hint.topic === 'project') {
        projects.poke(hint.id)
        inbox.poke(hint.id)
      } else if (hint.topic === 'runtime') signals.poke(signalTopic(hint))
      else void openWatches.check().catch(() => {})
    }
  })

  const chores: Chore[] = [
    { name: 'runs', everyMs: 1_000, run: () => runs.pass() },
    { name: 'outbox', everyMs: 1_000, run: () => drainOutbox(platform, { console: consoleChannel }, log) },
    { name: 'rights', everyMs: 1_000, run: () => openWatches.check() },
    ...retentionChores(platform),
    { name: 'health', everyMs: sampleEveryMs, run: () => health.tick() },
  ]
  const sweeper = startSweeper(chores, log, { automatic: options.automaticSweeps ?? true })
  const health = new HealthMonitor(
    platform,
    {
      streams: { sessions, projects, signals, inbox },
      positions: (most) => sessions.positions(most),
      sweeper,
      databaseNotice: options.databaseNotice ?? null,
      sampleAgent: () => app.sample,
    },
    log,
  )
  const metrics = createMetrics()
  exposeHealth(metrics, health)

  const auth = await createAuth(platform, config, log)
  const firstOwner = await ensureFirstOwner(platform, config.bootstrapToken)
  let server: Server | undefined
  let sample: RunningSample | undefined
  const app: App = {
    ...platform,
    config,
    log,
    startedAt,
    sessions,
    projects,
    signals,
    inbox,
    openWatches,
    sweeper,
    health,
    classifier: config.model && (await loadClassifier(config.model)),
    metrics,
    endpoints: [
      // First, and without asking the database who calls: it must be answered while that is away.
      (request) => handleHealth(request, app),
      (request, address) => auth.handle(request, address),
      async (request) => handleAuditExport(platform, await app.authenticate(request.headers), request),
      (request) => handleSessionExport(request, app),
    ],
    origin: originOf(config),
    firstOwnerPath: firstOwner?.path ?? null,
    sample: { on: false, reason: config.sample ? 'it is starting' : 'WHEELHOUSE_SAMPLE is 0' },
    refreshViewers: (viewers) => refreshViewers(platform, viewers),
    async authenticate(headers) {
      const authorization = headers.get('authorization')
      if (authorization) {
        const [, secret] = /^Bearer ([\x21-\x7e]{16,512})$/i.exec(authorization) ?? []
        return secret ? authenticateToken(platform, secret) : null
      }
      return auth.authenticateCookie(headers)
    },
    async listen(port, host) {
      server = await openServer(app)
      const url = await server.listen(port, host)
      app.origin = originOf({ ...config, port: port || Number(new URL(url).port) })
      runs.ready()
      if (config.sample) {
        sample = await startSample(platform, { url, databaseUrl, log })
        app.sample = { on: sample.on, reason: sample.reason }
      }
      return { url }
    },
    async close() {
      await sample?.stop()
      health.close()
      await sweeper.close()
      inbox.close()
      await Promise.all([sessions.close(), projects.close(), signals.close()])
      await server?.close()
      await wake.close()
    },
  }
  return app
}
