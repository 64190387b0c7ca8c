import { graphql, ProblemFields, type ResultOf } from '../../data/graphql.ts'

/** A revision of a task as the panel lists it. */
export const RevisionFields = graphql(`
  fragment RevisionFields on IntentRevision @_unmask {
    id
    number
    taskId
    text
    protocol
    changeKind
    note
    at
    author { id name }
    run { id number }
    requirements { id text state message { id sequence } }
  }
`)
export type RevisionView = ResultOf<typeof RevisionFields>

/** The revisions of a session, newest first, each with the one before it; and by what its requirements were met. */
export const TaskHistory = graphql(
  `
  query TaskHistory($id: ID!, $first: Int!) {
    session(id: $id) {
      id
      intentHistory(first: $first) {
        nodes { ...RevisionFields previous { ...RevisionFields } }
        pageInfo { hasNextPage }
      }
      requirementEvents: eventsBefore(last: 100, filter: { types: [REQUIREMENT_CHANGED] }) {
        events {
          id
          sequence
          detail {
            __typename
            ... on RequirementDetail {
              requirementId
              requirementState: state
              evidence: action { id number tool run { id number } }
            }
          }
        }
      }
    }
  }
`,
  [RevisionFields],
)
type HistoryPage = NonNullable<ResultOf<typeof TaskHistory>['session']>
export type HistoryRow = HistoryPage['intentHistory']['nodes'][number]
export type RequirementEvent = HistoryPage['requirementEvents']['events'][number]

export const TaskProtocols = graphql(`
  query TaskProtocols($projectId: ID!) {
    protocols(projectId: $projectId) { name protocolId title latest allowed }
  }
`)

export const CorrectIntent = graphql(
  `
  mutation CorrectIntent($input: CorrectIntentInput!) {
    correctIntent(input: $input) {
      __typename
      ... on CorrectIntentSuccess { session { id intent { ...RevisionFields } } reboundRuns { id binding { relation active { id number } } } }
      ...ProblemFields
    }
  }
`,
  [RevisionFields, ProblemFields],
)

export const RevertIntent = graphql(
  `
  mutation RevertIntent($input: RevertIntentInput!) {
    revertIntent(input: $input) {
      __typename
      ... on RevertIntentSuccess { session { id intent { ...RevisionFields } } reboundRuns { id binding { relation active { id number } } } }
      ...ProblemFields
    }
  }
`,
  [RevisionFields, ProblemFields],
)

export const HandoffProtocol = graphql(
  `
  mutation HandoffProtocol($input: HandoffProtocolInput!) {
    handoffProtocol(input: $input) {
      __typename
      ... on HandoffProtocolSuccess {
        session { id intent { ...RevisionFields } }
        run { id binding { relation active { id number } } segment { id protocol phase state revision } }
      }
      ...ProblemFields
    }
  }
`,
  [RevisionFields, ProblemFields],
)

export const RerouteRun = graphql(
  `
  mutation RerouteRun($input: RerouteRunInput!) {
    rerouteRun(input: $input) {
      __typename
      ... on RerouteRunSuccess {
        session { id intent { ...RevisionFields } }
        run { id route { id protocol relation source } binding { relation active { id number } } }
      }
      ...ProblemFields
    }
  }
`,
  [RevisionFields, ProblemFields],
)

export const RebindRun = graphql(
  `
  mutation RebindRun($input: RebindRunInput!) {
    rebindRun(input: $input) {
      __typename
      ... on RebindRunSuccess { run { id binding { relation active { id number } } } }
      ...ProblemFields
    }
  }
`,
  [ProblemFields],
)
