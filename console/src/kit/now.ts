import { useSyncExternalStore } from 'react'

type Ticker = { now: number; listeners: Set<() => void>; timer?: ReturnType<typeof setInterval> }
const tickers = new Map<number, Ticker>()

const tickerOf = (everyMs: number): Ticker => {
  let ticker = tickers.get(everyMs)
  if (!ticker) {
    ticker = { now: Date.now(), listeners: new Set() }
    tickers.set(everyMs, ticker)
  }
  return ticker
}

/**
 * The time in epoch milliseconds, renewed every `everyMs`; one timer for all who ask for the same pace.
 * Use 1 000 for a countdown, the default for "3 min ago".
 */
export function useNow(everyMs = 15_000): number {
  return useSyncExternalStore(
    (listener) => {
      const ticker = tickerOf(everyMs)
      ticker.listeners.add(listener)
      ticker.now = Date.now()
      ticker.timer ??= setInterval(() => {
        ticker.now = Date.now()
        for (const each of ticker.listeners) each()
      }, everyMs)
      return () => {
        ticker.listeners.delete(listener)
        if (ticker.listeners.size > 0) return
        clearInterval(ticker.timer)
        delete ticker.timer
      }
    },
    () => tickerOf(everyMs).now,
  )
}
