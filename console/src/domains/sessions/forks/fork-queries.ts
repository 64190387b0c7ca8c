import { graphql, ProblemFields, type ResultOf } from '../../../data/graphql.ts'

/** One session of a family, with the places that another one can start from, newest first. */
export const BranchFields = graphql(`
  fragment BranchFields on Session @_unmask {
    id title state createdAt runCount openApprovals
    intent { id number protocol }
    activeRun { id state }
    lastRun { id state completion }
    parent { id }
    forkedFrom {
      checkpoint { id number sequence }
      run { id number message { id sequence } }
      revision { id number }
    }
    checkpoints(first: 100) {
      nodes { id number label at sequence messageSequence run { id number } intent { id number } }
      pageInfo { hasNextPage }
    }
    forks(first: 100) {
      nodes { id }
      pageInfo { hasNextPage }
    }
  }
`)
export const BranchSession = graphql(
  `
    query BranchSession($id: ID!) {
      session(id: $id) { ...BranchFields }
    }
  `,
  [BranchFields],
)
export type BranchRow = ResultOf<typeof BranchFields>

/** What may change a family; `SESSION_FORKED` is told by the fork and names its parent. */
export const BranchChanges = graphql(`
  subscription BranchChanges($projectId: ID!) {
    projectEvents(
      projectId: $projectId
      filter: { types: [SESSION_FORKED, SESSION_DELETED, SESSION_RENAMED, SESSION_CLOSED, SESSION_OPENED, RUN_COMPLETED] }
    ) {
      __typename
      ... on ProjectEvent { id sessionId type payload }
    }
  }
`)

export const ForkSource = graphql(`
  query ForkSource($id: ID!) {
    session(id: $id) {
      id title messageCount
      intent { id number text protocol requirements { id text state } }
      messages(last: 1) { nodes { id sequence text author { id name } } }
      checkpoints(first: 100) {
        nodes { id number label at sequence messageSequence run { id number } intent { id number } }
        pageInfo { hasNextPage }
      }
      allowedActions { action allowed reason }
    }
  }
`)

/** The task and the last message at a checkpoint, as the fork will have them. */
export const CheckpointPlace = graphql(`
  query CheckpointPlace($id: ID!) {
    node(id: $id) {
      __typename
      ... on Checkpoint {
        id number label at messageSequence
        run { id number }
        intent { id number text protocol requirements { id text state } }
      }
    }
  }
`)
export const PlaceMessage = graphql(`
  query PlaceMessage($id: ID!, $sequence: Int!) {
    session(id: $id) {
      id
      event(sequence: $sequence) {
        id
        detail {
          __typename
          ... on MessageDetail { message { id text author { id name } } }
        }
      }
    }
  }
`)
/** The task that a run was routed on, and the message that a fork before it leaves out. */
export const RunPlace = graphql(`
  query RunPlace($id: ID!) {
    run(id: $id) {
      id number
      message { id text author { id name } }
      binding { number base { id number text protocol requirements { id text state } } }
    }
  }
`)

export const ForkSession = graphql(
  `
    mutation ForkSession($input: ForkSessionInput!) {
      forkSession(input: $input) {
        __typename
        ... on ForkSessionSuccess { session { id title } }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields],
)
export const CreateCheckpoint = graphql(
  `
    mutation CreateCheckpoint($input: CreateCheckpointInput!) {
      createCheckpoint(input: $input) {
        __typename
        ... on CreateCheckpointSuccess { checkpoint { id number } }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields],
)
