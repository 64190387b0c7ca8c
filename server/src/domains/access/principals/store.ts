import { type Db, Prisma, type Tx } from '../../../platform/database.ts'
import type { Ref } from '../../../platform/ids.ts'
import { rowsById, tableOf } from '../../../platform/rows.ts'
import type { PrincipalKind } from '../rules.ts'

type Reader = Db | Tx

export type PrincipalRow = Prisma.PrincipalGetPayload<object>
export type TokenRow = Prisma.TokenGetPayload<object>
export type GrantRow = Prisma.GrantGetPayload<object>

const principals = tableOf('principals', Prisma.PrincipalScalarFieldEnum)
export const principalsById = (db: Reader, ids: readonly string[]) =>
  rowsById<PrincipalRow>(db, principals, ids)
export const tokensById = (db: Reader, ids: readonly string[]) =>
  db.token.findMany({ where: { id: { in: [...ids] } } })
export const grantsById = (db: Reader, ids: readonly string[]) =>
  db.grant.findMany({ where: { id: { in: [...ids] } } })
export const tokensOfPrincipals = (db: Reader, ids: readonly string[]) =>
  db.token.findMany({
    where: { principalId: { in: [...ids] } },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  })
export const grantsOfPrincipals = (db: Reader, ids: readonly string[]) =>
  db.grant.findMany({
    where: { principalId: { in: [...ids] }, tokenId: null, revokedAt: null },
    orderBy: { id: 'asc' },
  })
export const grantsOfTokens = (db: Reader, ids: readonly string[]) =>
  db.grant.findMany({ where: { tokenId: { in: [...ids] }, revokedAt: null }, orderBy: { id: 'asc' } })

/** Which principals a caller sees: everybody, or itself and who holds a grant on everything or on one of its projects. */
export type PrincipalSight = 'all' | { self: string; projects: 'all' | string[] }

/** One page of the visible principals, newest first. `sight` filters before the page is cut. */
export const principalPage = (
  db: Reader,
  sight: PrincipalSight,
  page: { first: number; after: [at: string, id: string] | null },
) => {
  const and: Prisma.PrincipalWhereInput[] = []
  if (sight !== 'all') {
    const scope: Prisma.GrantWhereInput =
      sight.projects === 'all' ? {} : { OR: [{ projectId: null }, { projectId: { in: sight.projects } }] }
    const shares: Prisma.PrincipalWhereInput = {
      grants: { some: { tokenId: null, revokedAt: null, ...scope } },
    }
    const sharesAny = sight.projects === 'all' || sight.projects.length > 0
    and.push({ OR: [{ id: sight.self }, ...(sharesAny ? [shares] : [])] })
  }
  if (page.after) {
    const [at, id] = [new Date(page.after[0]), page.after[1]]
    and.push({ OR: [{ createdAt: { lt: at } }, { createdAt: at, id: { lt: id } }] })
  }
  return db.principal.findMany({
    where: { AND: and },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: page.first + 1,
  })
}

export const insertPrincipal = (
  tx: Tx,
  principal: {
    id: string
    kind: PrincipalKind
    name: string
    email: string | null
    createdAt: Date
    createdBy: string | null
    authUserId?: string
  },
) => tx.principal.create({ data: principal })

export const insertToken = (
  tx: Tx,
  token: {
    id: string
    principalId: string
    name: string
    prefix: string
    hash: Uint8Array<ArrayBuffer>
    createdAt: Date
    createdBy: string | null
    expiresAt: Date | null
  },
) => tx.token.create({ data: token })

export const insertGrants = (
  tx: Tx,
  grants: {
    id: string
    principalId: string
    tokenId: string | null
    capabilities: string[]
    projectId: string | null
    sessionId: string | null
    createdAt: Date
    createdBy: string | null
  }[],
) => tx.grant.createMany({ data: grants })

/** Ends a token; false when it had ended. */
export const endToken = async (tx: Tx, id: string, now: Date, by: string | null) =>
  (await tx.token.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: now, revokedBy: by } }))
    .count === 1

/** Ends a grant; false when it had ended. */
export const endGrant = async (tx: Tx, id: string, now: Date, by: string) =>
  (await tx.grant.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: now, revokedBy: by } }))
    .count === 1

const ownersWhere: Prisma.PrincipalWhereInput = {
  disabledAt: null,
  grants: {
    some: { tokenId: null, revokedAt: null, projectId: null, capabilities: { has: 'project.own' } },
  },
}

/** The owners of everything, the first one first. */
export const ownersOfEverything = (db: Reader) =>
  db.principal.findMany({ where: ownersWhere, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })

/** Whether every one of these projects and sessions is there. */
export async function scopesExist(db: Reader, projects: string[], sessions: Ref[]): Promise<boolean> {
  const ids = [...new Set(projects)]
  const named = new Map(sessions.map((ref) => [`${ref.projectId}/${ref.id}`, ref]))
  const [projectCount, sessionCount] = [
    ids.length === 0 ? 0 : await db.project.count({ where: { id: { in: ids } } }),
    named.size === 0
      ? 0
      : await db.session.count({
          where: { OR: [...named.values()].map(({ projectId, id }) => ({ projectId, id })) },
        }),
  ]
  return projectCount === ids.length && sessionCount === named.size
}
