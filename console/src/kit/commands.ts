import { useEffect, useSyncExternalStore } from 'react'

/** Something the palette can run; a page adds its own while it is open. */
export type PaletteCommand = { id: string; label: string; hint?: string; keys?: string; run: () => void }

let groups: readonly (readonly PaletteCommand[])[] = []
const listeners = new Set<() => void>()
const changed = (next: readonly (readonly PaletteCommand[])[]) => {
  groups = next
  for (const listener of listeners) listener()
}

/** Offers commands in the palette while the component is mounted; pass a memoized list. */
export function useCommands(commands: readonly PaletteCommand[]): void {
  useEffect(() => {
    changed([...groups, commands])
    return () => changed(groups.filter((each) => each !== commands))
  }, [commands])
}

export const useOfferedCommands = (): readonly (readonly PaletteCommand[])[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => groups,
  )
