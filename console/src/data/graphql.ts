import { initGraphQLTada } from 'gql.tada'
import type { introspection } from '../generated/graphql-env.d.ts'

/** Typed GraphQL documents; the types come from `server/schema.graphql` (`pnpm --filter @wheelhouse/console generate`). */
export const graphql = initGraphQLTada<{
  introspection: introspection
  scalars: { DateTime: string; JSON: unknown }
}>()

export { type FragmentOf, type ResultOf, readFragment, type VariablesOf } from 'gql.tada'

/** What every refusal carries; spread it into each mutation's result: `... ProblemFields`. */
export const ProblemFields = graphql(`
  fragment ProblemFields on Problem @_unmask {
    code
    message
    retryable
    ... on InvalidInput { issues { path message } }
    ... on PermissionDenied { capability }
    ... on Conflict { current { __typename id } }
    ... on Refused { retryAfterMs policyIds open }
  }
`)
