import { useEffect, useSyncExternalStore } from 'react'

/**
 * One key, or two pressed after one another within a second (`g i`).
 * `shift+a` asks for the modifier; `mod+k` is ⌘ on a Mac and Ctrl elsewhere. Letters are compared in
 * lower case, and a plain key never fires while a modifier is held.
 */
export type KeyBinding = {
  keys: string
  label: string
  run: (event: KeyboardEvent) => void
  hidden?: boolean
}
export type KeyScope = { title: string; bindings: readonly KeyBinding[] }

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
const sequenceMs = 1_000

let scopes: readonly KeyScope[] = []
const listeners = new Set<() => void>()
const changed = (next: readonly KeyScope[]) => {
  scopes = next
  for (const listener of listeners) listener()
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type))

/** What was pressed, in the notation of `KeyBinding.keys`. */
function pressed(event: KeyboardEvent): string {
  const key = event.key.toLowerCase()
  const modifiers = [
    (isMac ? event.metaKey : event.ctrlKey) && 'mod',
    event.altKey && 'alt',
    // Shift is part of signs such as `?`; only with letters and named keys does it count.
    event.shiftKey && (key.length > 1 || /[a-z]/.test(key)) && 'shift',
  ].filter(Boolean)
  return [...modifiers, key].join('+')
}

let first: { key: string; at: number } | undefined

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  const key = pressed(event)
  if (/^(shift|control|alt|meta)$/.test(event.key.toLowerCase())) return
  const typing = isTyping(event.target)
  if (typing && key === 'escape' && event.target instanceof HTMLElement) event.target.blur()
  if (typing && !key.startsWith('mod+')) return
  // A dialog on top owns the keyboard; only ⌘-commands pass.
  if (!key.startsWith('mod+') && document.querySelector('[aria-modal="true"]')) return
  const sequence = first && event.timeStamp - first.at < sequenceMs ? `${first.key} ${key}` : undefined
  first = undefined
  // The scope that was opened last is asked first.
  for (const wanted of sequence ? [sequence, key] : [key]) {
    for (const scope of [...scopes].reverse()) {
      const binding = scope.bindings.find(({ keys }) => keys === wanted)
      if (!binding) continue
      event.preventDefault()
      binding.run(event)
      return
    }
  }
  if (scopes.some(({ bindings }) => bindings.some(({ keys }) => keys.startsWith(`${key} `))))
    first = { key, at: event.timeStamp }
}
window.addEventListener('keydown', onKeyDown)

/**
 * Binds keys while the component is mounted and lists them in the `?` sheet under `title`.
 * Pass a stable or memoized `bindings`; keys are ignored while somebody types or a dialog is open.
 */
export function useKeys(title: string, bindings: readonly KeyBinding[]): void {
  useEffect(() => {
    const scope = { title, bindings }
    changed([...scopes, scope])
    return () => changed(scopes.filter((each) => each !== scope))
  }, [title, bindings])
}

/** The bindings in force, for the `?` sheet. */
export const useKeyScopes = (): readonly KeyScope[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => scopes,
  )

/** `shift+a` → `⇧A`, `mod+k` → `⌘K` or `Ctrl K`, for key caps. */
export const keyCap = (keys: string): string =>
  keys
    .split(' ')
    .map((chord) =>
      chord
        .split('+')
        .map(
          (part) =>
            ({
              mod: isMac ? '⌘' : 'Ctrl ',
              shift: '⇧',
              alt: isMac ? '⌥' : 'Alt ',
              escape: 'Esc',
              enter: '⏎',
            })[part] ?? (part.length === 1 ? part.toUpperCase() : part),
        )
        .join(''),
    )
    .join(' ')
