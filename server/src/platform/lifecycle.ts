import type { Logger } from './logger.ts'

type Close = () => Promise<void> | void

/** What was opened, and how it is closed again: in reverse, once, each step in its own time. */
export interface Lifecycle {
  /** Whether it is being closed. */
  readonly closing: boolean
  /** Runs the start-up. A close that comes meanwhile waits for it (10 s at most) to come to its next step. */
  start(work: () => Promise<void>): Promise<void>
  /**
   * Registers how to close what was just opened; unless that takes longer than `limitMs`, in which case the next one
   * is closed. Throws once it is being closed, which cuts the start-up short.
   */
  opened(what: string, close: Close, limitMs?: number): void
  /** Closes everything; further calls wait for the first. Resolves to whether all of it closed in time. */
  close(): Promise<boolean>
}

const stepLimitMs = 10_000

/** Waits for `work`, `limitMs` at most; rejects when it took longer. */
async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not closed within ${limitMs} ms`)), limitMs)
  })
  await Promise.race([work, tooLong]).finally(() => clearTimeout(timer))
}

export function createLifecycle(log: Logger): Lifecycle {
  const closers: { what: string; close: Close; limitMs: number }[] = []
  let starting: Promise<void> = Promise.resolve()
  let closing: Promise<boolean> | null = null

  const closeAll = async () => {
    let clean = true
    const complain = (what: string) => (error: unknown) => {
      clean = false
      log.error({ err: error, what }, 'could not be closed properly')
    }
    // How a start-up failed is told by who started it.
    await within(
      stepLimitMs,
      starting.catch(() => undefined),
    ).catch(complain('start-up'))
    for (let next = closers.pop(); next; next = closers.pop()) {
      const { what, close, limitMs } = next
      await within(limitMs, Promise.resolve().then(close)).catch(complain(what))
    }
    return clean
  }

  return {
    get closing() {
      return closing !== null
    },
    start: (work) => {
      starting = work()
      return starting
    },
    opened: (what, close, limitMs = stepLimitMs) => {
      closers.push({ what, close, limitMs })
      if (closing) throw new Error('stopped while starting')
    },
    close: () => {
      closing ??= closeAll()
      return closing
    },
  }
}

/**
 * Ends the process in an orderly way on SIGTERM, on SIGINT and when the process that started it with a channel is
 * gone; at once on a second signal; and after an error that nobody caught. `immediately` runs synchronously before
 * an exit that closes nothing.
 */
export function closeOnSignals(lifecycle: Lifecycle, log: Logger, immediately: () => void): void {
  const end = async (code: number) => {
    const clean = await lifecycle.close()
    process.exit(clean ? code : 1)
  }
  const exitCodes = { SIGTERM: 143, SIGINT: 130 } as const
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => {
      if (lifecycle.closing) {
        immediately()
        process.exit(exitCodes[name])
      }
      log.info({ signal: name }, 'stopping')
      void end(0)
    })
  process.on('disconnect', () => void end(0))
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, 'an error nobody caught; stopping')
      void end(1)
    })
}
