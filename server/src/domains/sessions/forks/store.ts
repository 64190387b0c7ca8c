import type { Prisma, Tx } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'

export type CheckpointRow = Prisma.CheckpointGetPayload<object>

export interface NewCheckpoint {
  id: string
  runId: string | null
  label: string | null
  revisionId: string | null
  byId: string
  now: Date
}
/** Marks where a session is: the end of its journal and of its transcript, and the task. */
export async function insertCheckpoint(
  tx: Tx,
  session: Ref,
  c: NewCheckpoint,
): Promise<{ number: number; sequence: number; messageSequence: number }> {
  const rows = await tx.$queryRaw<{ number: number; sequence: number; messageSequence: number }[]>`
    WITH s AS (
      UPDATE sessions SET checkpoint_count = checkpoint_count + 1
       WHERE project_id = ${session.projectId}::uuid AND id = ${session.id}::uuid
      RETURNING project_id, id, checkpoint_count, last_sequence
    )
    INSERT INTO checkpoints (project_id, id, session_id, number, run_id, label, sequence, message_sequence, revision_id, by_id, at)
    SELECT s.project_id, ${c.id}::uuid, s.id, s.checkpoint_count, ${c.runId}::uuid, ${c.label}, s.last_sequence,
           coalesce((SELECT sequence FROM messages m WHERE m.project_id = s.project_id AND m.session_id = s.id ORDER BY sequence DESC LIMIT 1), 0),
           ${c.revisionId}::uuid, ${c.byId}::uuid, ${c.now}::timestamptz
      FROM s RETURNING number, sequence, message_sequence AS "messageSequence"`
  const [row] = rows
  if (!row) throw new Error('the session of a checkpoint is not locked')
  return row
}
