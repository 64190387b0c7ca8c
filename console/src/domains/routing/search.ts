import * as z from 'zod/mini'

const word = z.catch(z.optional(z.string().check(z.minLength(1))), undefined)
const relations = ['CONTINUE', 'REFINE', 'REPLACE', 'SIDE_CHAT'] as const
const sources = ['RESTORED', 'EXPLICIT', 'INHERITED', 'RULE', 'CLASSIFIER', 'DEFAULT', 'OWNER'] as const
const warnings = [
  'CLASSIFIER_OFF',
  'CLASSIFIER_FAILED',
  'CLASSIFIER_TIMEOUT',
  'CLASSIFIER_INVALID',
  'CLASSIFIER_LOW_CONFIDENCE',
  'PROTOCOL_AMBIGUOUS',
] as const
export const routeChoices = { relations, sources, warnings }

/** The address of the routing page: its filters, each by itself or several of a kind, and the open decision. */
export const routingSearch = z.object({
  relations: z.catch(z.optional(z.array(z.enum(relations)).check(z.minLength(1))), undefined),
  sources: z.catch(z.optional(z.array(z.enum(sources)).check(z.minLength(1))), undefined),
  warnings: z.catch(z.optional(z.array(z.enum(warnings)).check(z.minLength(1))), undefined),
  protocol: word,
  session: word,
  /** ISO. */
  from: word,
  to: word,
  decision: word,
  saved: word,
})
export type RoutingSearch = z.infer<typeof routingSearch>

/** Everything that hides decisions. */
export const filterOf = (search: RoutingSearch) => ({
  relations: search.relations ?? null,
  sources: search.sources ?? null,
  warnings: search.warnings ?? null,
  protocol: search.protocol ?? null,
  sessionId: search.session ?? null,
  after: search.from ?? null,
  before: search.to ?? null,
})
export const unfiltered: RoutingSearch = {
  relations: undefined,
  sources: undefined,
  warnings: undefined,
  protocol: undefined,
  session: undefined,
  from: undefined,
  to: undefined,
}
