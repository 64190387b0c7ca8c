import { graphql, type ResultOf } from '../../data/graphql.ts'
import { behindHead } from './session-place.ts'
import { RunFields } from './session-query.ts'
import type { TranscriptMessage, TranscriptRun } from './transcript.ts'

export const MessagesQuery = graphql(
  `
  query SessionMessages($id: ID!, $last: Int!, $before: String) {
    session(id: $id) {
      id
      messages(last: $last, before: $before) {
        totalCount
        pageInfo { startCursor hasPreviousPage }
        nodes {
          id
          sequence
          text
          at
          authority
          author { id name }
          run { ...RunFields approvals { id title state } }
        }
      }
    }
  }
`,
  [RunFields],
)

type Page = NonNullable<ResultOf<typeof MessagesQuery>['session']>['messages']
type Node = Page['nodes'][number]
export type MessageAuthority = Node['authority']

export function messageOf(node: Node): TranscriptMessage {
  const { id, sequence, text, at, authority, author } = node
  return { id, sequence, text, at, authority, author, runId: node.run?.id ?? null }
}

export function runsOf(nodes: readonly Node[]): TranscriptRun[] {
  return nodes.flatMap(({ run }) => (run === null ? [] : [runOf(run, run.approvals)]))
}

export function runOf(
  run: Omit<NonNullable<Node['run']>, 'approvals'>,
  approvals: readonly { id: string; title: string; state: string }[],
): TranscriptRun {
  const { id, number, state, completion, failureCode, failureMessage, effects, endReason, runtime } = run
  const asks = approvals.filter((each) => each.state === 'OPEN').map(({ id, title }) => ({ id, title }))
  const at = run.endedAt ?? run.startedAt ?? run.offeredAt
  const runtimeName = runtime?.name ?? null
  return {
    id,
    number,
    state,
    completion,
    failureCode,
    failureMessage,
    effects,
    endReason,
    route: run.route,
    behind: run.endedAt === null ? null : behindHead(run, null),
    runtimeName,
    at,
    asks,
  }
}
