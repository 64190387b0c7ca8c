import { type Db, Prisma, type Tx } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'

type Reader = Db | Tx
export type SegmentRow = Prisma.ProtocolSegmentGetPayload<object>

const columns = Prisma.sql`
  project_id AS "projectId", id, session_id AS "sessionId", run_id AS "runId", number, protocol, state, revision, phase, facts,
  opened_by AS "openedBy", closed_by AS "closedBy", opened_at AS "openedAt", closed_at AS "closedAt"`

/** The segment that a run is in; null once it has ended. */
export async function activeSegment(db: Reader, run: Ref): Promise<SegmentRow | null> {
  const rows = await db.$queryRaw<SegmentRow[]>(Prisma.sql`
    SELECT ${columns} FROM protocol_segments
     WHERE project_id = ${run.projectId}::uuid AND run_id = ${run.id}::uuid AND state = 'ACTIVE'`)
  return rows[0] ?? null
}

/** Ends a segment by compare-and-set on the revision that was seen; null when it has moved on. */
export async function closeSegment(
  tx: Tx,
  segment: Ref & { revision: number },
  state: 'COMPLETED' | 'HANDED_OFF' | 'ABORTED' | 'FAILED',
  closedBy: string,
  now: Date,
): Promise<SegmentRow | null> {
  const rows = await tx.$queryRaw<SegmentRow[]>(Prisma.sql`
    UPDATE protocol_segments SET state = ${state}, revision = revision + 1, closed_by = ${closedBy}, closed_at = ${now}::timestamptz
     WHERE project_id = ${segment.projectId}::uuid AND id = ${segment.id}::uuid AND state = 'ACTIVE' AND revision = ${segment.revision}
    RETURNING ${columns}`)
  return rows[0] ?? null
}
