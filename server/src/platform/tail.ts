import type { Logger } from './logger.ts'
import type { Watch } from './watch.ts'

/** What a pass over a topic found: news beyond its cursor, or that it is gone. `more`: read again at once. */
export type News<Item, Cursor> =
  | {
      items: Item[]
      cursor: Cursor
      more: boolean /** Something is about to become visible: look again soon. */
      soon?: boolean
    }
  | 'gone'

export interface TailOptions<Item, Cursor> {
  log: Logger
  /** Reads the news of many topics at once. */
  read(topics: { key: string; cursor: Cursor }[]): Promise<Map<string, News<Item, Cursor>>>
  /** How long a topic is at most unread, whatever hints were lost. */
  pollMs: number
}

const soonMs = 25

interface Topic<Item, Cursor> {
  cursor: Cursor
  watches: Set<Watch<Item, Cursor>>
}

/**
 * The live end of a family of streams in this process: one reader for all their watches. It reads a topic when a hint
 * names it, when another process hints at anything, and every `pollMs`; one statement at a time however many topics
 * and watches there are. Writers never wait for it.
 */
export class Tail<Item, Cursor> {
  readonly #options: TailOptions<Item, Cursor>
  readonly #topics = new Map<string, Topic<Item, Cursor>>()
  readonly #dirty = new Set<string>()
  #running: Promise<void> | null = null
  #timer: NodeJS.Timeout
  #closed = false
  #deliveries = 0
  #overflows = 0

  constructor(options: TailOptions<Item, Cursor>) {
    this.#options = options
    this.#timer = setInterval(() => this.poke(), options.pollMs)
    this.#timer.unref()
  }

  get topics(): number {
    return this.#topics.size
  }

  get watches(): number {
    let count = 0
    for (const topic of this.#topics.values()) count += topic.watches.size
    return count
  }

  /** Since the start: live items queued for watches, and watches that were too slow for them. */
  get counts(): { deliveries: number; overflows: number } {
    return { deliveries: this.#deliveries, overflows: this.#overflows }
  }

  /** Where the tail stands in some of its topics, at most `most`. */
  positions(most: number): { key: string; cursor: Cursor }[] {
    return [...this.#topics].slice(0, most).map(([key, { cursor }]) => ({ key, cursor }))
  }

  *all(): Generator<Watch<Item, Cursor>> {
    for (const topic of this.#topics.values()) yield* topic.watches
  }

  /** Where a topic's tail stands. `start` is used when nobody watches it yet. */
  position(key: string, start: Cursor): Cursor {
    return this.#topics.get(key)?.cursor ?? start
  }

  join(key: string, start: Cursor, watch: Watch<Item, Cursor>): void {
    if (this.#closed) {
      watch.end('SHUTTING_DOWN')
      return
    }
    let topic = this.#topics.get(key)
    if (!topic) {
      topic = { cursor: start, watches: new Set() }
      this.#topics.set(key, topic)
    }
    topic.watches.add(watch)
    // Something may have been written between the reading of `start` and now.
    this.poke(key)
  }

  leave(key: string, watch: Watch<Item, Cursor>): void {
    const topic = this.#topics.get(key)
    topic?.watches.delete(watch)
    if (topic?.watches.size === 0) this.#topics.delete(key)
  }

  /** There may be news: of one topic, or of any. */
  poke(key?: string): void {
    if (this.#closed || this.#topics.size === 0) return
    if (key === undefined) for (const each of this.#topics.keys()) this.#dirty.add(each)
    else if (this.#topics.has(key)) this.#dirty.add(key)
    else return
    this.#running ??= this.#run().finally(() => {
      this.#running = null
      if (this.#dirty.size > 0 && !this.#closed) this.poke([...this.#dirty][0])
    })
  }

  async #run(): Promise<void> {
    // Hints of one turn of the event loop are read together.
    await new Promise<void>((resolve) => setImmediate(resolve))
    while (this.#dirty.size > 0 && !this.#closed) {
      const keys = [...this.#dirty].slice(0, 500)
      const asked = keys.flatMap((key) => {
        this.#dirty.delete(key)
        const topic = this.#topics.get(key)
        return topic ? [{ key, cursor: topic.cursor, topic }] : []
      })
      if (asked.length === 0) continue
      try {
        const news = await this.#options.read(asked)
        for (const { key, topic } of asked) this.#deliver(key, topic, news.get(key))
      } catch (error) {
        // The database is away: the next poll tries again, and nothing is skipped meanwhile.
        this.#options.log.warn({ err: error }, 'news of watched streams could not be read')
        await new Promise<void>((resolve) => setTimeout(resolve, 200).unref())
        return
      }
    }
  }

  #deliver(key: string, topic: Topic<Item, Cursor>, news: News<Item, Cursor> | undefined): void {
    if (!news) return
    // Everybody left during the read and somebody came anew, perhaps from before what was read: it is read again.
    if (this.#topics.get(key) !== topic) return
    if (news === 'gone') {
      for (const watch of [...topic.watches]) watch.end('SESSION_DELETED')
      return
    }
    topic.cursor = news.cursor
    if (news.items.length > 0) {
      for (const watch of topic.watches) {
        const queued = watch.push(news.items)
        if (queued === null) this.#overflows += 1
        else this.#deliveries += queued
      }
    }
    if (news.more) this.#dirty.add(key)
    else if (news.soon) setTimeout(() => this.poke(key), soonMs).unref()
  }

  /** Ends every watch with SHUTTING_DOWN. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    for (const watch of [...this.all()]) watch.end('SHUTTING_DOWN')
    await this.#running
  }
}
