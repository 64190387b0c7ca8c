import type { ApprovalView, SessionEvent } from '../../console/src/domains/sessions/session-event.ts'

/** Events as the console reads them from the journal, one a second, of the run named `run<number>`. */
type Detail = SessionEvent['detail']

export function event(
  sequence: number,
  type: SessionEvent['type'],
  detail: Detail = null,
  runId: string | null = 'run1',
): SessionEvent {
  return {
    __typename: 'SessionEvent',
    id: `event${sequence}`,
    sequence,
    runSequence: null,
    runId,
    run: runId === null ? null : { id: runId, number: Number(runId.slice(3)) },
    type,
    payload: {},
    at: new Date(Date.UTC(2026, 2, 2) + sequence * 1_000).toISOString(),
    detail,
  }
}

export const owner = { id: 'p1', name: 'Owner' }
export const said = (text: string, authority: 'OWNER' | 'AGENT'): Detail => ({
  __typename: 'MessageDetail',
  message: { id: 'm', text, authority, at: '2026-03-02T00:00:00Z', author: owner, answers: null },
})
export const text = (value: string): Detail => ({ __typename: 'TextDetail', text: value })
export const tool = (ok: boolean | null, summary: string | null): Detail => ({
  __typename: 'ToolDetail',
  tool: 'run_sql',
  callId: 'c1',
  ok,
  summary,
})
export const run = (runState: 'RUNNING' | 'COMPLETED' | 'OFFERED'): Detail => ({
  __typename: 'RunStateDetail',
  runState,
  failureCode: null,
  failureMessage: null,
  completion: null,
  effects: null,
  reason: null,
  runtime: null,
  actor: null,
})
export const approval = (state: ApprovalView['state']): Detail => ({
  __typename: 'ApprovalDetail',
  decision: state === 'ANSWERED' ? 'allow' : null,
  approval: {
    id: 'a1',
    kind: 'TOOL',
    title: 'Scan 14 GB',
    payload: {},
    options: ['allow', 'deny'],
    defaultDecision: 'deny',
    state,
    decision: state === 'ANSWERED' ? 'allow' : null,
    note: null,
    createdAt: '2026-03-02T00:00:00Z',
    expiresAt: '2026-03-03T00:00:00Z',
    decidedAt: null,
    decidedBy: null,
    run: { id: 'run1', number: 1, state: 'WAITING_APPROVAL' },
    allowedActions: [],
  },
})

export const segment = (
  phase: string,
  from: string | null,
  cause: string,
  protocol = 'data-analysis@1',
): Detail => ({
  __typename: 'SegmentDetail',
  protocol,
  phase,
  leftPhase: from,
  cause,
})
export const action = (
  actionId: string,
  decision: 'ALLOWED' | 'DENIED' | 'NEEDS_APPROVAL' | null,
  ok: boolean | null,
  code: string | null = null,
): Detail => ({
  __typename: 'ActionDetail',
  actionId,
  actTool: 'run_sql',
  act: 'query_execute',
  verdict: decision,
  code,
  underProtocol: 'data-analysis@1',
  inPhase: 'sources',
  ok,
})
export const routed = (number: number | null): Detail => ({
  __typename: 'RouteDetail',
  route: {
    id: 'route1',
    target: 'AGENT',
    relation: 'REPLACE',
    protocol: 'data-analysis@1',
    source: 'RULE',
    reasons: [],
    warnings: [],
    confidence: null,
    classifierMilliseconds: null,
  },
  task: number === null ? null : { id: `revision${number}`, number },
})
export const revised = (number: number | null): Detail => ({
  __typename: 'IntentDetail',
  revision:
    number === null
      ? null
      : {
          id: `revision${number}`,
          number,
          changeKind: 'CORRECTION',
          protocol: 'data-analysis@1',
          text: 'compare',
          note: null,
        },
  relation: null,
  bindReason: null,
  actor: owner,
})
export const handoff = (code: string | null): Detail => ({
  __typename: 'HandoffDetail',
  from: 'data-analysis@1',
  to: 'general@1',
  reason: 'no data is needed',
  code,
  openGoals: [],
  openGoalCount: 0,
  claimedGoals: [],
  actor: null,
})
