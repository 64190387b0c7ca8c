import type { Clock } from '../platform/clock.ts'

/**
 * Counts tries by key in fixed windows of this process: at most `max` in `window` seconds. Answers null for a try that
 * is let through, else the milliseconds to wait.
 */
export function createRateLimit(
  clock: Clock,
  { window, max }: { window: number; max: number },
): (key: string) => number | null {
  let tries = new Map<string, number>()
  let endsAt = 0
  return (key) => {
    const now = clock.now().getTime()
    // One window for all keys: a map that is thrown away with it can't grow for longer than that.
    if (now >= endsAt) {
      tries = new Map()
      endsAt = now + window * 1_000
    }
    const count = (tries.get(key) ?? 0) + 1
    tries.set(key, count)
    return count > max ? endsAt - now : null
  }
}
