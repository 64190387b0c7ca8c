import { builder, nodeKey, unspell } from '../../graphql/builder.ts'
import { connectionType, forwardArgs, pageCost } from '../../graphql/connection.ts'
import { permit, viewerOf } from '../../graphql/context.ts'
import { input, inputObject, parse } from '../../graphql/fields.ts'
import { found, refOf } from '../../graphql/found.ts'
import { connectionOf, isTimeKey, pageRequest } from '../../graphql/page.ts'
import type { Json } from '../../platform/journal.ts'
import { PrincipalRef } from '../access/principals/graphql.ts'
import { sessionsWith } from '../access/rules.ts'
import { type Relation, relations } from '../intents/rules.ts'
import { RunRef, runOf, visible } from '../runs/graphql.ts'
import type { RouteRow } from '../runs/operations.ts'
import { SessionRef } from '../sessions/graphql.ts'
import { listRoutes } from './operations.ts'

export const TaskRelation = builder.enumType('TaskRelation', {
  description:
    'How a message relates to the session’s task: it goes on with it, adds to it, is another task, or leaves it alone.',
  values: relations,
})
const RouteSource = builder.enumType('RouteSource', {
  description:
    'What decided a route: a segment that was restored, the caller’s choice, the task itself, a rule, a model, nothing, or an owner afterwards.',
  values: ['RESTORED', 'EXPLICIT', 'INHERITED', 'RULE', 'CLASSIFIER', 'DEFAULT', 'OWNER'] as const,
})

interface Confidences {
  target: number
  protocol: number
  relation: number
}
const RouteConfidences = builder.objectRef<Confidences>('RouteConfidences').implement({
  description:
    'How sure a model was of each part of its answer, 0 to 1. Protocol and relation count from 0.75 on.',
  fields: (t) => ({
    target: t.exposeFloat('target', { description: 'Of who takes the turn.' }),
    protocol: t.exposeFloat('protocol', { description: 'Of the protocol.' }),
    relation: t.exposeFloat('relation', { description: 'Of the relation to the task.' }),
  }),
})

const RouteCandidate = builder
  .objectRef<{ protocol: string; relation: Relation; priority: number; reason: string; chosen: boolean }>(
    'RouteCandidate',
  )
  .implement({
    description: 'A route that was considered.',
    fields: (t) => ({
      protocol: t.exposeString('protocol', { description: 'The protocol.' }),
      relation: t.expose('relation', {
        type: TaskRelation,
        description: 'How the message would relate to the task.',
      }),
      priority: t.exposeInt('priority', { description: 'The highest wins.' }),
      reason: t.exposeString('reason', { description: 'The code of the rule that proposed it.' }),
      chosen: t.exposeBoolean('chosen', { description: 'Whether it won.' }),
    }),
  })

export const RouteDecisionRef = builder.objectRef<RouteRow>('RouteDecision')
builder.node(RouteDecisionRef, {
  description: 'Where a message went and why, as recorded. Never changes; a correction is a new decision.',
  id: { resolve: (route) => nodeKey(route) },
  loadWithoutCache: (key, context) =>
    found(visible(context.loaders.route, unspell('RouteDecision', key), context)),
  fields: (t) => ({
    target: t.field({
      type: builder.enumType('RouteTarget', {
        description: 'Who takes a turn.',
        values: ['DIRECT', 'AGENT'] as const,
      }),
      description: 'Who takes the turn.',
      resolve: (route) => route.target as 'DIRECT' | 'AGENT',
    }),
    relation: t.field({
      type: TaskRelation,
      description: 'How the message relates to the task.',
      resolve: (route) => route.relation as Relation,
    }),
    protocol: t.exposeString('protocol', { description: 'The protocol, as `id@version`.' }),
    source: t.field({
      type: RouteSource,
      description: 'What decided it.',
      resolve: (route) => route.source as 'DEFAULT',
    }),
    reasons: t.exposeStringList('reasons', { description: 'Codes of the rules that decided.' }),
    warnings: t.exposeStringList('warnings', {
      description: 'Codes of what kept a better decision from being made.',
    }),
    confidence: t.exposeFloat('confidence', {
      nullable: true,
      description: '0 to 1, where a model decided.',
    }),
    candidates: t.field({
      type: [RouteCandidate],
      description: 'Every candidate considered.',
      resolve: (route) => route.candidates as never,
    }),
    run: t.field({
      type: RunRef,
      nullable: true,
      description: 'The run that it led to.',
      resolve: (route, _args, context) => runOf(route, context),
    }),
    confidences: t.field({
      type: RouteConfidences,
      nullable: true,
      description: 'The same in its parts, also where it was too low to count.',
      resolve: (route) => route.confidences as Confidences | null,
    }),
    classifierMilliseconds: t.exposeInt('classifierMs', {
      nullable: true,
      description: 'How long the model took, answer or not; null when none was asked.',
    }),
    classifierTokens: t.exposeInt('classifierTokens', {
      nullable: true,
      description: 'What the model’s answer cost, in tokens, where it said so.',
    }),
    evidence: t.field({
      type: 'JSON',
      description:
        'What was looked at: the task, what was said last (500 characters of each), and what a model answered. Untrusted.',
      resolve: (route) => route.evidence as Json,
    }),
    corrects: t.field({
      type: RouteDecisionRef,
      nullable: true,
      description: 'The decision that it corrects, where an owner made it.',
      resolve: ({ projectId, correctsId: id }, _args, { loaders }) =>
        id ? loaders.route.load({ projectId, id }) : null,
    }),
    decidedBy: t.field({
      type: PrincipalRef,
      nullable: true,
      description: 'The owner who made it.',
      resolve: (route, _args, { loaders }) => (route.byId ? loaders.principal.load(route.byId) : null),
    }),
    session: t.field({
      type: SessionRef,
      description: 'The session of the message.',
      resolve: (route, _args, { loaders }) =>
        found(loaders.session.load({ projectId: route.projectId, id: route.sessionId })),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
  }),
})

const RouteDecisionFilter = inputObject('RouteDecisionFilter', 'Which decisions. Fields are joined by AND.', {
  relations: input.list(input.enum(TaskRelation, '', true), TaskRelation, 'One of these relations.', [1, 4]),
  sources: input.list(input.enum(RouteSource, '', true), RouteSource, 'Decided by one of these.', [1, 7]),
  warnings: input.list(input.text('', { max: 64 }, true), 'String', 'With one of these warnings.', [1, 8]),
  protocol: input.text('Under this protocol, as `id` or `id@version`.', { max: 120 }),
  sessionId: input.id('Session', 'Of this session.'),
  after: input.date('Decided at or after.'),
  before: input.date('Decided before.'),
})
const RouteDecisionConnection = connectionType('RouteDecision', RouteDecisionRef)

builder.queryField('routeDecisions', (t) =>
  t.field({
    type: RouteDecisionConnection,
    description: 'Where messages of a project went, in the sessions that you can see; the newest first.',
    args: {
      projectId: t.arg.id({ required: true, description: 'The project.' }),
      filter: t.arg({ type: RouteDecisionFilter.ref as never, description: 'Which ones.' }),
      ...forwardArgs,
    },
    complexity: pageCost,
    resolve: async (_root, args, context) => {
      const project = refOf('Project', args.projectId)
      const visible = sessionsWith(viewerOf(context), 'session.read', project.id)
      if (visible !== 'all' && visible.length === 0)
        permit(context, 'session.read', { projectId: project.id })
      const request = pageRequest(args, isTimeKey)
      const { sessionId, ...filter } = args.filter ? parse(RouteDecisionFilter.schema, args.filter) : {}
      const rows = await listRoutes(
        context.app.db,
        project.id,
        visible,
        { ...filter, sessionId: sessionId?.id },
        request,
      )
      return connectionOf(rows, request, (row) => [row.at.toISOString(), row.id])
    },
  }),
)
