import type { Db } from '../../../platform/database.ts'
import { encodeId } from '../../../platform/ids.ts'
import type { Json } from '../../../platform/journal.ts'
import { canonicalJson } from '../../../platform/strict-json.ts'
import { type Platform, transact } from '../../../platform/transaction.ts'
import { audit, loadPrincipals } from '../operations.ts'
import { authorize, type Viewer } from '../rules.ts'
import { csvLine, type ExportRow, exportColumns } from './rules.ts'
import { type AuditFilter, type AuditRow, auditEntriesById, auditPage } from './store.ts'

export type { AuditFilter, AuditRow } from './store.ts'

export const loadAuditEntries = auditEntriesById

/** A page of the log, newest first; one row more than asked for. Capability `audit.read` there, checked by the caller. */
export const listAudit = (
  db: Db,
  projectId: string | null,
  filter: AuditFilter,
  page: { first: number; after: [at: string, id: string] | null },
) => auditPage(db, projectId, filter, page)

const exportPage = 500

/**
 * The log as CSV, from its newest entry at this moment down, in pieces of a bounded size. Needs `audit.read` on the
 * project or on everything. That it was exported, and with which filter, is itself in the log before the first line.
 */
export async function exportAudit(
  platform: Platform,
  viewer: Viewer,
  projectId: string | null,
  filter: AuditFilter,
): Promise<AsyncGenerator<string>> {
  const refusal = authorize(viewer, 'audit.read', { projectId: projectId ?? undefined })
  if (refusal) throw refusal
  const start = platform.ids.next()
  await transact(platform, (unit) =>
    audit(
      unit,
      { viewer },
      {
        action: 'audit.exported',
        ...(projectId !== null && { subject: { type: 'Project', id: projectId }, projectId }),
        detail: { filter: JSON.parse(JSON.stringify(filter)) as Json },
      },
    ),
  )
  return lines(platform, projectId, filter, [platform.clock.now().toISOString(), start])
}

async function* lines(
  platform: Platform,
  projectId: string | null,
  filter: AuditFilter,
  start: [at: string, id: string],
): AsyncGenerator<string> {
  yield csvLine(exportColumns)
  let after = start
  for (;;) {
    const rows = await auditPage(platform.db, projectId, filter, { first: exportPage, after })
    const page = rows.slice(0, exportPage)
    const names = new Map(
      (await loadPrincipals(platform.db, [...new Set(page.flatMap((row) => row.actorId ?? []))])).map(
        (principal) => [principal.id, principal.name],
      ),
    )
    yield page.map((row) => csvLine(exportColumns.map((column) => cells(row, names)[column]))).join('')
    const last = page.at(-1)
    if (!last || rows.length <= exportPage) return
    after = [last.at.toISOString(), last.id]
  }
}

const cells = (row: AuditRow, names: Map<string, string>): ExportRow => ({
  at: row.at.toISOString(),
  actor: row.actorId === null ? '' : (names.get(row.actorId) ?? ''),
  actor_id: row.actorId === null ? '' : encodeId({ type: 'Principal', id: row.actorId }),
  channel: row.channel,
  action: row.action,
  subject_type: row.subjectType ?? '',
  subject_id: row.subjectId ?? '',
  project_id: row.projectId === null ? '' : encodeId({ type: 'Project', id: row.projectId }),
  reason: row.reason ?? '',
  detail: row.detail === null ? '' : canonicalJson(row.detail),
})
