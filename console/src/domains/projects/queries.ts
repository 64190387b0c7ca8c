import { graphql, ProblemFields } from '../../data/graphql.ts'

export const CreateProject = graphql(
  `
    mutation CreateProject($input: CreateProjectInput!) {
      createProject(input: $input) {
        __typename
        ... on CreateProjectSuccess { project { id slug name } }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields],
)

export const ProjectRuntimes = graphql(`
  query ProjectRuntimes($id: ID!) {
    project(id: $id) {
      id
      runtimes {
        id name kinds state lastSeenAt liveRuns maxConcurrentRuns
        tools { name action group }
        principal { id name }
      }
    }
  }
`)

export const RuntimeChanges = graphql(`
  subscription RuntimeChanges($projectId: ID!) {
    projectEvents(
      projectId: $projectId
      filter: { types: [RUNTIME_REGISTERED, RUNTIME_CONNECTED, RUNTIME_DISCONNECTED] }
    ) {
      __typename
      ... on ProjectEvent { id }
    }
  }
`)

export const CreateSampleSession = graphql(
  `
    mutation CreateSampleSession($input: CreateSessionInput!) {
      createSession(input: $input) {
        __typename
        ... on CreateSessionSuccess { session { id } }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields],
)

export const SubmitSampleTurn = graphql(
  `
    mutation SubmitSampleTurn($input: SubmitTurnInput!) {
      submitTurn(input: $input) {
        __typename
        ... on SubmitTurnSuccess { cursor run { id } }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields],
)

const SettingsFields = graphql(`
  fragment SettingsFields on Project @_unmask {
    id slug name version defaultModel defaultThinkingLevel
    allowedProtocols routeCorrection skillDeny skillAllow
    mcpAllow { server tools }
    allowedActions { action allowed reason }
  }
`)

export const ProjectSettings = graphql(
  `
    query ProjectSettings($id: ID!) {
      project(id: $id) {
        ...SettingsFields
        limits {
          maxConcurrentRuns maxLiveRunsPerSession maxOpenSessions eventRetentionDays maxEventBytes
          runTimeoutMs offerTimeoutMs runtimeGraceMs approvalTtlMs
        }
      }
    }
  `,
  [SettingsFields],
)

/** What can be allowed; `builtIn` ones are in every project. */
export const SettingsProtocols = graphql(`
  query SettingsProtocols($projectId: ID!) {
    protocols(projectId: $projectId) { name protocolId title latest builtIn }
  }
`)

export const UpdateProject = graphql(
  `
    mutation UpdateProject($input: UpdateProjectInput!) {
      updateProject(input: $input) {
        __typename
        ... on UpdateProjectSuccess { project { ...SettingsFields } }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields, SettingsFields],
)

export const UpdateProjectLimits = graphql(
  `
    mutation UpdateProjectLimits($input: UpdateProjectLimitsInput!) {
      updateProjectLimits(input: $input) {
        __typename
        ... on UpdateProjectLimitsSuccess {
          project {
            id version
            limits {
              maxConcurrentRuns maxLiveRunsPerSession maxOpenSessions eventRetentionDays maxEventBytes
              runTimeoutMs offerTimeoutMs runtimeGraceMs approvalTtlMs
            }
          }
        }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields],
)

/** What the guide follows: the run of the guided session and its asks. */
export const GuideProgress = graphql(`
  query GuideProgress($id: ID!) {
    session(id: $id) { id lastRun { id state } approvals { id state } }
  }
`)
export const GuideEvents = graphql(`
  subscription GuideEvents($sessionId: ID!) {
    sessionEvents(
      sessionId: $sessionId
      filter: {
        types: [
          RUN_STARTED, RUN_WAITING, RUN_RESUMED, RUN_COMPLETED, RUN_FAILED, RUN_CANCELLED, RUN_TIMED_OUT
          APPROVAL_REQUESTED, APPROVAL_ANSWERED, APPROVAL_EXPIRED, APPROVAL_WITHDRAWN
        ]
      }
    ) {
      __typename
      ... on SessionEvent { id }
    }
  }
`)
