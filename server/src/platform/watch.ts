/*
 * A watch: what one reader still has to get of a stream, and how it ends.
 *
 *   replaying ── has caught up with the tail ──▶ live ── queue full ───────────▶ ended (OVERFLOW)
 *       │                                         │
 *       └── cursor older than what is kept ─▶ ended (REPLAY_GAP)
 *   any ── closed | deleted | revoked | shutting down ──▶ ended        any ── reader leaves ──▶ gone
 *
 * Replay is pulled: the next page is read when the reader has taken half of the last one, and waits until all of it is
 * taken; so only live items can overflow, and a reader who stands still holds up a page and a half. From the tail's
 * position on, every item comes through one path in order; there is no moment between the two.
 */

export type EndReason =
  | 'REPLAY_GAP'
  | 'OVERFLOW'
  | 'SESSION_CLOSED'
  | 'SESSION_DELETED'
  | 'REVOKED'
  | 'SHUTTING_DOWN'

export interface End<Cursor> {
  reason: EndReason
  resumeAfter: Cursor
  earliest: Cursor | null
}

export type Taken<Item, Cursor> = { item: Item } | { end: End<Cursor> } | null

/** What a stream must know of its items. */
export interface Stream<Item, Cursor> {
  cursorOf(item: Item): Cursor
  /** Whether `a` is beyond `b`. */
  beyond(a: Cursor, b: Cursor): boolean
}

/** A page of the past: items beyond a cursor, how far was looked, and an end when nothing can come after it. */
export interface ReplayPage<Item, Cursor> {
  items: Item[]
  scannedThrough: Cursor
  end?: EndReason
  earliest?: Cursor
}

export interface WatchOptions<Item, Cursor> {
  after: Cursor
  queueSize: number
  stream: Stream<Item, Cursor>
  accepts(item: Item): boolean
  /** Reads up to `most` accepted items beyond a cursor. */
  replay(after: Cursor, most: number): Promise<ReplayPage<Item, Cursor>>
  /** Where the live tail stands; null before it has a position. */
  tail(): Cursor
  /** Called once, when the reader is gone or has been told the end. */
  onGone(): void
  /** An item beyond which a live watch ends, having delivered it. */
  endsAt?(item: Item): EndReason | null
}

const keepsUnread = (reason: EndReason) => reason === 'SESSION_CLOSED' || reason === 'SHUTTING_DOWN'

export class Watch<Item, Cursor> {
  readonly #options: WatchOptions<Item, Cursor>
  readonly #onLeave: (() => void)[] = []
  readonly #queue: Item[] = []
  #live = false
  #reading = false
  /** The page behind the queue, while it is read or waits. It begins where the queue ends, which replay alone moves. */
  #ahead: Promise<ReplayPage<Item, Cursor>> | null = null
  /** Reading ahead begins when no more than this is left of a page. */
  #half = 0
  #end: { reason: EndReason; earliest: Cursor | null } | null = null
  #endTaken = false
  #gone = false
  /** How far the queue reaches: everything up to here was queued, or does not pass the filter. */
  #scanned: Cursor
  /** How far the reader has been served. */
  #delivered: Cursor
  #wakeReader: (() => void) | null = null

  constructor(options: WatchOptions<Item, Cursor>) {
    this.#options = options
    this.#scanned = options.after
    this.#delivered = options.after
    this.#attachIfCaughtUp()
  }

  get live(): boolean {
    return this.#live
  }

  /** Called when something can be taken. One reader only. */
  onReadable(wake: () => void): void {
    this.#wakeReader = wake
  }

  /** The next item or the end, if there is one right now; null otherwise. Starts the next page of a replay by itself. */
  take(): Taken<Item, Cursor> {
    if (this.#endTaken || this.#gone) return null
    const item = this.#queue.shift()
    if (item !== undefined) {
      this.#delivered = this.#options.stream.cursorOf(item)
      if (this.#queue.length === this.#half) this.#readAhead()
      return { item }
    }
    if (this.#end) {
      this.#endTaken = true
      const { reason, earliest } = this.#end
      queueMicrotask(() => this.leave())
      // What was unread has been delivered, or dropped: then it has to come again.
      const resumeAfter = keepsUnread(reason) ? this.#scanned : this.#delivered
      return { end: { reason, resumeAfter, earliest } }
    }
    this.#delivered = this.#scanned
    if (!this.#live) void this.#replay()
    return null
  }

  /**
   * Live items, in order. Those the replay has delivered, or the filter drops, are passed over. Gives how many were
   * queued; null when the queue was full, which ends the watch.
   */
  push(items: readonly Item[]): number | null {
    if (!this.#live || this.#end) return 0
    let queued = 0
    const { stream, accepts, queueSize, endsAt } = this.#options
    const idle = this.#queue.length === 0
    for (const item of items) {
      const cursor = stream.cursorOf(item)
      if (!stream.beyond(cursor, this.#scanned)) continue
      if (accepts(item)) {
        if (this.#queue.length >= queueSize) {
          this.end('OVERFLOW')
          return null
        }
        this.#queue.push(item)
        queued += 1
      }
      this.#scanned = cursor
      const reason = endsAt?.(item)
      if (reason) {
        this.end(reason)
        break
      }
    }
    if (idle && this.#queue.length === 0 && !this.#end) this.#delivered = this.#scanned
    else this.#wakeReader?.()
    return queued
  }

  /**
   * Ends the watch. What is unread is still delivered before SESSION_CLOSED and SHUTTING_DOWN, and dropped by the other
   * reasons: nothing may follow them.
   */
  end(reason: EndReason, earliest: Cursor | null = null): void {
    if (this.#end || this.#gone) return
    this.#end = { reason, earliest }
    this.#live = false
    if (!keepsUnread(reason)) this.#queue.length = 0
    this.#wakeReader?.()
  }

  /** The reader is gone. */
  leave(): void {
    if (this.#gone) return
    this.#gone = true
    this.#live = false
    this.#queue.length = 0
    this.#options.onGone()
    for (const each of this.#onLeave) each()
    this.#wakeReader?.()
  }

  /** Called once when the reader is gone. */
  onLeave(call: () => void): void {
    if (this.#gone) call()
    else this.#onLeave.push(call)
  }

  get gone(): boolean {
    return this.#gone
  }

  #attachIfCaughtUp(): void {
    if (!this.#options.stream.beyond(this.#options.tail(), this.#scanned)) this.#live = true
  }

  #readAhead(): void {
    if (this.#ahead || this.#reading || this.#live || this.#end || this.#gone) return
    this.#ahead = this.#options.replay(this.#scanned, this.#options.queueSize)
    // Who takes it is told of a failure; it is nobody's when the watch ends before.
    this.#ahead.catch(() => undefined)
  }

  async #replay(): Promise<void> {
    if (this.#reading || this.#live || this.#end || this.#gone) return
    this.#reading = true
    try {
      // Pages without a hit are passed over here: the reader has nothing to take yet.
      while (!this.#live && !this.#end && !this.#gone && this.#queue.length === 0) {
        const ahead = this.#ahead
        this.#ahead = null
        const page = await (ahead ?? this.#options.replay(this.#scanned, this.#options.queueSize))
        if (this.#end || this.#gone) return
        this.#queue.push(...page.items)
        this.#half = page.items.length >> 1
        this.#scanned = page.scannedThrough
        if (page.end) this.end(page.end, page.earliest ?? null)
        else this.#attachIfCaughtUp()
      }
    } catch {
      // The database is away for a moment: the reader is told to come back and resume, nothing is skipped.
      this.end('SHUTTING_DOWN')
    } finally {
      this.#reading = false
    }
    this.#wakeReader?.()
  }
}

/**
 * Reads a watch as an async iterable of what `show` makes of each item and of the end (undefined: nothing), then done.
 * Not a generator: `return()` of one waits for a pending `next()`, so that a reader who leaves a quiet stream would be
 * held on to until the next item.
 */
export function iterate<Item, Cursor, Out>(
  watch: Watch<Item, Cursor>,
  show: (taken: { item: Item } | { end: End<Cursor> }) => Out | undefined,
): AsyncIterableIterator<Out> {
  let wake: (() => void) | null = null
  watch.onReadable(() => wake?.())
  const leave = () => {
    watch.leave()
    return { value: undefined, done: true as const }
  }
  return {
    async next() {
      while (!watch.gone) {
        const readable = new Promise<void>((resolve) => {
          wake = resolve
        })
        const taken = watch.take()
        if (!taken) {
          await readable
          continue
        }
        const value = show(taken)
        if (value !== undefined) return { value, done: false }
        if ('end' in taken) break
      }
      return leave()
    },
    return: async () => leave(),
    throw: async (error: unknown) => {
      leave()
      throw error
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
