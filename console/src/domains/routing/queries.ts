import { graphql, type ResultOf } from '../../data/graphql.ts'

const RouteFields = graphql(`
  fragment RouteFields on RouteDecision @_unmask {
    id at target relation protocol source reasons warnings confidence
    confidences { target protocol relation }
    candidates { protocol relation priority reason chosen }
    classifierMilliseconds classifierTokens
    evidence
    run { id number message { id text sequence } }
    session { id title }
    decidedBy { id name }
    corrects { id relation protocol }
  }
`)
export const RouteDecisions = graphql(
  `
    query RouteDecisions($projectId: ID!, $filter: RouteDecisionFilter, $after: String) {
      routeDecisions(projectId: $projectId, filter: $filter, first: 50, after: $after) {
        nodes { ...RouteFields }
        pageInfo { hasNextPage endCursor }
      }
    }
  `,
  [RouteFields],
)
/** A decision by its id, for an address that names one which is not on a page yet. */
export const RouteDecisionById = graphql(
  `
    query RouteDecisionById($id: ID!) {
      node(id: $id) { __typename ...RouteFields }
    }
  `,
  [RouteFields],
)
/** Each turn is routed: a run that is offered is a decision that was made. */
export const RoutedTurns = graphql(`
  subscription RoutedTurns($projectId: ID!) {
    projectEvents(projectId: $projectId, filter: { types: [RUN_OFFERED] }) {
      __typename
      ... on ProjectEvent { id }
    }
  }
`)
/** What a filter can be about. */
export const RoutedUnder = graphql(`
  query RoutedUnder($projectId: ID!) {
    protocols(projectId: $projectId) { name protocolId latest title }
  }
`)
export const SessionTitle = graphql(`
  query SessionTitle($id: ID!) {
    session(id: $id) { id title }
  }
`)
export type RouteRow = ResultOf<typeof RouteFields>
