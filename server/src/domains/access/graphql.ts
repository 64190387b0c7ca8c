import './principals/commands.ts'
import { builder } from '../../graphql/builder.ts'
import { viewerOf } from '../../graphql/context.ts'
import { found, refOf } from '../../graphql/found.ts'
import { notFound } from '../../platform/refusal.ts'
import { AuditChannelRef } from './audit/graphql.ts'
import { PrincipalRef, TokenRef } from './principals/graphql.ts'
import {
  allows,
  type Capability,
  type CapabilityFacts,
  capabilities,
  type GrantScope,
  type Scope,
  seesProject,
  type Viewer,
} from './rules.ts'

const GrantScopeRef = builder.enumType('GrantScope', {
  description: 'How wide a grant is.',
  values: {
    ALL: { description: 'Everything.' },
    PROJECT: { description: 'One project.' },
    SESSION: { description: 'One session of a project.' },
  },
})

const CapabilityRef = builder.objectRef<CapabilityFacts & { name: string }>('Capability').implement({
  description: 'One row of the capability table.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, as grants spell it.' }),
    family: t.string({
      description: 'What it is about: the name up to the dot.',
      resolve: ({ name }) => name.slice(0, name.indexOf('.')),
    }),
    description: t.exposeString('description', { description: 'What it allows.' }),
    writes: t.exposeBoolean('writes', { description: 'Whether it changes anything.' }),
    scopes: t.field({
      type: [GrantScopeRef],
      description: 'On which scopes it can be given.',
      resolve: ({ scopes }) => scopes,
    }),
  }),
})

const names = Object.keys(capabilities) as Capability[]
const levelOf = (scope: Scope): GrantScope =>
  scope.sessionId ? 'SESSION' : scope.projectId ? 'PROJECT' : 'ALL'

const ViewerRef = builder.objectRef<Viewer>('Viewer').implement({
  description: 'The caller.',
  fields: (t) => ({
    principal: t.field({
      type: PrincipalRef,
      description: 'Who it is.',
      resolve: (viewer, _args, { loaders }) => found(loaders.principal.load(viewer.principalId)),
    }),
    token: t.field({
      type: TokenRef,
      nullable: true,
      description: 'The token that it came with; null for a person who signed in.',
      resolve: (viewer, _args, { loaders }) =>
        viewer.tokenId === null ? null : loaders.token.load(viewer.tokenId),
    }),
    channel: t.field({
      type: AuditChannelRef,
      description: 'How its deeds are recorded.',
      resolve: (viewer) => viewer.channel,
    }),
    capabilities: t.stringList({
      description:
        'The capabilities that it holds on a scope: on everything when no scope is named. Those that can be given there.',
      args: {
        projectId: t.arg.id({ description: 'A project.' }),
        sessionId: t.arg.id({ description: 'A session.' }),
      },
      resolve: async (viewer, args, { loaders }) => {
        const session = args.sessionId == null ? null : refOf('Session', args.sessionId)
        const projectId = args.projectId == null ? session?.projectId : refOf('Project', args.projectId).id
        if (session && session.projectId !== projectId) throw notFound()
        if (projectId !== undefined) {
          if (!seesProject(viewer, projectId)) throw notFound()
          await found(loaders.project.load(projectId))
        }
        const scope: Scope = { projectId, sessionId: session?.id }
        if (session && projectId !== undefined) {
          if (!allows(viewer, 'session.read', scope)) throw notFound()
          await found(loaders.session.load({ projectId, id: session.id }))
        }
        const level = levelOf(scope)
        return names.filter(
          (name) =>
            allows(viewer, name, scope) && (capabilities[name].scopes as GrantScope[]).includes(level),
        )
      },
    }),
  }),
})

builder.queryFields((t) => ({
  viewer: t.field({
    type: ViewerRef,
    description: 'The caller.',
    resolve: (_root, _args, context) => viewerOf(context),
  }),
  capabilities: t.field({
    type: [CapabilityRef],
    description: 'The complete capability table.',
    resolve: (_root, _args, context) => {
      viewerOf(context)
      return names.map((name) => ({ name, ...capabilities[name] }))
    },
  }),
}))
