import { graphql, ProblemFields, type ResultOf } from '../../data/graphql.ts'

const PhaseFields = graphql(`
  fragment PhaseFields on ProtocolPhase @_unmask {
    name allowedActions needsApproval final
    transitions { to on { action ok } when }
  }
`)
const ProtocolFields = graphql(
  `
    fragment ProtocolFields on ProtocolDefinition @_unmask {
      name protocolId version title initialPhase builtIn allowed latest
      governs handoffTo staleIntent extraction
      phases { ...PhaseFields }
      completion { requiredFacts requirements strict }
      startRules { id anyOf noneOf }
      registeredAt registeredBy { id name }
      definition
    }
  `,
  [PhaseFields],
)
export const ProtocolsQuery = graphql(
  `
    query Protocols($projectId: ID!) {
      protocols(projectId: $projectId) { ...ProtocolFields }
    }
  `,
  [ProtocolFields],
)
export const ProtocolSources = graphql(`
  query ProtocolSources($projectId: ID!) {
    protocols(projectId: $projectId) { name source format }
  }
`)
export const ProtocolSchema = graphql(`
  query ProtocolSchema {
    protocolSchema
  }
`)
/** What may change the list: a version is registered, or the project allows others. */
export const ProtocolChanges = graphql(`
  subscription ProtocolChanges($projectId: ID!) {
    projectEvents(projectId: $projectId, filter: { types: [PROTOCOL_REGISTERED, PROJECT_UPDATED] }) {
      __typename
      ... on ProjectEvent { id }
    }
  }
`)
/** The sessions whose task is under a version now. */
export const ProtocolUse = graphql(`
  query ProtocolUse($projectId: ID!, $protocol: String!, $after: String) {
    sessions(projectId: $projectId, filter: { protocol: $protocol }, first: 50, after: $after) {
      nodes { id title state lastActivityAt intent { id number text } }
      pageInfo { hasNextPage endCursor }
      totalCount
    }
  }
`)
export const RegisterProtocol = graphql(
  `
    mutation RegisterProtocol($input: RegisterProtocolInput!) {
      registerProtocol(input: $input) {
        __typename
        ... on RegisterProtocolSuccess { protocol { name protocolId version } }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields],
)
export type ProtocolRow = ResultOf<typeof ProtocolFields>
export type PhaseRow = ProtocolRow['phases'][number]
export type TransitionRow = PhaseRow['transitions'][number]
