import { useCallback, useState } from 'react'
import type { Format } from './definition-text.ts'

export interface Draft {
  text: string
  format: Format
}

const keyOf = (projectId: string, from: string | undefined) =>
  `wheelhouse.protocol-draft ${projectId} ${from ?? ''}`

function readDraft(key: string): Draft | undefined {
  const kept = sessionStorage.getItem(key)
  return kept === null ? undefined : (JSON.parse(kept) as Draft)
}

/** What is being written, kept in this tab until it is registered: it survives leaving the page and coming back. */
export function useDraft(projectId: string, from: string | undefined, first: Draft) {
  const key = keyOf(projectId, from)
  const [draft, setDraft] = useState(() => readDraft(key) ?? first)
  return {
    draft,
    change: useCallback(
      (next: Draft) => {
        sessionStorage.setItem(key, JSON.stringify(next))
        setDraft(next)
      },
      [key],
    ),
    forget: useCallback(() => sessionStorage.removeItem(key), [key]),
  }
}
