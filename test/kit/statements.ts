import pg from 'pg'
import { vi } from 'vitest'

/** How many statements this process sends to the database while `work` runs. Only where nothing else is under way. */
export async function statements(work: () => Promise<unknown>): Promise<number> {
  const sent = vi.spyOn(pg.Client.prototype, 'query')
  try {
    await work()
    // Wake-ups of what was written before may still be on their way.
    return sent.mock.calls.filter(([text]) => !String(text).startsWith('NOTIFY')).length
  } finally {
    sent.mockRestore()
  }
}
