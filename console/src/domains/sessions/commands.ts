import { graphql, ProblemFields } from '../../data/graphql.ts'

export const OpenSession = graphql(
  `
  mutation OpenSession($input: OpenSessionInput!) {
    openSession(input: $input) {
      __typename
      ... on OpenSessionSuccess { session { id state generation } }
      ...ProblemFields
    }
  }
`,
  [ProblemFields],
)

export const CloseSession = graphql(
  `
  mutation CloseSession($input: CloseSessionInput!) {
    closeSession(input: $input) {
      __typename
      ... on CloseSessionSuccess { session { id state generation } cancelledRuns { id state } }
      ...ProblemFields
    }
  }
`,
  [ProblemFields],
)

export const RenameSession = graphql(
  `
  mutation RenameSession($input: RenameSessionInput!) {
    renameSession(input: $input) {
      __typename
      ... on RenameSessionSuccess { session { id title } }
      ...ProblemFields
    }
  }
`,
  [ProblemFields],
)

export const DeleteSession = graphql(
  `
  mutation DeleteSession($input: DeleteSessionInput!) {
    deleteSession(input: $input) {
      __typename
      ... on DeleteSessionSuccess { deletedId retainedHistory purgeFailures }
      ...ProblemFields
    }
  }
`,
  [ProblemFields],
)

export const CancelRun = graphql(
  `
  mutation CancelRun($input: CancelRunInput!) {
    cancelRun(input: $input) {
      __typename
      ... on CancelRunSuccess { run { id state endReason } }
      ...ProblemFields
    }
  }
`,
  [ProblemFields],
)

export const UpdateSettings = graphql(
  `
  mutation UpdateSessionSettings($input: UpdateSessionSettingsInput!) {
    updateSessionSettings(input: $input) {
      __typename
      ... on UpdateSessionSettingsSuccess { session { id model thinkingLevel } }
      ...ProblemFields
    }
  }
`,
  [ProblemFields],
)

export const CreateSession = graphql(
  `
  mutation CreateSession($input: CreateSessionInput!) {
    createSession(input: $input) {
      __typename
      ... on CreateSessionSuccess { session { id title } }
      ...ProblemFields
    }
  }
`,
  [ProblemFields],
)
