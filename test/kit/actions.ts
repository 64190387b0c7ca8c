import { decodeId, encodeId, systemIds } from '@wheelhouse/server/platform/ids'
import type { TestPlatform } from './platform.ts'

/** An action of a run that was allowed and succeeded, as the ledger keeps it. */
export async function succeededAction(
  { db, clock }: Pick<TestPlatform, 'db' | 'clock'>,
  run: string,
): Promise<string> {
  const { projectId = '', id: runId = '' } = decodeId(run) ?? {}
  const segment = await db.protocolSegment.findFirstOrThrow({ where: { projectId, runId } })
  const id = systemIds.next()
  await db.action.create({
    data: {
      projectId,
      id,
      sessionId: segment.sessionId,
      runId,
      segmentId: segment.id,
      number: 1,
      tool: 'run_sql',
      action: 'run_sql_readonly',
      protocol: segment.protocol,
      phase: segment.phase,
      decision: 'ALLOWED',
      ok: true,
      requestedAt: clock.now(),
      closedAt: clock.now(),
    },
  })
  return encodeId({ type: 'Action', projectId, id })
}
