import type { Logger } from './logger.ts'

/** Work that time makes due. Any number of servers may run it at once; each row is decided under its own lock. */
export interface Chore {
  name: string
  everyMs: number
  run(): Promise<unknown>
}

export interface Sweeper {
  /** Runs every chore once, now: for tests with a controlled clock. */
  sweep(): Promise<void>
  /** When the last pass ended well, and what failed since. */
  state(): { lastRunAt: Date | null; failures: number; lastFailure: string | null }
  close(): Promise<void>
}

/** Starts the chores, each at its own pace, one run at a time. A chore that throws is logged and runs again. */
export function startSweeper(chores: Chore[], log: Logger, options: { automatic: boolean }): Sweeper {
  let lastRunAt: Date | null = null
  let failures = 0
  let lastFailure: string | null = null
  let closed = false
  const running = new Set<Promise<unknown>>()

  const once = async (chore: Chore) => {
    const work = chore.run()
    running.add(work)
    try {
      await work
      lastRunAt = new Date()
      failures = 0
      lastFailure = null
    } catch (error) {
      failures += 1
      lastFailure = chore.name
      if (!closed) log.error({ err: error, chore: chore.name }, 'a chore failed; it will run again')
    } finally {
      running.delete(work)
    }
  }
  const timers = new Set<NodeJS.Timeout>()
  const schedule = (chore: Chore) => {
    const timer = setTimeout(async () => {
      timers.delete(timer)
      await once(chore)
      if (!closed) schedule(chore)
    }, chore.everyMs)
    timer.unref()
    timers.add(timer)
  }
  if (options.automatic) for (const chore of chores) schedule(chore)

  return {
    async sweep() {
      for (const chore of chores) await chore.run()
    },
    state: () => ({ lastRunAt, failures, lastFailure }),
    async close() {
      closed = true
      for (const timer of timers) clearTimeout(timer)
      await Promise.allSettled(running)
    },
  }
}
