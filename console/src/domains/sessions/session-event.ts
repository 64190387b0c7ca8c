import type { ResultOf } from 'gql.tada'
import { graphql } from '../../data/graphql.ts'

/** An approval as every place that can answer it needs it. */
export const ApprovalFields = graphql(`
  fragment ApprovalFields on Approval @_unmask {
    id
    kind
    title
    payload
    options
    defaultDecision
    state
    decision
    note
    createdAt
    expiresAt
    decidedAt
    decidedBy { id name }
    run { id number state }
    allowedActions { action allowed reason }
  }
`)

/** One event of the journal as the timeline, the event panel and the transcript read it. */
export const SessionEventFields = graphql(
  `
  fragment SessionEventFields on SessionEvent @_unmask {
    __typename
    id
    sequence
    runSequence
    runId
    run { id number }
    type
    payload
    at
    detail {
      __typename
      ... on SessionStateDetail { sessionState: state generation title actor { id name } }
      ... on MessageDetail { message { id text authority at author { id name } answers { id } } }
      ... on RouteDetail {
        route { id target relation protocol source reasons warnings confidence classifierMilliseconds }
        task { id number }
      }
      ... on RunStateDetail {
        runState: state
        failureCode
        failureMessage
        completion
        effects
        reason
        runtime { id name }
        actor { id name }
      }
      ... on ApprovalDetail { decision approval { ...ApprovalFields } }
      ... on SteerDetail { text actor { id name } }
      ... on ToolDetail { tool callId ok summary }
      ... on IntentDetail {
        revision { id number changeKind protocol text note }
        relation
        bindReason: reason
        actor { id name }
      }
      ... on RequirementDetail {
        requirementId
        requirementState: state
        evidence: action { id number tool }
        actor { id name }
      }
      ... on SegmentDetail { protocol phase leftPhase: from cause }
      ... on ActionDetail {
        actionId
        actTool: tool
        act: action
        verdict: decision
        code
        underProtocol: protocol
        inPhase: phase
        ok
      }
      ... on HandoffDetail { from to reason code openGoals openGoalCount claimedGoals actor { id name } }
      ... on TextDetail { text }
      ... on UsageDetail {
        usage { inputTokens outputTokens cachedTokens modelCalls toolCalls milliseconds }
      }
    }
  }
`,
  [ApprovalFields],
)

export type SessionEvent = ResultOf<typeof SessionEventFields>
export type SessionEventType = SessionEvent['type']
export type ApprovalView = ResultOf<typeof ApprovalFields>
export type RunState = ApprovalView['run']['state']
