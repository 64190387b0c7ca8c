import { builder, nodeKey, unspell } from '../../graphql/builder.ts'
import { found } from '../../graphql/found.ts'
import { RunRef, runOf, visible } from '../runs/graphql.ts'
import type { RouteRow } from '../runs/operations.ts'

export const TaskRelation = builder.enumType('TaskRelation', {
  description: 'How a message relates to the session’s task.',
  values: ['CONTINUE', 'REFINE', 'REPLACE', 'SIDE_CHAT'] as const,
})
export type Relation = 'CONTINUE' | 'REFINE' | 'REPLACE' | 'SIDE_CHAT'

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
      type: builder.enumType('RouteSource', {
        description: 'What decided a route.',
        values: ['RESTORED', 'EXPLICIT', 'INHERITED', 'RULE', 'CLASSIFIER', 'DEFAULT', 'OWNER'] as const,
      }),
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
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
  }),
})
