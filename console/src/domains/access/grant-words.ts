import type { GrantRow, TokenRow } from './access-queries.ts'
import { accessText } from './text.ts'

/** Where a grant holds, in words. */
export function useScopeWords(): (grant: Pick<GrantRow, 'project' | 'session'>) => string {
  const t = accessText.useText()
  return ({ project, session }) => {
    if (session) return t('access.scopeSession', { name: session.title })
    return project?.name ?? t('access.scopeAll')
  }
}

export const liveGrants = (grants: readonly GrantRow[]): readonly GrantRow[] =>
  grants.filter(({ revokedAt }) => !revokedAt)

export type TokenState = 'active' | 'revoked' | 'expired'
/** For reading only; whether a token still works is the server's decision. */
export function tokenState({ revokedAt, expiresAt }: TokenRow, now: number): TokenState {
  if (revokedAt) return 'revoked'
  return expiresAt && Date.parse(expiresAt) <= now ? 'expired' : 'active'
}
