import type { Db } from '../../../platform/database.ts'
import { accept } from '../../../platform/refusal.ts'
import { searchWords, snippetOf, tsqueryOf } from './rules.ts'
import * as store from './store.ts'

export type { HitKey } from './store.ts'

export type Hit = store.HitRow & ReturnType<typeof snippetOf>

/**
 * Messages that hold all the words of a text, of the sessions in `visible`, best first; one more than asked for. The
 * last word may be the beginning of one. INVALID_INPUT for a text without words, and beyond the limits.
 */
export async function searchTranscripts(
  db: Db,
  projectId: string,
  visible: 'all' | string[],
  text: string,
  page: { first: number; after: store.HitKey | null },
): Promise<Hit[]> {
  const words = accept(searchWords(text))
  const rows = await store.hits(db, projectId, visible, tsqueryOf(words), page)
  return rows.map((row) => ({ ...row, ...snippetOf(row.text, words) }))
}
