import type { Db, Tx } from '../../../platform/database.ts'
import type { MessageRow } from '../store.ts'
import * as store from './store.ts'

export type { MessagePage } from './store.ts'

/** Pages of transcripts, ascending whichever end they were read from, and whether there is more in that direction. */
export async function loadMessagePages(
  db: Db | Tx,
  pages: readonly store.MessagePage[],
): Promise<{ rows: MessageRow[]; more: boolean }[]> {
  const found = await store.messagePages(db, pages)
  return pages.map(({ take, newestFirst }, index) => {
    const page = found[index] ?? []
    const rows = page.slice(0, take)
    return { rows: newestFirst ? rows.reverse() : rows, more: page.length > take }
  })
}
