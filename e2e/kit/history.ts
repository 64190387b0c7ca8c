import pg from 'pg'
import type { RunningServer } from './server.ts'

/** Gives a session a past of so many more events, in one statement: over the API it would take minutes. */
export async function givenHistory(server: RunningServer, title: string, events: number): Promise<void> {
  const client = new pg.Client(server.database)
  await client.connect()
  try {
    const { rowCount } = await client.query(
      `WITH session AS (
         UPDATE sessions SET last_sequence = last_sequence + $2 WHERE title = $1
         RETURNING project_id, id, last_sequence - $2 AS before
       )
       INSERT INTO session_events (project_id, session_id, sequence, type, payload, at)
       SELECT project_id, id, before + step, 'INFO', jsonb_build_object('text', 'step ' || step), now()
       FROM session, generate_series(1, $2::int) AS step`,
      [title, events],
    )
    if (rowCount !== events) throw new Error(`there is not exactly one session called ${title}`)
  } finally {
    await client.end()
  }
}
