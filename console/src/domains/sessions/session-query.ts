import { useEffect, useRef } from 'react'
import { useQuery } from 'urql'
import { graphql, type ResultOf } from '../../data/graphql.ts'
import { onReconnected } from '../../data/live.ts'
import { watch } from '../../data/watch.ts'
import { RevisionFields } from '../intents/task-queries.ts'
import { ApprovalFields, type SessionEvent } from './session-event.ts'

/** A run as the transcript, the header and the details show it. */
export const RunFields = graphql(`
  fragment RunFields on Run @_unmask {
    id
    number
    state
    completion
    failureCode
    failureMessage
    effects
    endReason
    offeredAt
    startedAt
    endedAt
    deadlineAt
    runtime { id name state lastSeenAt }
    message { id sequence }
    route { id protocol relation source }
    binding { relation active { id number } }
    headAtEnd { id number }
    segment { id protocol phase state revision }
    allowedActions { action allowed reason }
  }
`)

const SessionPageQuery = graphql(
  `
  query SessionPage($id: ID!) {
    session(id: $id) {
      id
      title
      summary
      state
      generation
      model
      thinkingLevel
      createdAt
      lastActivityAt
      closedAt
      runCount
      messageCount
      eventCount
      openApprovals
      liveRuns
      usage { inputTokens outputTokens cachedTokens modelCalls toolCalls milliseconds }
      intent { ...RevisionFields }
      activeRun { ...RunFields toolPlan { entries { name action group source server exposed status reasons handoffTo } } }
      lastRun { ...RunFields toolPlan { entries { name action group source server exposed status reasons handoffTo } } }
      approvals(open: true) { ...ApprovalFields }
      allowedActions { action allowed reason }
    }
  }
`,
  [RunFields, ApprovalFields, RevisionFields],
)

export type SessionView = NonNullable<ResultOf<typeof SessionPageQuery>['session']>
export type RunView = ResultOf<typeof RunFields>

/** The session's own record; read again when an event says that it changed. */
export function useSession(id: string) {
  const [{ data, error, fetching }, execute] = useQuery({
    query: SessionPageQuery,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  const reread = useRef(() => {})
  reread.current = () => execute({ requestPolicy: 'network-only' })
  useEffect(() => onReconnected(() => reread.current()), [])
  return { session: data?.session ?? undefined, error, fetching, reread }
}

const SessionOpened = graphql(`
  subscription SessionOpened($projectId: ID!, $sessionId: ID!) {
    projectEvents(projectId: $projectId, filter: { types: [SESSION_OPENED SESSION_DELETED], sessionIds: [$sessionId] }) {
      __typename
      ... on ProjectEvent { id cursor type }
    }
  }
`)

/** A closed session's own watch has ended: that somebody opens it again is told by the project's. */
export function useReopened(
  session: SessionView | undefined,
  projectId: string,
  reread: { current: () => void },
): void {
  const closed = session?.state === 'CLOSED' ? session.id : undefined
  useEffect(() => {
    if (closed === undefined) return
    return watch(SessionOpened, () => ({ projectId, sessionId: closed }), {
      next: () => reread.current(),
    })
  }, [closed, projectId, reread])
}

const streamed: ReadonlySet<SessionEvent['type']> = new Set([
  'ANSWER_DELTA',
  'REASONING_DELTA',
  'INFO',
  'TOOL_CALL',
  'TOOL_RESULT',
])

/** Whether events change the record behind the header, the details or what is allowed. */
export function changesRecord(events: readonly SessionEvent[]): boolean {
  return events.some((event) => !streamed.has(event.type))
}

/** At most one call per so many milliseconds, the last one never lost. */
export function throttled(run: () => void, everyMs: number): { call: () => void; cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let again = false
  const fire = () => {
    if (!again) {
      timer = undefined
      return
    }
    again = false
    timer = setTimeout(fire, everyMs)
    run()
  }
  return {
    call: () => {
      again = true
      timer ??= setTimeout(fire, 0)
    },
    cancel: () => {
      clearTimeout(timer)
      timer = undefined
      again = false
    },
  }
}
