import { type Db, Prisma, rowsOf, type Tx } from '../../platform/database.ts'
import type { GrantFacts, PrincipalKind } from './rules.ts'

type Reader = Db | Tx

/** A credential as it is now: who it belongs to, what that principal holds, and what narrows it. */
export interface CredentialRow {
  tokenId: string | null
  signInId: string | null
  expiresAt: Date | null
  principalId: string
  kind: PrincipalKind
  grants: GrantFacts[]
  tokenGrants: GrantFacts[] | null
}

interface RawGrant {
  c: string[]
  p: string | null
  s: string | null
}
const factsOf = (grants: RawGrant[] | null): GrantFacts[] =>
  (grants ?? []).map((grant) => ({
    capabilities: grant.c,
    ...(grant.p !== null && { projectId: grant.p }),
    ...(grant.s !== null && { sessionId: grant.s }),
  }))

const grantList = (condition: Prisma.Sql) => Prisma.sql`
  (SELECT jsonb_agg(jsonb_build_object('c', g.capabilities, 'p', g.project_id, 's', g.session_id))
     FROM grants g WHERE g.revoked_at IS NULL AND ${condition})`

interface RawCredential {
  token_id: string | null
  sign_in_id?: string | null
  expires_at: Date | null
  principal_id: string
  kind: PrincipalKind
  grants: RawGrant[] | null
  token_grants: RawGrant[] | null
}
const credentialOf = (row: RawCredential): CredentialRow => ({
  tokenId: row.token_id,
  signInId: row.sign_in_id ?? null,
  expiresAt: row.expires_at,
  principalId: row.principal_id,
  kind: row.kind,
  grants: factsOf(row.grants),
  tokenGrants: row.token_id === null ? null : factsOf(row.token_grants),
})

/** The credential behind a token's hash, when neither it nor its principal has ended. One statement. */
export async function credentialByTokenHash(
  db: Reader,
  hash: Uint8Array<ArrayBuffer>,
  now: Date,
): Promise<CredentialRow | null> {
  const rows = await rowsOf<RawCredential>(
    db,
    Prisma.sql`
    SELECT t.id AS token_id, t.expires_at, p.id AS principal_id, p.kind,
           ${grantList(Prisma.sql`g.principal_id = p.id AND g.token_id IS NULL`)} AS grants,
           ${grantList(Prisma.sql`g.token_id = t.id`)} AS token_grants
      FROM tokens t JOIN principals p ON p.id = t.principal_id
     WHERE t.hash = ${hash} AND t.revoked_at IS NULL AND p.disabled_at IS NULL
       AND (t.expires_at IS NULL OR t.expires_at > ${now}::timestamptz)`,
  )
  return rows[0] ? credentialOf(rows[0]) : null
}

/** The credentials of open watches, read again: those that still hold, by token, sign-in or principal. One statement. */
export async function credentialsStillValid(
  db: Reader,
  keys: { tokenId: string | null; signInId: string | null; principalId: string }[],
  now: Date,
): Promise<CredentialRow[]> {
  const rows = await rowsOf<RawCredential>(
    db,
    Prisma.sql`
    SELECT t.id AS token_id, k.sign_in_id, coalesce(t.expires_at, a.expires_at) AS expires_at, p.id AS principal_id, p.kind,
           ${grantList(Prisma.sql`g.principal_id = p.id AND g.token_id IS NULL`)} AS grants,
           ${grantList(Prisma.sql`g.token_id = t.id`)} AS token_grants
      FROM unnest(${keys.map((key) => key.tokenId)}::uuid[], ${keys.map((key) => key.signInId)}::text[],
                  ${keys.map((key) => key.principalId)}::uuid[]) k(token_id, sign_in_id, principal_id)
      JOIN principals p ON p.id = k.principal_id AND p.disabled_at IS NULL
      LEFT JOIN tokens t ON t.id = k.token_id
      LEFT JOIN auth_sessions a ON a.id = k.sign_in_id AND a.user_id = p.auth_user_id
     WHERE (k.token_id IS NULL
            OR (t.id IS NOT NULL AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > ${now}::timestamptz)))
       AND (k.sign_in_id IS NULL OR a.expires_at > ${now}::timestamptz)`,
  )
  return rows.map(credentialOf)
}

/** The principal of a signed-in person. */
export async function credentialByAuthUser(db: Reader, authUserId: string): Promise<CredentialRow | null> {
  const rows = await rowsOf<RawCredential>(
    db,
    Prisma.sql`
    SELECT NULL AS token_id, NULL AS expires_at, p.id AS principal_id, p.kind,
           ${grantList(Prisma.sql`g.principal_id = p.id AND g.token_id IS NULL`)} AS grants, NULL AS token_grants
      FROM principals p WHERE p.auth_user_id = ${authUserId} AND p.disabled_at IS NULL`,
  )
  return rows[0] ? credentialOf(rows[0]) : null
}

export const touchToken = (db: Reader, tokenId: string, now: Date) =>
  db.$executeRaw`UPDATE tokens SET last_used_at = ${now}::timestamptz WHERE id = ${tokenId}::uuid AND (last_used_at IS NULL OR last_used_at < ${now}::timestamptz)`

/** Rights were taken away somewhere: open watches must look again. */
export const raiseAccessEpoch = (tx: Tx) =>
  tx.$executeRaw`UPDATE installation SET access_epoch = access_epoch + 1`

export const accessEpoch = async (db: Reader): Promise<bigint> =>
  (await db.$queryRaw<{ access_epoch: bigint }[]>`SELECT access_epoch FROM installation`)[0]?.access_epoch ??
  0n

export interface NewAuditEntry {
  id: string
  at: Date
  actorId: string | null
  action: string
  subjectType: string | null
  subjectId: string | null
  projectId: string | null
  reason: string | null
  channel: string
  detail: Prisma.InputJsonValue | undefined
}
export const insertAudit = (tx: Tx, entry: NewAuditEntry) =>
  tx.auditEntry.create({ data: { ...entry, detail: entry.detail ?? Prisma.DbNull } })
