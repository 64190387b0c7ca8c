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
/** Of the list; the whole of a version is much more. */
const ProtocolListFields = graphql(`
  fragment ProtocolListFields on ProtocolDefinition @_unmask {
    name protocolId version title builtIn allowed latest governs
    phases { name }
    registeredAt registeredBy { id name }
  }
`)
export const ProtocolListQuery = graphql(
  `
    query ProtocolList($projectId: ID!) {
      protocols(projectId: $projectId) { ...ProtocolListFields }
    }
  `,
  [ProtocolListFields],
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
      nodes { id title lastActivityAt intent { id text protocol } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
/** Whether anything is under a protocol at all, whatever its version, and how much up to a score. */
export const ProtocolUseCount = graphql(`
  query ProtocolUseCount($projectId: ID!, $protocol: String!) {
    sessions(projectId: $projectId, filter: { protocol: $protocol }, first: 20) {
      nodes { id }
      pageInfo { hasNextPage }
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
export type ProtocolSummary = ResultOf<typeof ProtocolListFields>
export type PhaseRow = ProtocolRow['phases'][number]
export type TransitionRow = PhaseRow['transitions'][number]
