import { builder } from '../../graphql/builder.ts'
import { command } from '../../graphql/command.ts'
import { permit, viewerOf } from '../../graphql/context.ts'
import { input } from '../../graphql/fields.ts'
import { found, refOf } from '../../graphql/found.ts'
import { PrincipalRef } from '../access/principals/graphql.ts'
import { definitionSchema } from './definition.ts'
import { type ListedProtocol, listProtocols, registerProtocol } from './operations.ts'
import { definitionFormats, maxDefinitionBytes } from './reading.ts'
import { nameOf, type Phase, type Protocol, type StartRule, type Transition } from './rules.ts'

const FormatRef = builder.enumType('DefinitionFormat', {
  description: 'What a definition is written in.',
  values: definitionFormats,
})

const TriggerRef = builder.objectRef<NonNullable<Transition['on']>>('ProtocolTrigger').implement({
  description: 'The result of an action that takes a transition.',
  fields: (t) => ({
    action: t.exposeString('action', { description: 'An action or `prefix*`.' }),
    ok: t.boolean({
      description: 'Whether by its success or by its failure.',
      resolve: ({ ok }) => ok ?? true,
    }),
  }),
})

const TransitionRef = builder.objectRef<Transition>('ProtocolTransition').implement({
  description: 'A way from a phase to another.',
  fields: (t) => ({
    to: t.exposeString('to', { description: 'The phase that it leads to.' }),
    on: t.field({
      type: TriggerRef,
      nullable: true,
      description: 'The result that takes it; null: facts alone do.',
      resolve: ({ on }) => on ?? null,
    }),
    when: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Facts that must hold: a boolean equals, a count is reached.',
      resolve: ({ when }) => when ?? null,
    }),
  }),
})

const PhaseRef = builder.objectRef<Phase>('ProtocolPhase').implement({
  description: 'What may be done in a stretch of the work, and what leads on from it.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    allowedActions: t.exposeStringList('allowedActions', {
      description: 'Actions, `prefix*`, or `ungoverned`: what no protocol of the project governs.',
    }),
    needsApproval: t.exposeStringList('needsApproval', {
      description: 'Of those, the ones that an owner must allow each time.',
    }),
    transitions: t.expose('transitions', {
      type: [TransitionRef],
      description: 'The first that applies is taken.',
    }),
    final: t.boolean({
      description: 'Whether the work may end here.',
      resolve: ({ final }) => final ?? false,
    }),
  }),
})

const CompletionRef = builder.objectRef<Protocol['completion']>('ProtocolCompletion').implement({
  description: 'When the work is done.',
  fields: (t) => ({
    requiredFacts: t.expose('requiredFacts', { type: 'JSON', description: 'Facts that must hold.' }),
    requirements: t.field({
      type: builder.enumType('RequirementPolicy', {
        description: 'What must have become of the requirements.',
        values: ['ALL_MET', 'NONE'] as const,
      }),
      description: 'What must have become of the requirements.',
      resolve: ({ requirements }) => requirements,
    }),
    strict: t.exposeBoolean('strict', { description: 'Whether a run can’t be completed before.' }),
  }),
})

const StartRuleRef = builder.objectRef<StartRule>('ProtocolStartRule').implement({
  description: 'What makes a message the start of a task under the protocol.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'Its name, the reason of the decisions that it makes.' }),
    anyOf: t.field({
      type: 'JSON',
      description: 'Alternatives `{all: [[phrase]]}`: each list must have a phrase in the message.',
      resolve: ({ anyOf }) => anyOf,
    }),
    noneOf: t.stringList({
      description: 'Phrases that speak against it, whatever else is there.',
      resolve: ({ noneOf }) => noneOf ?? [],
    }),
  }),
})

const ProtocolRef = builder.objectRef<ListedProtocol>('ProtocolDefinition')
ProtocolRef.implement({
  description: 'A version of a protocol: what an agent may do, phase by phase. It never changes.',
  fields: (t) => ({
    name: t.string({
      description: '`id@version`, as protocols are named everywhere.',
      resolve: ({ protocol }) => nameOf(protocol),
    }),
    protocolId: t.string({
      description: 'The protocol, whatever its version.',
      resolve: ({ protocol }) => protocol.id,
    }),
    version: t.int({ description: 'Counted from 1.', resolve: ({ protocol }) => protocol.version }),
    title: t.string({ description: 'Its title.', resolve: ({ protocol }) => protocol.title }),
    initialPhase: t.string({
      description: 'The phase that it begins in.',
      resolve: ({ protocol }) => protocol.initialPhase,
    }),
    phases: t.field({
      type: [PhaseRef],
      description: 'Its phases.',
      resolve: ({ protocol }) => protocol.phases,
    }),
    governs: t.stringList({
      description: 'The actions that are its real work.',
      resolve: ({ protocol }) => protocol.governs,
    }),
    completion: t.field({
      type: CompletionRef,
      description: 'When the work is done.',
      resolve: ({ protocol }) => protocol.completion,
    }),
    extraction: t.boolean({
      description: 'Whether its tasks have their requirements extracted.',
      resolve: ({ protocol }) => protocol.extraction,
    }),
    handoffTo: t.stringList({
      nullable: true,
      description: 'The protocols that an agent may hand off to; null: any.',
      resolve: ({ protocol }) => protocol.handoffTo,
    }),
    staleIntent: t.field({
      type: builder.enumType('StaleIntentPolicy', {
        description: 'What becomes of actions under a task that has been corrected since.',
        values: ['ALLOW', 'BLOCK'] as const,
      }),
      description: 'What becomes of actions under a task that has been corrected since.',
      resolve: ({ protocol }) => protocol.staleIntent,
    }),
    startRules: t.field({
      type: [StartRuleRef],
      description: 'What makes a message the start of a task under it.',
      resolve: ({ protocol }) => protocol.startRules,
    }),
    definition: t.field({
      type: 'JSON',
      description: 'All of it as `registerProtocol` takes it, with its defaults filled in.',
      resolve: ({ protocol }) => protocol,
    }),
    source: t.string({
      nullable: true,
      description: 'The text that was registered; null for what is built in.',
      resolve: async ({ projectId, protocol: { id, version }, registered }, _args, { loaders }) =>
        registered && (await found(loaders.protocolSource.load({ projectId, id, version }))).source,
    }),
    format: t.field({
      type: FormatRef,
      nullable: true,
      description: 'What that text is written in.',
      resolve: ({ registered }) => registered?.format ?? null,
    }),
    registeredBy: t.field({
      type: PrincipalRef,
      nullable: true,
      description: 'Who registered it; null for what is built in.',
      resolve: ({ registered }, _args, { loaders }) =>
        registered && found(loaders.principal.load(registered.registeredBy)),
    }),
    registeredAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was registered.',
      resolve: ({ registered }) => registered?.at ?? null,
    }),
    builtIn: t.boolean({
      description: 'Whether every project has it.',
      resolve: ({ registered }) => registered === null,
    }),
    latest: t.exposeBoolean('latest', {
      description: 'Whether it is the newest version, the one that the id alone names.',
    }),
    allowed: t.exposeBoolean('allowed', { description: 'Whether the project lets it be used.' }),
  }),
})

builder.queryFields((t) => ({
  protocols: t.field({
    type: [ProtocolRef],
    description:
      'Every version of every protocol of a project: the built-in ones, then its own by id, the newest first. Capability: `protocol.read`.',
    args: { projectId: t.arg.id({ required: true, description: 'The project.' }) },
    resolve: (_root, args, context) => {
      const { id: projectId } = refOf('Project', args.projectId)
      permit(context, 'protocol.read', { projectId })
      return listProtocols(context.app.db, projectId)
    },
  }),
  protocolSchema: t.field({
    type: 'JSON',
    description: 'The JSON Schema of a definition, for whoever writes one.',
    resolve: (_root, _args, context) => {
      viewerOf(context)
      return definitionSchema
    },
  }),
}))

command('registerProtocol', {
  description:
    'Registers a version of a protocol, for good: a change is the next version. The same definition again is the same success; another one under its version, a version that does not follow the latest, and an id that is built in are CONFLICT.',
  input: {
    projectId: input.id('Project', 'The project.', true),
    definition: input.text(
      `The definition, as \`protocolSchema\` says. At most ${maxDefinitionBytes} bytes.`,
      { max: maxDefinitionBytes, trim: false },
      true,
    ),
    format: input.enum(FormatRef, 'What it is written in.', true),
    idempotencyKey: input.key(),
  },
  success: builder.objectRef<{ projectId: string; name: string }>('RegisterProtocolSuccess').implement({
    description: 'The version is registered.',
    fields: (t) => ({
      protocol: t.field({
        type: ProtocolRef,
        description: 'The version.',
        resolve: async ({ projectId, name }, _args, context) => {
          const all = await listProtocols(context.app.db, projectId)
          return found(all.find(({ protocol }) => nameOf(protocol) === name) ?? null)
        },
      }),
    }),
  }),
  permission: { capability: 'protocol.register', scope: ({ projectId }) => ({ projectId: projectId.id }) },
  run: (call, { projectId, definition, format }, { app }) =>
    registerProtocol(app, call, { projectId: projectId.id, definition, format }),
})
