import { useSyncExternalStore } from 'react'

type Ticker = { subscribe: (listener: () => void) => () => void; now: () => number }

function createTicker(everyMs: number): Ticker {
  const listeners = new Set<() => void>()
  let now = Date.now()
  let timer: ReturnType<typeof setInterval> | undefined
  return {
    now: () => now,
    subscribe: (listener) => {
      if (listeners.size === 0) {
        now = Date.now()
        timer = setInterval(() => {
          now = Date.now()
          for (const each of listeners) each()
        }, everyMs)
      }
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) clearInterval(timer)
      }
    },
  }
}

const tickers = new Map<number, Ticker>()

/**
 * The time in epoch milliseconds, renewed every `everyMs`; one timer for all who ask for the same pace.
 * Use 1 000 for a countdown, the default for "3 min ago".
 */
export function useNow(everyMs = 15_000): number {
  let ticker = tickers.get(everyMs)
  if (!ticker) {
    ticker = createTicker(everyMs)
    tickers.set(everyMs, ticker)
  }
  return useSyncExternalStore(ticker.subscribe, ticker.now)
}
