import type { Db } from '../../../platform/database.ts'

export const removeInvitations = (db: Db, before: Date, most: number) => db.$executeRaw`
  DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE expires_at < ${before}::timestamptz LIMIT ${most})`

export const removeAuthSessions = (db: Db, before: Date, most: number) => db.$executeRaw`
  DELETE FROM auth_sessions WHERE id IN (SELECT id FROM auth_sessions WHERE expires_at < ${before}::timestamptz LIMIT ${most})`

export const removeVerifications = (db: Db, before: Date, most: number) => db.$executeRaw`
  DELETE FROM auth_verifications WHERE id IN (SELECT id FROM auth_verifications WHERE expires_at < ${before}::timestamptz LIMIT ${most})`
