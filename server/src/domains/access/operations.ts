import { createHash } from 'node:crypto'
import type { Call } from '../../platform/idempotency.ts'
import { encodeId, type NodeRef } from '../../platform/ids.ts'
import type { Json } from '../../platform/journal.ts'
import type { Platform, Unit } from '../../platform/transaction.ts'
import * as principals from './principals/store.ts'
import type { Channel, Viewer } from './rules.ts'
import * as store from './store.ts'

/** SHA-256 of a secret. Secrets have 256 random bits, so a plain hash is enough and nothing can be compared early. */
export const hashSecret = (secret: string) => new Uint8Array(createHash('sha256').update(secret).digest())

const lastTouched = new Map<string, number>()
const touchEveryMs = 60_000

/** The caller behind a bearer token, or null. Notes the use at most once a minute, behind the request. */
export async function authenticateToken(platform: Platform, secret: string): Promise<Viewer | null> {
  const now = platform.clock.now()
  const row = await store.credentialByTokenHash(platform.db, hashSecret(secret), now)
  if (!row?.tokenId) return null
  if (now.getTime() - (lastTouched.get(row.tokenId) ?? 0) >= touchEveryMs) {
    lastTouched.set(row.tokenId, now.getTime())
    store.touchToken(platform.db, row.tokenId, now).catch(() => {})
  }
  return viewerOfCredential(row, row.kind === 'RUNTIME' || row.kind === 'WORKER' ? 'AGENT' : 'API')
}

/** The caller behind a person's sign-in. */
export async function authenticatePerson(
  platform: Platform,
  authUserId: string,
  signIn: { id: string; expiresAt: Date },
): Promise<Viewer | null> {
  const row = await store.credentialByAuthUser(platform.db, authUserId)
  return row && { ...viewerOfCredential(row, 'CONSOLE'), signInId: signIn.id, expiresAt: signIn.expiresAt }
}

function viewerOfCredential(row: store.CredentialRow, channel: Viewer['channel']): Viewer {
  return {
    principalId: row.principalId,
    principalKind: row.kind,
    tokenId: row.tokenId,
    signInId: row.signInId,
    expiresAt: row.expiresAt,
    channel,
    grants: row.grants,
    tokenGrants: row.tokenGrants,
  }
}

type Credential = Pick<Viewer, 'tokenId' | 'signInId' | 'principalId'>

/** Reads the rights of open watches again, in one statement; null for a credential that has ended. */
export async function refreshViewers(platform: Platform, viewers: Viewer[]): Promise<(Viewer | null)[]> {
  const key = ({ tokenId, signInId, principalId }: Credential) => tokenId ?? signInId ?? principalId
  const wanted = new Map(viewers.map((viewer) => [key(viewer), viewer]))
  const rows = await store.credentialsStillValid(platform.db, [...wanted.values()], platform.clock.now())
  const current = new Map(rows.map((row) => [key(row), row]))
  const now = platform.clock.now()
  return viewers.map((viewer) => {
    const row = current.get(key(viewer))
    // A sign-in in use is prolonged.
    const expiresAt = row?.expiresAt ?? viewer.expiresAt
    if (!row || (expiresAt && expiresAt <= now)) return null
    return { ...viewer, expiresAt, grants: row.grants, tokenGrants: row.tokenGrants }
  })
}

/** Moves whenever a right was taken away somewhere. */
export const currentAccessEpoch = (platform: Platform) => store.accessEpoch(platform.db)

/** Records who did what, in the transaction that does it. `reason` at most 2 000 characters. */
export async function audit(
  unit: Unit,
  call: { viewer: { principalId: string | null; channel: Channel } },
  entry: {
    action: string
    subject?: NodeRef
    projectId?: string
    reason?: string | undefined
    detail?: Json
  },
): Promise<void> {
  await store.insertAudit(unit.tx, {
    id: unit.ids.next(),
    at: unit.now,
    actorId: call.viewer.principalId,
    action: entry.action,
    subjectType: entry.subject?.type ?? null,
    subjectId: entry.subject ? encodeId(entry.subject) : null,
    projectId: entry.projectId ?? entry.subject?.projectId ?? null,
    reason: entry.reason ?? null,
    channel: call.viewer.channel,
    detail: (entry.detail ?? undefined) as never,
  })
}

export const loadPrincipals = principals.principalsById
export const loadTokens = principals.tokensById
export const loadGrants = principals.grantsById
export const loadTokensOfPrincipals = principals.tokensOfPrincipals
export const loadGrantsOfPrincipals = principals.grantsOfPrincipals
export const loadGrantsOfTokens = principals.grantsOfTokens

export type { GrantRow, PrincipalRow, TokenRow } from './principals/store.ts'

/** Makes the caller the owner of a project that it has just created, in the transaction that creates it. */
export async function grantOwnership(unit: Unit, call: Call, projectId: string): Promise<void> {
  const id = unit.ids.next()
  const { principalId } = call.viewer
  const capabilities = ['project.own']
  const made = { createdAt: unit.now, createdBy: principalId }
  await principals.insertGrants(unit.tx, [
    { id, principalId, tokenId: null, capabilities, projectId, sessionId: null, ...made },
  ])
  await audit(unit, call, {
    action: 'access.granted',
    subject: { type: 'Grant', id },
    projectId,
    detail: { principal: encodeId({ type: 'Principal', id: principalId }), capabilities },
  })
}
