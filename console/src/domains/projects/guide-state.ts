import { useSyncExternalStore } from 'react'

const key = 'wheelhouse.guide'
const listeners = new Set<() => void>()

const read = (): string | null => {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return null
  }
}
let followed = read()

/** Remembers, for this window, which session the guide walks through; null closes it. */
export function followGuide(sessionId: string | null): void {
  followed = sessionId
  try {
    if (sessionId) sessionStorage.setItem(key, sessionId)
    else sessionStorage.removeItem(key)
  } catch {
    // Without storage the guide lasts until the page is loaded again.
  }
  for (const listener of listeners) listener()
}

export const useGuidedSession = (): string | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => followed,
  )
