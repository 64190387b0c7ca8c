import { AllowedActionRef } from '../../../graphql/allowed-action.ts'
import { builder, nodeKey, unspell } from '../../../graphql/builder.ts'
import { connectionType, forwardArgs, pageCost } from '../../../graphql/connection.ts'
import { type Context, viewerOf } from '../../../graphql/context.ts'
import { found } from '../../../graphql/found.ts'
import { connectionOf, isTimeKey, pageRequest } from '../../../graphql/page.ts'
import type { NodeRef } from '../../../platform/ids.ts'
import { ProjectRef } from '../../projects/graphql.ts'
import { SessionRef } from '../../sessions/graphql.ts'
import {
  allowedAction,
  allows,
  authorize,
  type PrincipalKind,
  principalKinds,
  seesProject,
} from '../rules.ts'
import { listPrincipals } from './operations.ts'
import { offerRevocation, scopeOf, seesEmail, seesGrant, seesPrincipal, seesToken } from './rules.ts'
import type { GrantRow, PrincipalRow, TokenRow } from './store.ts'

export const PrincipalRef = builder.objectRef<PrincipalRow>('Principal')
export const TokenRef = builder.objectRef<TokenRow>('Token')
export const GrantRef = builder.objectRef<GrantRow>('Grant')

export const PrincipalKindRef = builder.enumType('PrincipalKind', {
  description: 'What a principal is.',
  values: principalKinds,
})

const optional = (id: string | null, { loaders }: Context) =>
  id === null ? null : loaders.principal.load(id)

/** The principal that an id names, for a caller that sees it; else null. */
async function principalNode({ id }: NodeRef, { viewer, loaders }: Context): Promise<PrincipalRow | null> {
  const [row, grants] = await Promise.all([loaders.principal.load(id), loaders.grantsOfPrincipal.load(id)])
  return row && viewer && seesPrincipal(viewer, id, grants) ? row : null
}

builder.node(PrincipalRef, {
  description:
    'Who acts: a person, a service, an agent runtime. Its name is seen by whoever shares a project with it; how to reach it and what it holds, by itself and by who manages access there.',
  id: { resolve: ({ id }) => nodeKey({ id }) },
  loadWithoutCache: (key, context) => found(principalNode(unspell('Principal', key), context)),
  fields: (t) => ({
    kind: t.field({
      type: PrincipalKindRef,
      description: 'What it is.',
      resolve: (principal) => principal.kind as PrincipalKind,
    }),
    name: t.exposeString('name', { description: 'Its name.' }),
    email: t.string({
      nullable: true,
      description: 'Its address, for itself and for who manages access in a project of its; else null.',
      resolve: async (principal, _args, context) => {
        const grants = await context.loaders.grantsOfPrincipal.load(principal.id)
        return seesEmail(viewerOf(context), principal.id, grants) ? principal.email : null
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    disabledAt: t.expose('disabledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was disabled: nothing of it works any more.',
    }),
    tokens: t.field({
      type: [TokenRef],
      description: 'Those of its tokens that you can see, newest first; ended ones too.',
      resolve: async (principal, _args, context) => {
        const viewer = viewerOf(context)
        const tokens = await context.loaders.tokensOfPrincipal.load(principal.id)
        const grants = await context.loaders.grantsOfToken.loadMany(tokens.map((token) => token.id))
        return tokens.filter((token, index) => seesToken(viewer, token, rowsOf(grants[index])))
      },
    }),
    grants: t.field({
      type: [GrantRef],
      description: 'Those of its grants that you can see.',
      resolve: async (principal, _args, context) => {
        const viewer = viewerOf(context)
        const grants = await context.loaders.grantsOfPrincipal.load(principal.id)
        return grants.filter((grant) => seesGrant(viewer, grant))
      },
    }),
    allowedActions: t.field({
      type: [AllowedActionRef],
      description: 'What the caller may do for it now.',
      resolve: (principal, _args, context) => {
        const viewer = viewerOf(context)
        // Where the caller may manage access is asked for each scope; anywhere is enough to offer the action.
        const scopes = [{}, ...viewer.grants.map(({ projectId, sessionId }) => ({ projectId, sessionId }))]
        const manages = scopes.some((scope) => allows(viewer, 'access.manage', scope))
        const refusal = manages ? null : authorize(viewer, 'access.manage', {})
        return [
          allowedAction('createToken', principal.id === viewer.principalId ? null : refusal),
          allowedAction('grantAccess', refusal),
          allowedAction('revokeGrant', refusal),
        ]
      },
    }),
  }),
})

/** A loader's list, or what went wrong with it. */
function rowsOf(rows: GrantRow[] | Error | undefined): GrantRow[] {
  if (rows instanceof Error) throw rows
  return rows ?? []
}

/** The token that an id names, for a caller that sees it; else null. */
async function tokenNode({ id }: { id: string }, { viewer, loaders }: Context): Promise<TokenRow | null> {
  const [row, grants] = await Promise.all([loaders.token.load(id), loaders.grantsOfToken.load(id)])
  return row && viewer && seesToken(viewer, row, grants) ? row : null
}

builder.node(TokenRef, {
  description: 'A secret by which a principal acts. Its grants narrow what the principal may do.',
  id: { resolve: ({ id }) => nodeKey({ id }) },
  loadWithoutCache: (key, context) => found(tokenNode(unspell('Token', key), context)),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    principal: t.field({
      type: PrincipalRef,
      description: 'Who acts by it.',
      resolve: (token, _args, { loaders }) => found(loaders.principal.load(token.principalId)),
    }),
    prefix: t.exposeString('prefix', { description: 'How its secret begins, to find it again.' }),
    grants: t.field({
      type: [GrantRef],
      description: 'What it is narrowed to.',
      resolve: async (token, _args, context) => {
        const viewer = viewerOf(context)
        const grants = await context.loaders.grantsOfToken.load(token.id)
        return grants.filter((grant) => token.id === viewer.tokenId || seesGrant(viewer, grant))
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    createdBy: t.field({
      type: PrincipalRef,
      nullable: true,
      description: 'Who created it; null for the server itself.',
      resolve: (token, _args, context) => optional(token.createdBy, context),
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends; null is never.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to within a minute; null is never.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked.',
    }),
    allowedActions: t.field({
      type: [AllowedActionRef],
      description: 'What the caller may do with it now.',
      resolve: async (token, _args, context) => {
        const grants = await context.loaders.grantsOfToken.load(token.id)
        return [allowedAction('revokeToken', offerRevocation(viewerOf(context), token, grants))]
      },
    }),
  }),
})

/** The grant that an id names, for a caller that sees it; else null. */
async function grantNode({ id }: NodeRef, { viewer, loaders }: Context): Promise<GrantRow | null> {
  const row = await loaders.grant.load(id)
  return row && viewer && seesGrant(viewer, row) ? row : null
}

builder.node(GrantRef, {
  description: 'Capabilities on a scope: everything, one project, or one session of a project.',
  id: { resolve: ({ id }) => nodeKey({ id }) },
  loadWithoutCache: (key, context) => found(grantNode(unspell('Grant', key), context)),
  fields: (t) => ({
    principal: t.field({
      type: PrincipalRef,
      description: 'Who holds it.',
      resolve: (grant, _args, { loaders }) => found(loaders.principal.load(grant.principalId)),
    }),
    token: t.field({
      type: TokenRef,
      nullable: true,
      description: 'The token that it narrows; null for what the principal itself holds.',
      resolve: (grant, _args, context) =>
        grant.tokenId === null ? null : tokenNode({ id: grant.tokenId }, context),
    }),
    capabilities: t.exposeStringList('capabilities', { description: 'Names of the capability table.' }),
    project: t.field({
      type: ProjectRef,
      nullable: true,
      description: 'The project that it is limited to; null when it is on everything.',
      resolve: (grant, _args, context) =>
        grant.projectId !== null && seesProject(viewerOf(context), grant.projectId)
          ? context.loaders.project.load(grant.projectId)
          : null,
    }),
    session: t.field({
      type: SessionRef,
      nullable: true,
      description: 'The session that it is limited to, where you can see it.',
      resolve: (grant, _args, context) =>
        grant.projectId !== null &&
        grant.sessionId !== null &&
        allows(viewerOf(context), 'session.read', scopeOf(grant))
          ? context.loaders.session.load({ projectId: grant.projectId, id: grant.sessionId })
          : null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was given.' }),
    createdBy: t.field({
      type: PrincipalRef,
      nullable: true,
      description: 'Who gave it; null for the server itself.',
      resolve: (grant, _args, context) => optional(grant.createdBy, context),
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was taken away.',
    }),
  }),
})

const PrincipalConnection = connectionType('Principal', PrincipalRef)

builder.queryField('principals', (t) =>
  t.field({
    type: PrincipalConnection,
    description: 'The principals that you can see, newest first.',
    args: forwardArgs,
    complexity: pageCost,
    resolve: async (_root, args, context) => {
      const request = pageRequest(args, isTimeKey)
      const rows = await listPrincipals(context.app.db, viewerOf(context), request)
      // Their tokens and grants name them again.
      for (const row of rows) context.loaders.principal.prime(row.id, row)
      return connectionOf(rows, request, (row) => [row.createdAt.toISOString(), row.id])
    },
  }),
)
