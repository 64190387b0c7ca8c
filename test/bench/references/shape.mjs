// The part of the contract that the references serve: the same types, names and nesting.
export const eventShape = `
  scalar JSON
  scalar DateTime
  interface Node { id: ID! }
  enum SessionState { OPEN CLOSED }
  type Principal implements Node { id: ID! kind: String! name: String! }
  type SessionStateDetail { state: SessionState! generation: Int! title: String actor: Principal }
  union SessionEventDetail = SessionStateDetail
  type SessionEvent implements Node {
    id: ID! sequence: Int! runSequence: Int runId: ID type: String! payload: JSON! detail: SessionEventDetail at: DateTime!
  }
  type WatchEnd { reason: String! resumeAfter: Int! earliest: Int }
  union SessionWatchItem = SessionEvent | WatchEnd
  type EventPage { events: [SessionEvent!]! cursor: Int! hasMore: Boolean! latest: Int! }
  type Session implements Node {
    id: ID! title: String! state: SessionState! generation: Int! createdAt: DateTime! lastActivityAt: DateTime!
    eventCount: Int! events(after: Int = 0, first: Int = 100): EventPage!
  }
  type Query { session(id: ID!): Session }
  type Subscription { sessionEvents(sessionId: ID!): SessionWatchItem! }
`

/** What watchers select, in the product and in the reference. */
export const watchSelection = `subscription Watch($id: ID!) {
  sessionEvents(sessionId: $id) {
    __typename
    ... on SessionEvent { id sequence type payload at }
    ... on WatchEnd { reason resumeAfter }
  }
}`

/** A session, 20 of its events, and who caused each. */
export const nestedQuery = `query Nested($id: ID!) {
  session(id: $id) {
    id title state generation createdAt lastActivityAt eventCount
    events(after: 1, first: 20) {
      cursor hasMore
      events {
        id sequence type payload at
        detail { __typename ... on SessionStateDetail { state generation title actor { id kind name } } }
      }
    }
  }
}`
