import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type EventWindow,
  grownEarlier,
  grownLater,
  hasEarlier,
  type JournalPage,
  MOST_FOLLOWED,
  MOST_HELD,
  noFilter,
  paused,
  resumed,
  windowAfter,
  windowBefore,
  withArrived,
} from '../../console/src/domains/sessions/event-window.ts'
import type { ApprovalView, SessionEvent } from '../../console/src/domains/sessions/session-event.ts'
import type { TimelineMode } from '../../console/src/domains/sessions/timeline-draft.ts'
import {
  appendEvents,
  buildTimeline,
  emptyTimeline,
  PREVIEW_CHARACTERS,
} from '../../console/src/domains/sessions/timeline-rows.ts'

type Detail = SessionEvent['detail']

function event(
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

const owner = { id: 'p1', name: 'Owner' }
const said = (text: string, authority: 'OWNER' | 'AGENT'): Detail => ({
  __typename: 'MessageDetail',
  message: { id: 'm', text, authority, at: '2026-03-02T00:00:00Z', author: owner, answers: null },
})
const text = (value: string): Detail => ({ __typename: 'TextDetail', text: value })
const tool = (ok: boolean | null, summary: string | null): Detail => ({
  __typename: 'ToolDetail',
  tool: 'run_sql',
  callId: 'c1',
  ok,
  summary,
})
const run = (runState: 'RUNNING' | 'COMPLETED' | 'OFFERED'): Detail => ({
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
const approval = (state: ApprovalView['state']): Detail => ({
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

const segment = (
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
const action = (
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
const routed = (number: number | null): Detail => ({
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
const revised = (number: number | null): Detail => ({
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
const handoff = (code: string | null): Detail => ({
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

const story = [
  event(1, 'MESSAGE', said('analyse', 'OWNER')),
  event(2, 'RUN_OFFERED', run('OFFERED')),
  event(3, 'RUN_STARTED', run('RUNNING')),
  event(4, 'TOOL_CALL', tool(null, null)),
  event(5, 'REASONING_DELTA', text('hm ')),
  event(6, 'TOOL_RESULT', tool(true, '4 rows')),
  event(7, 'APPROVAL_REQUESTED', approval('OPEN')),
  event(8, 'APPROVAL_ANSWERED', approval('ANSWERED')),
  event(9, 'ANSWER_DELTA', text('North ')),
  event(10, 'ANSWER_DELTA', text('fell'), 'run2'),
  event(11, 'ANSWER_DELTA', text('fell')),
  event(12, 'MESSAGE', said('North fell', 'AGENT')),
  event(13, 'RUN_COMPLETED', run('COMPLETED')),
  event(14, 'SESSION_CLOSED', null, null),
]

describe('the rows of a timeline', () => {
  test('compact: one row for what a person calls one thing', () => {
    const rows = buildTimeline('compact', story).rows
    expect(rows.map((row) => `${row.kind} ${row.sequence}–${row.lastSequence}`)).toEqual([
      'turn 1–1',
      'tool 4–6',
      'text 5–5',
      'gate 7–7',
      'text 9–12',
      'text 10–10',
      'run 13–13',
      'note 14–14',
    ])
    expect(rows[1]).toMatchObject({ ok: true, summary: '4 rows', took: 2_000 })
    expect(rows[4]).toMatchObject({ text: 'North fell', final: true })
    expect(rows[6]).toMatchObject({ state: 'COMPLETED', took: 10_000 })
  })

  test('compact: the segment and the checkpoint that come with a run have no row, others have', () => {
    const events = [
      event(1, 'SEGMENT_STARTED', segment('sources', null, 'ROUTE')),
      event(2, 'SEGMENT_ENDED', segment('sources', null, 'END')),
      { ...event(3, 'CHECKPOINT_CREATED', null, null), payload: { runId: 'run1' } },
      { ...event(4, 'CHECKPOINT_CREATED', null, null), payload: { runId: null } },
    ]
    const sequences = (mode: TimelineMode) => buildTimeline(mode, events).rows.map((row) => row.sequence)
    expect(sequences('compact')).toEqual([4])
    expect(sequences('full')).toEqual([1, 2, 3, 4])
  })

  const governed = [
    event(1, 'MESSAGE', said('compare', 'OWNER')),
    event(2, 'ROUTE_DECIDED', routed(1)),
    event(3, 'INTENT_REVISED', revised(1), null),
    event(4, 'INTENT_REBOUND', revised(1)),
    event(5, 'SEGMENT_STARTED', segment('sources', null, 'ROUTE')),
    event(6, 'ACTION_REQUESTED', action('a1', 'ALLOWED', null)),
    event(7, 'TOOL_CALL', tool(null, null)),
    event(8, 'TOOL_RESULT', tool(true, '4 rows')),
    event(9, 'ACTION_COMPLETED', action('a1', null, true)),
    event(10, 'SEGMENT_PHASE_CHANGED', segment('plan', 'sources', 'ACTION')),
    event(11, 'ACTION_REQUESTED', action('a2', 'DENIED', null, 'ACTION_NOT_ALLOWED_IN_PHASE')),
    event(12, 'INTENT_REVISED', revised(2), null),
    event(13, 'HANDOFF_PROPOSED', handoff(null)),
    event(14, 'SEGMENT_ENDED', segment('plan', null, 'HANDOFF')),
    event(15, 'SEGMENT_STARTED', segment('work', null, 'HANDOFF', 'general@1')),
    event(16, 'ANSWER_DELTA', text('done')),
    event(17, 'RUN_COMPLETED', run('COMPLETED')),
  ]

  test('compact: a turn carries its revision, an action is one row with its call, its result and the phase it led to', () => {
    const rows = buildTimeline('compact', governed).rows
    expect(rows.map((row) => `${row.kind} ${row.sequence}–${row.lastSequence}`)).toEqual([
      'turn 1–1',
      'tool 6–10',
      'tool 11–11',
      'intent 12–12',
      'note 15–15',
      'text 16–16',
      'run 17–17',
    ])
    expect(rows[0]).toMatchObject({ task: { number: 1 }, route: { source: 'RULE' } })
    expect(rows[1]).toMatchObject({ ok: true, summary: '4 rows', took: 2_000, entered: 'plan' })
    expect(rows[2]).toMatchObject({ asked: { decision: 'DENIED', code: 'ACTION_NOT_ALLOWED_IN_PHASE' } })
    expect(rows[3]).toMatchObject({ revision: { number: 2 } })
  })

  test('each row stands under the protocol and phase that its run was in then', () => {
    const rows = buildTimeline('compact', governed).rows
    const places = rows.map((row) => row.segment && `${row.segment.protocol} ${row.segment.phase}`)
    expect(places).toEqual([
      'data-analysis@1 sources',
      'data-analysis@1 sources',
      'data-analysis@1 plan',
      null,
      'general@1 work',
      'general@1 work',
      'general@1 work',
    ])
    expect(rows.map((row) => row.inBand)).toEqual([0, 1, 2, 0, 0, 1, 2])
    expect(rows.map((row) => row.newPhase)).toEqual([false, false, true, false, false, false, false])
  })

  test('a journal opened in the middle says of the rows before a change of phase where they were', () => {
    const rows = buildTimeline('compact', governed.slice(6)).rows
    expect(rows.map((row) => row.segment?.phase ?? null)).toEqual([
      'sources',
      'sources',
      'plan',
      null,
      'work',
      'work',
      'work',
    ])
  })

  test('full: each event has its row', () => {
    const rows = buildTimeline('full', story).rows
    expect(rows.map((row) => row.sequence)).toEqual(story.map((each) => each.sequence))
  })

  test('case 08: replaying an old request shows its answer and does not ask again', () => {
    for (const mode of ['compact', 'full'] as const) {
      const gate = buildTimeline(mode, story).rows.find((row) => row.kind === 'gate')
      expect(gate).toMatchObject({ approval: { state: 'ANSWERED', decision: 'allow' } })
    }
  })

  test('a band starts anew where another run comes between', () => {
    const rows = buildTimeline('compact', story).rows
    expect(rows.map((row) => row.inBand)).toEqual([0, 1, 2, 3, 4, 0, 0, 0])
  })

  test('a long text keeps its length but only a part of itself', () => {
    const deltas = Array.from({ length: 400 }, (_, n) => event(n + 1, 'ANSWER_DELTA', text('0123456789')))
    const [row] = buildTimeline('compact', deltas).rows
    expect(row).toMatchObject({ kind: 'text', length: 4_000, lastSequence: 400 })
    if (row?.kind === 'text') expect(row.text.length).toBeLessThanOrEqual(PREVIEW_CHARACTERS + 1)
  })

  test('events arriving in any portions give the rows of building them at once', () => {
    const makers: ((sequence: number, runId: string) => SessionEvent)[] = [
      (n, r) => event(n, 'MESSAGE', said('turn', 'OWNER'), r),
      (n, r) => event(n, 'MESSAGE', said('answer', 'AGENT'), r),
      (n, r) => event(n, 'TOOL_CALL', tool(null, null), r),
      (n, r) => event(n, 'TOOL_RESULT', tool(false, 'refused'), r),
      (n, r) => event(n, 'ANSWER_DELTA', text('a'), r),
      (n, r) => event(n, 'REASONING_DELTA', text('b'), r),
      (n, r) => event(n, 'RUN_STARTED', run('RUNNING'), r),
      (n, r) => event(n, 'RUN_COMPLETED', run('COMPLETED'), r),
      (n, r) => event(n, 'APPROVAL_REQUESTED', approval('OPEN'), r),
      (n, r) => event(n, 'APPROVAL_ANSWERED', approval('ANSWERED'), r),
      (n, r) => event(n, 'ROUTE_DECIDED', routed(1), r),
      (n) => event(n, 'INTENT_REVISED', revised(1), null),
      (n, r) => event(n, 'INTENT_REBOUND', revised(2), r),
      (n, r) => event(n, 'SEGMENT_STARTED', segment('sources', null, 'ROUTE'), r),
      (n, r) => event(n, 'SEGMENT_PHASE_CHANGED', segment('plan', 'sources', 'ACTION'), r),
      (n, r) => event(n, 'SEGMENT_ENDED', segment('plan', null, 'END'), r),
      (n, r) => event(n, 'ACTION_REQUESTED', action('a1', 'ALLOWED', null), r),
      (n, r) => event(n, 'ACTION_COMPLETED', action('a1', null, true), r),
      (n, r) => event(n, 'ACTION_REQUESTED', action('a2', 'DENIED', null, 'STOP'), r),
      (n, r) => event(n, 'HANDOFF_ACCEPTED', handoff(null), r),
    ]
    const journal = fc
      .array(fc.tuple(fc.constantFrom(...makers), fc.constantFrom('run1', 'run2')), { maxLength: 60 })
      .map((made) => made.map(([make, runId], index) => make(index + 1, runId)))
    fc.assert(
      fc.property(
        journal,
        fc.array(fc.integer({ min: 1, max: 7 })),
        fc.constantFrom<TimelineMode>('compact', 'full'),
        (events, cuts, mode) => {
          let model = emptyTimeline(mode)
          let from = 0
          for (const size of [...cuts, events.length]) {
            model = appendEvents(model, events.slice(from, from + size))
            from += size
          }
          expect(model.rows).toEqual(buildTimeline(mode, events).rows)
        },
      ),
      { numRuns: 200 },
    )
  })
})

const journal = (length: number) => Array.from({ length }, (_, n) => event(n + 1, 'INFO', text('x')))
const pageBefore = (all: readonly SessionEvent[], before: number | null, last: number): JournalPage => {
  const events = all.filter((each) => before === null || each.sequence < before).slice(-last)
  const cursor = events[0]?.sequence ?? 1
  return { events, cursor, hasMore: cursor > 1, latest: all.length, earliest: 1 }
}
const pageAfter = (all: readonly SessionEvent[], after: number, first: number): JournalPage => {
  const events = all.filter((each) => each.sequence > after).slice(0, first)
  const cursor = events.at(-1)?.sequence ?? after
  return { events, cursor, hasMore: cursor < all.length, latest: all.length, earliest: 1 }
}
const sequences = (window: EventWindow) => window.events.map((each) => each.sequence)
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)

describe('the stretch of a journal that is loaded', () => {
  const all = journal(1_000)

  test('opens at the end and grows towards the beginning', () => {
    let window = windowBefore(pageBefore(all, null, 100), null)
    expect(sequences(window)).toEqual(range(901, 1_000))
    expect(window.attached).toBe(true)
    for (let n = 0; n < 20 && hasEarlier(window); n++)
      window = grownEarlier(window, pageBefore(all, window.from, 100))
    expect(sequences(window)).toEqual(range(1, 1_000))
  })

  test('opens around an event and grows until it meets the live edge', () => {
    let window = windowAfter(pageAfter(all, 499, 100), 499)
    expect(window.attached).toBe(false)
    for (let n = 0; n < 20 && !window.attached; n++)
      window = grownLater(window, pageAfter(all, window.to, 100))
    expect(sequences(window)).toEqual(range(500, 1_000))
  })

  test('what arrives while detached is counted, not shown', () => {
    const window = windowAfter(pageAfter(all, 499, 100), 499)
    const later = withArrived(window, [event(1_001, 'INFO'), event(1_002, 'INFO')], noFilter, true)
    expect(later.unseen).toBe(2)
    expect(later.events).toBe(window.events)
  })

  test('a filter is honoured by what arrives too', () => {
    const window = windowBefore(pageBefore(all, null, 10), null)
    const filter = { types: ['MESSAGE' as const], runIds: [] }
    const next = withArrived(window, [event(1_001, 'INFO'), event(1_002, 'MESSAGE')], filter, false)
    expect(next.events.at(-1)?.sequence).toBe(1_002)
    expect(next.events).toHaveLength(11)
  })

  test('a pause holds what arrives and going on shows each of it once', () => {
    let window = paused(windowBefore(pageBefore(all, null, 100), null))
    for (let n = 1_001; n <= 1_050; n++) window = withArrived(window, [event(n, 'INFO')], noFilter, false)
    expect(window.unseen).toBe(50)
    expect(sequences(window)).toEqual(range(901, 1_000))
    expect(sequences(resumed(window))).toEqual(range(901, 1_050))
  })

  test('a long pause gives up holding; the rest is fetched by cursor', () => {
    let window = paused(windowBefore(pageBefore(all, null, 100), null))
    const more = journal(1_000 + MOST_HELD + 1).slice(1_000)
    for (const each of more) window = withArrived(window, [each], noFilter, false)
    expect(window.held).toEqual([])
    expect(window.attached).toBe(false)
    expect(resumed(window).events).toBe(window.events)
    expect(window.unseen).toBe(MOST_HELD + 1)
  })

  test('case 05: following for long keeps the memory bounded and the stretch whole', () => {
    let window = windowBefore(pageBefore(all, null, 100), null)
    const more = journal(1_000 + 3 * MOST_FOLLOWED).slice(1_000)
    for (let at = 0; at < more.length; at += 50)
      window = withArrived(window, more.slice(at, at + 50), noFilter, false)
    expect(window.events.length).toBeLessThanOrEqual(MOST_FOLLOWED)
    expect(sequences(window)).toEqual(range(window.from, window.latest))
    expect(hasEarlier(window)).toBe(true)
  })
})
