import { invalid, notFound, Refusal } from '../../../platform/refusal.ts'
import {
  allows,
  authorize,
  checkGrant,
  exceeds,
  type GrantFacts,
  type Scope,
  seesProject,
  type Viewer,
  visibleProjects,
} from '../rules.ts'

/*
 * Who sees and changes whom. A token's life:
 *
 *   (created) ──▶ VALID ──revoke──▶ REVOKED
 *                   └──its time──▶ EXPIRED ──revoke──▶ REVOKED
 *
 * It never comes back. What it may do is never more than what its creator may do, and never outlives the token that
 * created it.
 */

/** A grant as kept: of a principal, or narrowing one of its tokens. */
export interface HeldGrant {
  principalId: string
  tokenId: string | null
  capabilities: readonly string[]
  projectId: string | null
  sessionId: string | null
}

export interface TokenFacts {
  id: string
  principalId: string
}

export const scopeOf = (grant: Pick<HeldGrant, 'projectId' | 'sessionId'>): Scope => ({
  projectId: grant.projectId ?? undefined,
  sessionId: grant.sessionId ?? undefined,
})
export const factsOf = (grant: HeldGrant): GrantFacts => ({
  capabilities: grant.capabilities,
  ...scopeOf(grant),
})

const manages = (viewer: Viewer, scope: Scope) => allows(viewer, 'access.manage', scope)
const managesAll = (viewer: Viewer) => manages(viewer, {})

/** Whether a grant is there for the caller: one of its own that its credential reaches, or one on a scope it manages. */
export function seesGrant(viewer: Viewer, grant: HeldGrant): boolean {
  if (manages(viewer, scopeOf(grant))) return true
  if (grant.principalId !== viewer.principalId) return false
  return grant.projectId === null || seesProject(viewer, grant.projectId)
}

/** Whether a principal is there for the caller: itself, whom it shares a project with, or everybody for who manages all. */
export function seesPrincipal(viewer: Viewer, principalId: string, grants: readonly HeldGrant[]): boolean {
  if (principalId === viewer.principalId || managesAll(viewer)) return true
  const visible = visibleProjects(viewer)
  return grants.some((grant) =>
    grant.projectId === null
      ? visible === 'all' || visible.length > 0
      : visible === 'all' || visible.includes(grant.projectId),
  )
}

/** Whether the caller sees how to reach a principal: itself, or one with a grant in a project that the caller manages. */
export function seesEmail(viewer: Viewer, principalId: string, grants: readonly HeldGrant[]): boolean {
  if (principalId === viewer.principalId || managesAll(viewer)) return true
  return grants.some((grant) => grant.projectId !== null && manages(viewer, scopeOf(grant)))
}

/** Whether a token is there for the caller: one of its own whose every grant it sees, or one on scopes that it manages. */
export function seesToken(viewer: Viewer, token: TokenFacts, grants: readonly HeldGrant[]): boolean {
  if (managesAll(viewer) || token.id === viewer.tokenId) return true
  if (token.principalId === viewer.principalId) {
    return viewer.tokenGrants === null || grants.every((grant) => seesGrant(viewer, grant))
  }
  return grants.length > 0 && grants.every((grant) => manages(viewer, scopeOf(grant)))
}

/**
 * Whether the caller may revoke a token: a person its own, a token itself and its like (those that can do no more than
 * it can), and who manages every scope that the token reaches.
 */
export function decideRevocation(
  viewer: Viewer,
  token: TokenFacts,
  grants: readonly HeldGrant[],
): Refusal | null {
  if (!seesToken(viewer, token, grants)) return notFound()
  if (managesAll(viewer) || token.id === viewer.tokenId) return null
  if (grants.length > 0 && grants.every((grant) => manages(viewer, scopeOf(grant)))) return null
  const within =
    viewer.tokenGrants === null || grants.every((grant) => exceeds(viewer, factsOf(grant)) === null)
  return within ? null : lacks('access.manage')
}

/** The same, for whether to offer it: nobody needs to revoke what has ended. */
export const offerRevocation = (
  viewer: Viewer,
  token: TokenFacts & { revokedAt: Date | null },
  grants: readonly HeldGrant[],
): Refusal | null =>
  decideRevocation(viewer, token, grants) ??
  (token.revokedAt ? new Refusal('CONFLICT', 'This token was revoked already.') : null)

const lacks = (capability: string) =>
  new Refusal('PERMISSION_DENIED', `This needs the capability ${capability}.`, { capability })

/**
 * Checks grants that the caller wants to give (to a principal, or to a token to narrow it): their shape, that their
 * scope is there for the caller, that it may manage access there unless it only serves itself, and that it gives
 * nothing which it does not hold itself.
 */
export function decideGrants(
  viewer: Viewer,
  grants: readonly GrantFacts[],
  options: { forItself: boolean; path: (index: number) => string[] },
): Refusal | null {
  for (const [index, grant] of grants.entries()) {
    const flaw = checkGrant(grant, options.path(index))
    if (flaw) return flaw
  }
  for (const grant of grants) {
    if (grant.projectId !== undefined && !seesProject(viewer, grant.projectId)) return notFound()
    const refusal = options.forItself ? null : authorize(viewer, 'access.manage', grant)
    if (refusal) return refusal
    const excess = exceeds(viewer, grant)
    if (excess) return lacks(excess)
  }
  return null
}

/** When a new token ends: as asked, in the future, and not after the token that creates it. Null is never. */
export function expiryOf(viewer: Viewer, wanted: Date | undefined, now: Date): Date | null | Refusal {
  if (wanted && wanted <= now) return invalid('expiresAt', 'must be in the future')
  const latest = viewer.tokenId === null ? null : viewer.expiresAt
  if (latest === null) return wanted ?? null
  if (wanted && wanted > latest)
    return invalid('expiresAt', 'must not be after the end of the token that creates it')
  return wanted ?? latest
}

/** Whether a grant makes its principal an owner of everything. */
export const ownsEverything = (grant: Pick<HeldGrant, 'tokenId' | 'projectId' | 'capabilities'>) =>
  grant.tokenId === null && grant.projectId === null && grant.capabilities.includes('project.own')

/** Somebody must be left who can give rights to everybody else. */
export const lastOwner = () =>
  new Refusal('CONFLICT', 'This is the last owner of everything. Make somebody else an owner first.')

export const tokenLimits = { name: 120, grants: 50, capabilities: 100, idleSeconds: 60 }
export const principalLimits = { name: 120, email: 254 }
