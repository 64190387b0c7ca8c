import type { Db, Tx } from '../../../platform/database.ts'

export const removeInvitations = (db: Db, before: Date, most: number) => db.$executeRaw`
  DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE expires_at < ${before}::timestamptz LIMIT ${most})`

export const removeAuthSessions = (db: Db, before: Date, most: number) => db.$executeRaw`
  DELETE FROM auth_sessions WHERE id IN (SELECT id FROM auth_sessions WHERE expires_at < ${before}::timestamptz LIMIT ${most})`

export const removeVerifications = (db: Db, before: Date, most: number) => db.$executeRaw`
  DELETE FROM auth_verifications WHERE id IN (SELECT id FROM auth_verifications WHERE expires_at < ${before}::timestamptz LIMIT ${most})`

/** Removes up to `most` of the oldest audit entries, under the mark that the append-only trigger accepts. */
export async function removeAuditEntries(tx: Tx, before: Date, most: number): Promise<number> {
  await tx.$executeRaw`SELECT set_config('wheelhouse.purge', 'on', true)`
  const removed = await tx.$executeRaw`
    DELETE FROM audit_entries WHERE id IN (
      SELECT id FROM audit_entries WHERE at < ${before}::timestamptz ORDER BY at, id LIMIT ${most})`
  await tx.$executeRaw`SELECT set_config('wheelhouse.purge', 'off', true)`
  return removed
}
