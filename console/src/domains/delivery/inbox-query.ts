import { graphql, ProblemFields, type ResultOf } from '../../data/graphql.ts'
import { ApprovalFields } from '../sessions/session-event.ts'

export const InboxItemFields = graphql(
  `
  fragment InboxItemFields on InboxItem @_unmask {
    id
    kind
    state
    title
    why
    since
    ifIgnored
    deadline
    defaultDecision
    snoozedUntil
    handledAt
    version
    session { id title intent { id text protocol } }
    run {
      id
      number
      state
      effects
      failureCode
      failureMessage
      runtime { id name }
      route { id protocol }
    }
    approval { ...ApprovalFields }
    assignee { id name }
    handledBy { id name }
    allowedActions { action allowed reason }
  }
`,
  [ApprovalFields],
)
export type InboxItem = ResultOf<typeof InboxItemFields>

export const InboxQuery = graphql(
  `
  query Inbox($projectId: ID!, $kinds: [InboxKind!], $states: [InboxState!], $after: String) {
    inbox(projectId: $projectId, kinds: $kinds, states: $states, first: 100, after: $after) {
      nodes { ...InboxItemFields }
      pageInfo { hasNextPage endCursor }
      totalCount
    }
  }
`,
  [InboxItemFields],
)

export const WaitsQuery = graphql(`
  query Waits($projectId: ID!) {
    waits(projectId: $projectId) {
      waiter
      waitsFor
      since
      until
      reason
      waiterNode { __typename id ... on Run { number session { id title } runtime { id name } } }
      waitsForNode {
        __typename
        id
        ... on Approval { allowedActions { action allowed reason } }
        ... on Runtime { name }
      }
    }
  }
`)

export type Wait = ResultOf<typeof WaitsQuery>['waits'][number]

export const InboxChanged = graphql(`
  subscription InboxPageChanged($projectId: ID) {
    inboxChanged(projectId: $projectId) { projectId open }
  }
`)

export const UpdateInboxItem = graphql(
  `
  mutation UpdateInboxItem($input: UpdateInboxItemInput!) {
    updateInboxItem(input: $input) {
      __typename
      ... on UpdateInboxItemSuccess { item { ...InboxItemFields } }
      ...ProblemFields
    }
  }
`,
  [InboxItemFields, ProblemFields],
)

export const PeopleQuery = graphql(`
  query InboxPeople {
    principals(first: 100) { nodes { id kind name disabledAt } }
  }
`)
