import { useSyncExternalStore } from 'react'
import * as z from 'zod/mini'

const schema = z.object({
  theme: z.catch(z.enum(['system', 'light', 'dark']), 'system'),
  language: z.catch(z.enum(['en', 'zh']), () => (navigator.language.startsWith('zh') ? 'zh' : 'en')),
  /** IANA name, or `system` for the browser's own. */
  timeZone: z.catch(z.string(), 'system'),
  /** `automatic`: relative in lists, absolute in ledgers. */
  timeStyle: z.catch(z.enum(['automatic', 'relative', 'absolute']), 'automatic'),
  lastProject: z.catch(z.optional(z.string()), undefined),
})
export type Preferences = z.infer<typeof schema>

const key = 'wheelhouse.preferences'

const load = (): Preferences => {
  try {
    return schema.parse(JSON.parse(localStorage.getItem(key) ?? '{}'))
  } catch {
    // Storage that is blocked or was tampered with: the defaults are as good as any.
    return schema.parse({})
  }
}

let current = load()
const listeners = new Set<() => void>()
const changed = () => {
  for (const listener of listeners) listener()
}

/** What this person chose, remembered in this browser and shared between its windows. */
export const preferences = (): Preferences => current

export function setPreferences(change: Partial<Preferences>): void {
  current = schema.parse({ ...current, ...change })
  try {
    localStorage.setItem(key, JSON.stringify(current))
  } catch {
    // The choice then holds for this window only.
  }
  changed()
}

export const onPreferences = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const usePreferences = (): Preferences => useSyncExternalStore(onPreferences, preferences)

/** The IANA name of the zone in which times are shown. */
export function shownTimeZone({ timeZone }: Preferences): string {
  if (timeZone === 'system') return Intl.DateTimeFormat().resolvedOptions().timeZone
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
  } catch {
    return 'UTC'
  }
}

addEventListener('storage', (event) => {
  if (event.key !== key) return
  current = load()
  changed()
})
