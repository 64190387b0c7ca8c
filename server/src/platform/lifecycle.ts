import type { Logger } from './logger.ts'

type Closer = { what: string; close: () => Promise<void> | void }

/** What was opened, and how it is closed again: in reverse, once, each step in its own time. */
export interface Lifecycle {
  /** Registers how to close what was just opened. Unless it closes within `limitMs`, the next one is closed. */
  opened(what: string, close: () => Promise<void> | void, limitMs?: number): void
  /** Closes everything; further calls wait for the first. Resolves to whether all of it closed in time. */
  close(): Promise<boolean>
}

const defaultLimitMs = 10_000

export function createLifecycle(log: Logger): Lifecycle {
  const closers: (Closer & { limitMs: number })[] = []
  let closing: Promise<boolean> | null = null

  const closeAll = async () => {
    let clean = true
    for (let next = closers.pop(); next; next = closers.pop()) {
      const { what, close, limitMs } = next
      let timer: NodeJS.Timeout | undefined
      try {
        await Promise.race([
          close(),
          new Promise<never>((_, reject) => {
            timer = setTimeout(() => reject(new Error(`not closed within ${limitMs} ms`)), limitMs)
          }),
        ])
      } catch (error) {
        clean = false
        log.error({ err: error, what }, 'could not be closed properly')
      } finally {
        clearTimeout(timer)
      }
    }
    return clean
  }

  return {
    opened: (what, close, limitMs = defaultLimitMs) => void closers.push({ what, close, limitMs }),
    close: () => {
      closing ??= closeAll()
      return closing
    },
  }
}

/**
 * Ends the process in an orderly way on SIGTERM and SIGINT, at once on the second of them, and after an error that
 * nobody caught. `immediately` runs synchronously before an exit that closes nothing.
 */
export function closeOnSignals(lifecycle: Lifecycle, log: Logger, immediately: () => void): void {
  let signals = 0
  const end = async (code: number) => {
    const clean = await lifecycle.close()
    process.exit(clean ? code : 1)
  }
  for (const [name, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)
    process.on(name, () => {
      signals += 1
      if (signals > 1) {
        immediately()
        process.exit(code)
      }
      log.info({ signal: name }, 'stopping')
      void end(0)
    })
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, 'an error nobody caught; stopping')
      void end(1)
    })
}
