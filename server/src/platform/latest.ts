/** A reader of values of which only the newest counts: what it was too slow for is replaced, never queued. */
export class Latest<T> implements AsyncIterableIterator<T> {
  readonly #onEnd: (() => void)[] = []
  #value: { value: T } | null = null
  #ended = false
  #wake: (() => void) | null = null

  offer(value: T): void {
    if (this.#ended) return
    this.#value = { value }
    this.#wake?.()
  }

  /** Called once, when it is ended by either side. */
  onEnd(call: () => void): void {
    if (this.#ended) call()
    else this.#onEnd.push(call)
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#value = null
    for (const each of this.#onEnd) each()
    this.#wake?.()
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    while (!this.#ended) {
      if (this.#value) {
        const { value } = this.#value
        this.#value = null
        return { done: false, value }
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return { done: true, value: undefined }
  }

  /** The reader leaves, also while `next` is waiting. */
  async return(): Promise<IteratorResult<T, undefined>> {
    this.end()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
