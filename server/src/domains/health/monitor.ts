import { Latest } from '../../platform/latest.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Sweeper } from '../../platform/sweeper.ts'
import { databaseCode, type Platform } from '../../platform/transaction.ts'
import { countPending, probe, readLag, readVitals } from './operations.ts'
import {
  causeOf,
  type HealthStatus,
  overall,
  type Panel,
  type Probe,
  panelsOf,
  type Readiness,
  readinessOf,
  type Sample,
} from './rules.ts'

/** A tail as far as health asks. */
interface Watched {
  watches: number
  counts?: { deliveries: number; overflows: number }
}
export interface Sources {
  streams: Record<string, Watched>
  /** Where the session tail stands. */
  positions(most: number): { key: string; cursor: number }[]
  sweeper: Pick<Sweeper, 'state'>
  databaseNotice: string | null
  /** Whether the runtime in the box works, and why not. */
  sampleAgent?: () => { on: boolean; reason: string | null }
}

export interface Point {
  at: Date
  value: number
}
export interface HealthReport {
  status: HealthStatus
  checkedAt: Date
  panels: Panel[]
  /** The last half hour of a panel's metric, by `panel.metric`. */
  trends: ReadonlyMap<string, readonly Point[]>
}

/** How often trends get a point, and how many they keep. */
export const sampleEveryMs = 10_000
const trendPoints = 180
const probeEveryMs = 30_000
/** What is younger than this is answered again without being measured again. */
const freshMs = 1_000
const patienceMs = 2_000
const tellEveryMs = 5_000
const maxPositions = 200

const within = <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${patienceMs} ms`)), patienceMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Measures this server and its database, keeps the last half hour, and tells whoever watches. Never rejects. */
export class HealthMonitor {
  readonly #platform: Platform
  readonly #sources: Sources
  readonly #log: Logger
  readonly #began = performance.now()
  readonly #trends = new Map<string, Point[]>()
  readonly #watches = new Set<Latest<HealthReport>>()
  #timer: NodeJS.Timeout | null = null
  #sample: { sample: Sample; measuredAt: number; probes: number } | null = null
  #measuring: Promise<Sample> | null = null
  #probe: { probe: Probe; measuredAt: number } | null = null
  #probes = 0
  #keptAt = Number.NEGATIVE_INFINITY
  #stopping = false

  constructor(platform: Platform, sources: Sources, log: Logger) {
    this.#platform = platform
    this.#sources = sources
    this.#log = log
  }

  /** The last sample, whatever its age. */
  get latest(): Sample | null {
    return this.#sample?.sample ?? null
  }

  /** Measures now, unless that was done a moment ago. */
  async report(): Promise<HealthReport> {
    const sample = await this.#fresh()
    const panels = panelsOf(sample)
    return { status: overall(panels), checkedAt: sample.at, panels, trends: this.#trends }
  }

  /** The sweeper's chore: measures, keeps a point of each trend, and tells the watches when the status has changed. */
  async tick(): Promise<void> {
    const before = this.latest && overall(panelsOf(this.latest))
    const sample = await this.#measure()
    this.#keep(sample)
    if (before !== overall(panelsOf(sample))) await this.#tell()
  }

  /** Reports now, every 5 s, and when the status changes. */
  watch(): Latest<HealthReport> {
    const watch = new Latest<HealthReport>()
    if (this.#stopping) {
      watch.end()
      return watch
    }
    this.#watches.add(watch)
    this.#timer ??= setInterval(() => void this.#tell(), tellEveryMs).unref()
    watch.onEnd(() => {
      this.#watches.delete(watch)
      if (this.#watches.size > 0 || !this.#timer) return
      clearInterval(this.#timer)
      this.#timer = null
    })
    void this.report().then((report) => watch.offer(report))
    return watch
  }

  async readiness(): Promise<Readiness> {
    const pending = await within(countPending(this.#platform)).catch(() => null)
    const { lastRunAt } = this.#sources.sweeper.state()
    return readinessOf({
      reachable: pending !== null,
      pending,
      sinceSweepMs: lastRunAt ? Date.now() - lastRunAt.getTime() : performance.now() - this.#began,
      stopping: this.#stopping,
    })
  }

  /** From now on it is not ready; ends every watch. */
  close(): void {
    this.#stopping = true
    for (const watch of [...this.#watches]) watch.end()
  }

  async #tell(): Promise<void> {
    const report = await this.report()
    for (const watch of this.#watches) watch.offer(report)
  }

  async #fresh(): Promise<Sample> {
    const last = this.#sample
    return last && performance.now() - last.measuredAt < freshMs ? last.sample : this.#measure()
  }

  #measure(): Promise<Sample> {
    this.#measuring ??= this.#look().finally(() => {
      this.#measuring = null
    })
    return this.#measuring
  }

  async #look(): Promise<Sample> {
    const { streams, sweeper, databaseNotice, sampleAgent } = this.#sources
    const at = this.#platform.clock.now()
    const positions = this.#sources.positions(maxPositions).map(({ key, cursor }) => {
      const [projectId = '', id = ''] = key.split('/')
      return { projectId, id, cursor }
    })
    const read = await within(
      Promise.all([readVitals(this.#platform), readLag(this.#platform, positions)]),
    ).catch((error: unknown) => {
      if (!this.#stopping) this.#log.warn({ err: error }, 'the database did not answer the health check')
      return null
    })
    if (read) await this.#probeWhenDue(at)
    const measuredAt = performance.now()
    const [vitals, latencyMs] = [read?.[0].vitals ?? null, read?.[0].latencyMs ?? null]
    const counts = Object.values(streams).map((stream) => stream.counts ?? { deliveries: 0, overflows: 0 })
    const overflows = counts.reduce((all, count) => all + count.overflows, 0)
    const { lastRunAt, failures, lastFailure } = sweeper.state()
    const before = this.#sample
    const sample: Sample = {
      at,
      vitals,
      latencyMs,
      // The statistics count what was undone as well: the event of each probe.
      appendRate: rate(
        before?.sample.vitals?.appended,
        vitals?.appended,
        this.#probes - (before?.probes ?? 0),
        measuredAt - (before?.measuredAt ?? 0),
      ),
      lag: read?.[1] ?? null,
      watchers: Object.fromEntries(Object.entries(streams).map(([name, stream]) => [name, stream.watches])),
      deliveries: counts.reduce((all, count) => all + count.deliveries, 0),
      overflows,
      newOverflows: overflows - (before?.sample.overflows ?? 0),
      sweeper: {
        ageSeconds: lastRunAt && Math.max(0, (Date.now() - lastRunAt.getTime()) / 1_000),
        failures,
        lastFailure,
      },
      probe: this.#probe?.probe ?? null,
      memoryBytes: process.memoryUsage.rss(),
      databaseNotice,
      sampleOff: sampleAgent?.().reason ?? null,
    }
    this.#sample = { sample, measuredAt, probes: this.#probes }
    return sample
  }

  async #probeWhenDue(at: Date): Promise<void> {
    if (this.#probe?.probe.ms && performance.now() - this.#probe.measuredAt < probeEveryMs) return
    this.#probes += 1
    let cause: string | null = null
    const ms = await within(probe(this.#platform)).catch((error: unknown) => {
      if (!this.#stopping) this.#log.warn({ err: error }, 'the end-to-end probe failed')
      cause = causeOf(databaseCode(error))
      return null
    })
    this.#probe = { probe: { at, ms, cause }, measuredAt: performance.now() }
  }

  #keep(sample: Sample): void {
    // A point an interval, however often the tick is called.
    const now = performance.now()
    if (now - this.#keptAt < sampleEveryMs / 2) return
    this.#keptAt = now
    for (const panel of panelsOf(sample)) {
      for (const { key, value } of panel.metrics) {
        if (value === null) continue
        const name = `${panel.key}.${key}`
        const points = this.#trends.get(name) ?? []
        points.push({ at: sample.at, value })
        if (points.length > trendPoints) points.shift()
        this.#trends.set(name, points)
      }
    }
  }
}

/** Per second, without what was undone; null without two readings a while apart, and after the statistics were reset. */
function rate(
  before: number | undefined,
  now: number | undefined,
  undone: number,
  ms: number,
): number | null {
  if (before === undefined || now === undefined || ms < 500 || now < before) return null
  return (Math.max(0, now - before - undone) * 1_000) / ms
}
