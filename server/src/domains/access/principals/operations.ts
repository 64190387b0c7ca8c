import { randomBytes } from 'node:crypto'
import type { Db } from '../../../platform/database.ts'
import { type Call, transactOnce } from '../../../platform/idempotency.ts'
import { encodeId } from '../../../platform/ids.ts'
import { accept, notFound, Refusal } from '../../../platform/refusal.ts'
import { type Platform, transact, type Unit } from '../../../platform/transaction.ts'
import { audit, hashSecret } from '../operations.ts'
import {
  allows,
  authorize,
  type GrantFacts,
  type PrincipalKind,
  type Viewer,
  visibleProjects,
} from '../rules.ts'
import { invite } from '../sign-in/operations.ts'
import { raiseAccessEpoch } from '../store.ts'
import {
  decideGrants,
  decideRevocation,
  expiryOf,
  lastOwner,
  ownsEverything,
  scopeOf,
  seesGrant,
  seesPrincipal,
} from './rules.ts'
import * as store from './store.ts'

/** A page of the principals that the caller sees, newest first; one row more than asked for. */
export const listPrincipals = (
  db: Db,
  viewer: Viewer,
  page: { first: number; after: [at: string, id: string] | null },
) =>
  store.principalPage(
    db,
    allows(viewer, 'access.manage', {})
      ? 'all'
      : { self: viewer.principalId, projects: visibleProjects(viewer) },
    page,
  )

/** The one project that all of these scopes lie in, if there is one: whose owners may read about it in their log. */
function commonProject(grants: readonly GrantFacts[]): { projectId?: string } {
  const [first] = grants
  const projectId = first?.projectId
  return projectId !== undefined && grants.every((grant) => grant.projectId === projectId)
    ? { projectId }
    : {}
}

const grantDetail = (grant: GrantFacts) => ({
  capabilities: [...grant.capabilities],
  ...(grant.projectId && { project: encodeId({ type: 'Project', id: grant.projectId }) }),
  ...(grant.projectId &&
    grant.sessionId && {
      session: encodeId({ type: 'Session', projectId: grant.projectId, id: grant.sessionId }),
    }),
})

/** Refuses grants on projects and sessions that are not there, like those that the caller can't see. */
async function requireScopes(unit: Unit, grants: readonly GrantFacts[]): Promise<void> {
  const projects = grants.flatMap((grant) => (grant.projectId === undefined ? [] : [grant.projectId]))
  const sessions = grants.flatMap((grant) =>
    grant.projectId === undefined || grant.sessionId === undefined
      ? []
      : [{ projectId: grant.projectId, id: grant.sessionId }],
  )
  if (!(await store.scopesExist(unit.tx, projects, sessions))) throw notFound()
}

async function give(
  unit: Unit,
  call: Call,
  holder: { principalId: string; tokenId: string | null },
  grants: readonly GrantFacts[],
): Promise<string[]> {
  const rows = grants.map((grant) => ({
    id: unit.ids.next(),
    ...holder,
    capabilities: [...new Set(grant.capabilities)].sort(),
    projectId: grant.projectId ?? null,
    sessionId: grant.sessionId ?? null,
    createdAt: unit.now,
    createdBy: call.viewer.principalId,
  }))
  if (rows.length > 0) await store.insertGrants(unit.tx, rows)
  return rows.map((row) => row.id)
}

/** Gives a principal grants, each with its own audit entry, which the owners of its project can read. */
async function giveToPrincipal(
  unit: Unit,
  call: Call,
  principalId: string,
  grants: readonly GrantFacts[],
  reason?: string,
): Promise<string[]> {
  const ids = await give(unit, call, { principalId, tokenId: null }, grants)
  for (const [index, grant] of grants.entries()) {
    await audit(unit, call, {
      action: 'access.granted',
      subject: { type: 'Grant', id: ids[index] as string },
      ...commonProject([grant]),
      reason,
      detail: { principal: encodeId({ type: 'Principal', id: principalId }), ...grantDetail(grant) },
    })
  }
  return ids
}

/**
 * Creates a principal with its grants. Needs `access.manage` on the scope of each, or on everything when there is
 * none; gives nothing that the caller lacks. A PERSON gets an invitation of 7 days, by which it signs in for the first
 * time; its code is derived, so a retry under the same key gives the same link.
 */
export function createPrincipal(
  platform: Platform,
  call: Call,
  input: { kind: PrincipalKind; name: string; email?: string | undefined; grants: readonly GrantFacts[] },
): Promise<{ principalId: string; invitationId: string | null }> {
  return transactOnce(platform, call, async (unit) => {
    const { viewer } = call
    if (input.grants.length === 0) {
      const refusal = authorize(viewer, 'access.manage', {})
      if (refusal) throw refusal
    }
    const path = (index: number) => ['grants', String(index)]
    const refusal = decideGrants(viewer, input.grants, { forItself: false, path })
    if (refusal) throw refusal
    await requireScopes(unit, input.grants)
    const id = unit.ids.next()
    await store.insertPrincipal(unit.tx, {
      id,
      kind: input.kind,
      name: input.name,
      email: input.email ?? null,
      createdAt: unit.now,
      createdBy: viewer.principalId,
    })
    await audit(unit, call, {
      action: 'principal.created',
      subject: { type: 'Principal', id },
      ...commonProject(input.grants),
      detail: { kind: input.kind, name: input.name },
    })
    await giveToPrincipal(unit, call, id, input.grants)
    const invitationId = input.kind === 'PERSON' ? await invite(unit, id) : null
    return { principalId: id, invitationId }
  })
}

/** The principal with the grants that decide who sees it; NOT_FOUND for who doesn't. */
async function visiblePrincipal(unit: Unit, viewer: Viewer, id: string): Promise<store.PrincipalRow> {
  const [principal] = await store.principalsById(unit.tx, [id])
  if (!principal) throw notFound()
  const grants = await store.grantsOfPrincipals(unit.tx, [id])
  if (!seesPrincipal(viewer, id, grants)) throw notFound()
  return principal
}

/**
 * Creates a token: for the caller itself, or, with `access.manage` on the scope of every grant, for another principal.
 * The grants narrow what the principal may do and never exceed what the caller may. The secret is in the answer and
 * nowhere else; only its SHA-256 is kept. A token made with a token ends no later than that one.
 */
export function createToken(
  platform: Platform,
  call: Call,
  input: {
    name: string
    principalId?: string | undefined
    grants: readonly GrantFacts[]
    expiresAt?: Date | undefined
  },
): Promise<{ tokenId: string; secret: string }> {
  const { viewer } = call
  const principalId = input.principalId ?? viewer.principalId
  const forItself = principalId === viewer.principalId
  const secret = `wh_${randomBytes(32).toString('base64url')}`
  return transact(platform, async (unit) => {
    const principal = await visiblePrincipal(unit, viewer, principalId)
    const path = (index: number) => ['grants', String(index)]
    const refusal = decideGrants(viewer, input.grants, { forItself, path })
    if (refusal) throw refusal
    const expiresAt = accept(expiryOf(viewer, input.expiresAt, unit.now))
    await requireScopes(unit, input.grants)
    if (principal.disabledAt) throw new Refusal('CONFLICT', 'This principal is disabled.')
    const id = unit.ids.next()
    await store.insertToken(unit.tx, {
      id,
      principalId,
      name: input.name,
      prefix: secret.slice(0, 8),
      hash: hashSecret(secret),
      createdAt: unit.now,
      createdBy: viewer.principalId,
      expiresAt,
    })
    await give(unit, call, { principalId, tokenId: id }, input.grants)
    await audit(unit, call, {
      action: 'token.created',
      subject: { type: 'Token', id },
      ...commonProject(input.grants),
      detail: {
        name: input.name,
        principal: encodeId({ type: 'Principal', id: principalId }),
        expiresAt: expiresAt?.toISOString() ?? null,
        grants: input.grants.map(grantDetail),
      },
    })
    return { tokenId: id, secret }
  })
}

/** Tells open watches, here and in other processes, that rights were taken away. */
async function withdraw(unit: Unit): Promise<void> {
  await raiseAccessEpoch(unit.tx)
  unit.hint({ topic: 'access' })
}

/** Ends a token for good; one that has ended stays as it is. See `decideRevocation` for who may. */
export function revokeToken(
  platform: Platform,
  call: Call,
  input: { tokenId: string; reason?: string | undefined },
): Promise<void> {
  return transact(platform, async (unit) => {
    const [token] = await store.tokensById(unit.tx, [input.tokenId])
    if (!token) throw notFound()
    const grants = await store.grantsOfTokens(unit.tx, [token.id])
    const refusal = decideRevocation(call.viewer, token, grants)
    if (refusal) throw refusal
    if (!(await store.endToken(unit.tx, token.id, unit.now, call.viewer.principalId))) return
    await withdraw(unit)
    await audit(unit, call, {
      action: 'token.revoked',
      subject: { type: 'Token', id: token.id },
      ...commonProject(grants.map((grant) => ({ capabilities: grant.capabilities, ...scopeOf(grant) }))),
      reason: input.reason,
      detail: { name: token.name, principal: encodeId({ type: 'Principal', id: token.principalId }) },
    })
  })
}

/** Grants a principal capabilities on a scope. Needs `access.manage` there, and every capability that it gives. */
export function grantAccess(
  platform: Platform,
  call: Call,
  input: { principalId: string; grant: GrantFacts; reason?: string | undefined },
): Promise<{ grantId: string }> {
  return transactOnce(platform, call, async (unit) => {
    const refusal = decideGrants(call.viewer, [input.grant], { forItself: false, path: () => ['grant'] })
    if (refusal) throw refusal
    await visiblePrincipal(unit, call.viewer, input.principalId)
    await requireScopes(unit, [input.grant])
    const [grantId] = await giveToPrincipal(unit, call, input.principalId, [input.grant], input.reason)
    return { grantId: grantId as string }
  })
}

/**
 * Takes a grant away; one that has ended stays as it is. Needs `access.manage` on its scope. The last owner of
 * everything can't be removed: CONFLICT.
 */
export function revokeGrant(
  platform: Platform,
  call: Call,
  input: { grantId: string; reason?: string | undefined },
): Promise<void> {
  return transact(platform, async (unit) => {
    const [grant] = await store.grantsById(unit.tx, [input.grantId])
    if (!grant || !seesGrant(call.viewer, grant)) throw notFound()
    const refusal = authorize(call.viewer, 'access.manage', scopeOf(grant))
    if (refusal) throw refusal
    // Takes the installation's row first, so that two owners can't remove each other at the same time.
    await withdraw(unit)
    if (!(await store.endGrant(unit.tx, grant.id, unit.now, call.viewer.principalId))) return
    if (ownsEverything(grant) && (await store.ownersOfEverything(unit.tx)).length === 0) throw lastOwner()
    await audit(unit, call, {
      action: 'access.revoked',
      subject: { type: 'Grant', id: grant.id },
      ...(grant.projectId && { projectId: grant.projectId }),
      reason: input.reason,
      detail: {
        principal: encodeId({ type: 'Principal', id: grant.principalId }),
        ...grantDetail({ capabilities: grant.capabilities, ...scopeOf(grant) }),
      },
    })
  })
}
