import type { Platform } from '../../platform/transaction.ts'
import { currentAccessEpoch, refreshViewers } from './operations.ts'
import type { Viewer } from './rules.ts'

interface OpenWatch {
  viewer: Viewer
  /** Whether the right that the watch was opened with is still there. */
  permitted(viewer: Viewer): boolean
  revoke(): void
}

/**
 * What is open in this process under somebody's rights. When a right was taken away anywhere (the access epoch moved)
 * or a credential's time is over, each is judged again, in one statement, and ended if it lost its right.
 */
export class OpenWatches {
  readonly #platform: Platform
  readonly #open = new Set<OpenWatch>()
  /** Opened since the last pass: a right may have gone between the reading of it and the opening. */
  readonly #fresh = new Set<OpenWatch>()
  #epoch: bigint | null = null

  constructor(platform: Platform) {
    this.#platform = platform
  }

  get size(): number {
    return this.#open.size
  }

  add(watch: OpenWatch): () => void {
    this.#open.add(watch)
    this.#fresh.add(watch)
    return () => {
      this.#open.delete(watch)
      this.#fresh.delete(watch)
    }
  }

  /** One pass. Runs every second and after each hint; REVOKED reaches a watcher well within five seconds. */
  async check(): Promise<void> {
    const epoch = await currentAccessEpoch(this.#platform)
    const now = this.#platform.clock.now()
    const fresh = new Set(this.#fresh)
    const moved = this.#epoch !== null && this.#epoch !== epoch
    const due = [...this.#open].filter(
      (watch) => moved || fresh.has(watch) || (watch.viewer.expiresAt && watch.viewer.expiresAt <= now),
    )
    const current =
      due.length === 0
        ? []
        : await refreshViewers(
            this.#platform,
            due.map((watch) => watch.viewer),
          )
    // Only now: a pass that the database broke off has judged nobody, and the next one has to.
    this.#epoch = epoch
    for (const watch of fresh) this.#fresh.delete(watch)
    for (const [index, watch] of due.entries()) {
      const viewer = current[index]
      if (viewer && watch.permitted(viewer)) watch.viewer = viewer
      else watch.revoke()
    }
  }
}
