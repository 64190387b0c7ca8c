/** How many days an entry of the log is kept: ten years. */
export const auditRetentionDays = 3_652

/** The columns of an export, in the order of the ledger on the screen. */
export const exportColumns = [
  'at',
  'actor',
  'actor_id',
  'channel',
  'action',
  'subject_type',
  'subject_id',
  'project_id',
  'reason',
  'detail',
] as const
export type ExportRow = Record<(typeof exportColumns)[number], string>

const startsFormula = /^[=+\-@\t\r\n]/
const needsQuotes = /[",\r\n]/

/**
 * One cell (RFC 4180). What a spreadsheet would take for a formula gets an apostrophe before it, so that text which
 * somebody wrote into a name or a reason stays text.
 */
export function csvCell(text: string): string {
  const safe = startsFormula.test(text) ? `'${text}` : text
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export const csvLine = (cells: readonly string[]) => `${cells.map(csvCell).join(',')}\r\n`
