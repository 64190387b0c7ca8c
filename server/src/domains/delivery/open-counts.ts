import { Latest } from '../../platform/latest.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Platform } from '../../platform/transaction.ts'
import { readOpen } from './operations.ts'
import type { Sight } from './rules.ts'

const pollMs = 2_000
/** However many hints come, counts are read at most this often. */
const quietMs = 100

interface Seen {
  open: number
  mark: string
}
interface Topic {
  sight: Sight
  seen: Seen | null
  dirty: boolean
  readers: Set<OpenCount>
}

/** Whether a change in a project may be one of a sight. */
const touches = (sight: Sight, projectId: string | undefined) =>
  projectId === undefined ||
  sight === 'all' ||
  sight.projects.includes(projectId) ||
  sight.sessions.some((session) => session.projectId === projectId)

/**
 * How many inbox items are open, for whoever watches. One statement a sight (a project, everything) however many watch
 * it: when a hint names a project of it, when another process hints at anything, and every 2 s whatever hints were lost.
 */
export class OpenCounts {
  readonly #platform: Platform
  readonly #log: Logger
  readonly #topics = new Map<string, Topic>()
  readonly #timer: NodeJS.Timeout
  #running = false
  #closed = false

  constructor(platform: Platform, log: Logger) {
    this.#platform = platform
    this.#log = log
    this.#timer = setInterval(() => this.poke(), pollMs)
    this.#timer.unref()
  }

  get watches(): number {
    let count = 0
    for (const topic of this.#topics.values()) count += topic.readers.size
    return count
  }

  /** Something may have changed: in a project, or anywhere. */
  poke(projectId?: string): void {
    if (this.#closed) return
    let any = false
    for (const topic of this.#topics.values()) {
      if (!touches(topic.sight, projectId)) continue
      topic.dirty = true
      any = true
    }
    if (any && !this.#running) void this.#run()
  }

  watch(sight: Sight): OpenCount {
    const count = new OpenCount((reader, next) => {
      if (next === null) this.#leave(reader)
      else this.#join(reader, next)
    })
    if (this.#closed) count.end()
    else count.look(sight)
    return count
  }

  /** Ends every watch. */
  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
    for (const topic of [...this.#topics.values()]) for (const reader of [...topic.readers]) reader.end()
  }

  #join(reader: OpenCount, sight: Sight): void {
    this.#leave(reader)
    const key = JSON.stringify(sight)
    const topic = this.#topics.get(key) ?? { sight, seen: null, dirty: true, readers: new Set() }
    this.#topics.set(key, topic)
    topic.readers.add(reader)
    if (topic.seen) reader.tell(topic.seen)
    topic.dirty = true
    if (!this.#running) void this.#run()
  }

  #leave(reader: OpenCount): void {
    for (const [key, topic] of this.#topics) {
      if (topic.readers.delete(reader) && topic.readers.size === 0) this.#topics.delete(key)
    }
  }

  async #run(): Promise<void> {
    this.#running = true
    try {
      for (let due = this.#due(); due.length > 0; due = this.#due()) {
        for (const topic of due) {
          topic.dirty = false
          const seen = await readOpen(this.#platform, topic.sight)
          topic.seen = seen
          for (const reader of topic.readers) reader.tell(seen)
        }
        await new Promise<void>((resolve) => setTimeout(resolve, quietMs).unref())
      }
    } catch (error) {
      // The database is away: the next poll tries again.
      if (!this.#closed) this.#log.warn({ err: error }, 'open inbox items could not be counted')
    } finally {
      this.#running = false
    }
  }

  #due(): Topic[] {
    return this.#closed ? [] : [...this.#topics.values()].filter((topic) => topic.dirty)
  }
}

/** One reader: the count now, and again whenever the open items change, until it is ended. */
export class OpenCount extends Latest<number> {
  readonly #sees: (reader: OpenCount, sight: Sight | null) => void
  #told: Seen | null = null

  constructor(sees: (reader: OpenCount, sight: Sight | null) => void) {
    super()
    this.#sees = sees
    this.onEnd(() => sees(this, null))
  }

  /** From now on it counts what this sight covers. */
  look(sight: Sight): void {
    this.#sees(this, sight)
  }

  tell(seen: Seen): void {
    if (seen.open === this.#told?.open && seen.mark === this.#told.mark) return
    this.#told = seen
    this.offer(seen.open)
  }
}
