import { builder } from '../../../graphql/builder.ts'
import { command } from '../../../graphql/command.ts'
import { type Fields, input, inputObject, type Parsed } from '../../../graphql/fields.ts'
import { found } from '../../../graphql/found.ts'
import { notFound } from '../../../platform/refusal.ts'
import type { GrantFacts } from '../rules.ts'
import { invitationPath } from '../sign-in/operations.ts'
import { isEmail } from '../sign-in/rules.ts'
import { GrantRef, PrincipalKindRef, PrincipalRef, TokenRef } from './graphql.ts'
import { createPrincipal, createToken, grantAccess, revokeGrant, revokeToken } from './operations.ts'
import { principalLimits, tokenLimits } from './rules.ts'

const reason = input.text('Why, for the audit log.', { max: 2_000 })

const grantFields = {
  capabilities: input.list(
    input.text('A capability.', { max: 64 }, true),
    'String',
    'Names of the capability table.',
    [1, tokenLimits.capabilities],
    true,
  ),
  projectId: input.id('Project', 'The project that it is limited to; on everything when absent.'),
  sessionId: input.id('Session', 'The session that it is limited to.'),
} satisfies Fields
const GrantInput = inputObject('GrantInput', 'Capabilities on a scope.', grantFields)

/** A session says its project itself; naming another one names nothing. */
function factsOf(grant: Parsed<typeof grantFields>): GrantFacts {
  const projectId = grant.projectId?.id ?? grant.sessionId?.projectId
  if (grant.sessionId && grant.sessionId.projectId !== projectId) throw notFound()
  return { capabilities: grant.capabilities, projectId, sessionId: grant.sessionId?.id }
}

command('createPrincipal', {
  description:
    'Creates a principal with its grants. Needs `access.manage` on the scope of each grant, or on everything when there is none; gives nothing that the caller lacks.',
  input: {
    kind: input.enum(PrincipalKindRef, 'What it is. A PERSON is invited by a link.', true),
    name: input.text('Its name.', { max: principalLimits.name }, true),
    email: input.text('Its e-mail address, suggested when a person first signs in.', {
      max: principalLimits.email,
      check: isEmail,
      hint: 'must be an e-mail address',
    }),
    grants: input.objects(GrantInput, 'What it may do.', [0, tokenLimits.grants]),
    idempotencyKey: input.key(),
  },
  success: builder
    .objectRef<{ principalId: string; invitationId: string | null }>('CreatePrincipalSuccess')
    .implement({
      description: 'The principal is there.',
      fields: (t) => ({
        principal: t.field({
          type: PrincipalRef,
          description: 'The principal.',
          resolve: ({ principalId }, _args, { loaders }) => found(loaders.principal.load(principalId)),
        }),
        signInUrl: t.string({
          nullable: true,
          description:
            'For a PERSON: the link by which it signs in for the first time. Good once, for 7 days.',
          resolve: async ({ invitationId }, _args, { app }) =>
            invitationId === null ? null : `${app.origin}${await invitationPath(app, invitationId)}`,
        }),
      }),
    }),
  permission: null,
  run: (call, { kind, name, email, grants }, { app }) =>
    createPrincipal(app, call, { kind, name, email, grants: (grants ?? []).map(factsOf) }),
})

const tokenSuccess = (name: string, description: string) =>
  builder.objectRef<{ tokenId: string }>(name).implement({
    description,
    fields: (t) => ({
      token: t.field({
        type: TokenRef,
        description: 'The token.',
        resolve: ({ tokenId }, _args, { loaders }) => found(loaders.token.clear(tokenId).load(tokenId)),
      }),
    }),
  })

command('createToken', {
  description:
    'Creates a token: for yourself, or, with `access.manage` on the scope of every grant, for another principal. It never exceeds what its creator and its principal may do.',
  input: {
    name: input.text('Its name.', { max: tokenLimits.name }, true),
    principalId: input.id('Principal', 'Who acts by it; yourself when absent.'),
    grants: input.objects(GrantInput, 'What it is narrowed to.', [1, tokenLimits.grants], true),
    expiresAt: input.date(
      'When it ends: in the future, and not after the token that creates it. Never, or with that token, when absent.',
    ),
  },
  success: builder.objectRef<{ tokenId: string; secret: string }>('CreateTokenSuccess').implement({
    description: 'The token is there. Its secret is shown here and nowhere else.',
    fields: (t) => ({
      token: t.field({
        type: TokenRef,
        description: 'The token.',
        resolve: ({ tokenId }, _args, { loaders }) => found(loaders.token.load(tokenId)),
      }),
      secret: t.exposeString('secret', { description: 'Shown once. Only its SHA-256 is kept.' }),
    }),
  }),
  permission: null,
  run: (call, { name, principalId, grants, expiresAt }, { app }) =>
    createToken(app, call, { name, principalId: principalId?.id, grants: grants.map(factsOf), expiresAt }),
})

command('revokeToken', {
  description:
    'Ends a token for good, and its watches within seconds: one of your own, or, with `access.manage` on the scope of its every grant, anybody’s.',
  input: { tokenId: input.id('Token', 'The token.', true), reason },
  success: tokenSuccess('RevokeTokenSuccess', 'The token has ended.'),
  permission: null,
  run: async (call, { tokenId, reason }, { app }) => {
    await revokeToken(app, call, { tokenId: tokenId.id, reason })
    return { tokenId: tokenId.id }
  },
})

const grantSuccess = (name: string, description: string) =>
  builder.objectRef<{ grantId: string }>(name).implement({
    description,
    fields: (t) => ({
      grant: t.field({
        type: GrantRef,
        description: 'The grant.',
        resolve: ({ grantId }, _args, { loaders }) => found(loaders.grant.clear(grantId).load(grantId)),
      }),
    }),
  })

command('grantAccess', {
  description: 'Grants a principal capabilities on a scope, none that the caller lacks there.',
  input: {
    principalId: input.id('Principal', 'Who gets it.', true),
    grant: input.object(GrantInput, 'What, and where.', true),
    reason,
    idempotencyKey: input.key(),
  },
  success: grantSuccess('GrantAccessSuccess', 'The grant is there.'),
  permission: { capability: 'access.manage', scope: ({ grant }) => factsOf(grant) },
  run: (call, { principalId, grant, reason }, { app }) =>
    grantAccess(app, call, { principalId: principalId.id, grant: factsOf(grant), reason }),
})

command('revokeGrant', {
  description:
    'Takes a grant away; watches that it allowed end within seconds. Needs `access.manage` on its scope. The last owner of everything can’t be removed: CONFLICT.',
  input: { grantId: input.id('Grant', 'The grant.', true), reason },
  success: grantSuccess('RevokeGrantSuccess', 'The grant has ended.'),
  permission: null,
  run: async (call, { grantId, reason }, { app }) => {
    await revokeGrant(app, call, { grantId: grantId.id, reason })
    return { grantId: grantId.id }
  },
})
