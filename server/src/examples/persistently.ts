import { setTimeout as pause } from 'node:timers/promises'

/** What the server answered instead of what was asked for. `retryable`: the same call may succeed later. */
export class Problem extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly retryable: boolean,
  ) {
    super(message)
  }
}
/** How often in a row something is tried again. */
export const attempts = 8
/** 100 ms, doubled with each failure up to 5 s, up to a half shorter by chance: clients shall not come back in step. */
export const backOffMs = (failures: number) => Math.min(5_000, 100 * 2 ** failures) * (1 - Math.random() / 2)

/**
 * Connects again, with back-off, whenever a stream ends or breaks, until `signal`; `connect` says from where. Throws what
 * the server refuses, and what broke it 8 times in a row without an item or a minute between.
 */
export async function* persistently<T>(
  connect: () => AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    const since = performance.now()
    let problem: unknown = new Error('the server ended the stream again and again')
    try {
      for await (const item of connect()) {
        failures = 0
        yield item
      }
    } catch (error) {
      problem = error
      if (problem instanceof Problem && !problem.retryable) failures = attempts
    }
    if (signal.aborted) return
    if (performance.now() - since > 60_000) failures = 0
    if (failures >= attempts) throw problem
    await pause(backOffMs(failures), undefined, { signal }).catch(() => undefined)
  }
}
