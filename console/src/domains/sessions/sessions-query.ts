import { graphql, type ResultOf } from '../../data/graphql.ts'

export const SessionRow = graphql(`
  fragment SessionRow on Session @_unmask {
    id
    title
    summary
    state
    generation
    model
    createdAt
    lastActivityAt
    messageCount
    eventCount
    openApprovals
    liveRuns
    usage { inputTokens outputTokens }
    intent { id number protocol text }
    activeRun { id number state route { id protocol } segment { id protocol phase } allowedActions { action allowed reason } }
    lastRun { id number state completion route { id protocol } }
    allowedActions { action allowed reason }
  }
`)
export type SessionRowView = ResultOf<typeof SessionRow>

export const SessionsQuery = graphql(
  `
  query Sessions($projectId: ID!, $filter: SessionFilter, $orderBy: SessionOrder, $after: String) {
    sessions(projectId: $projectId, filter: $filter, orderBy: $orderBy, first: 50, after: $after) {
      nodes { ...SessionRow }
      pageInfo { hasNextPage endCursor }
      totalCount
    }
  }
`,
  [SessionRow],
)

export const TranscriptSearch = graphql(`
  query TranscriptSearch($projectId: ID!, $text: String!, $after: String) {
    searchTranscripts(projectId: $projectId, text: $text, first: 50, after: $after) {
      nodes {
        rank
        snippet
        highlights { start end }
        message { id sequence authority at author { id name } }
        session { id title }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`)

export const SessionsCounts = graphql(`
  query SessionsCounts($projectId: ID!) {
    project(id: $projectId) {
      id
      counts { sessions openSessions liveRuns openApprovals }
      allowedActions { action allowed reason }
    }
  }
`)

export const SessionPeek = graphql(`
  query SessionPeek($id: ID!) {
    session(id: $id) {
      id
      messages(last: 6) { nodes { id authority text at author { id name } } }
    }
  }
`)

/** What makes the list stale: states, titles and counts; messages only move a row, which waits for a reading. */
export const SessionsChanged = graphql(`
  subscription SessionsChanged($projectId: ID!) {
    projectEvents(projectId: $projectId, filter: {
      types: [
        SESSION_CREATED SESSION_OPENED SESSION_CLOSED SESSION_RENAMED SESSION_DELETED
        RUN_OFFERED RUN_STARTED RUN_WAITING RUN_RESUMED RUN_COMPLETED RUN_FAILED RUN_CANCELLED RUN_TIMED_OUT
      ]
    }) {
      __typename
      ... on ProjectEvent { id cursor type sessionId }
      ... on ProjectWatchEnd { reason resumeAfter }
    }
  }
`)
