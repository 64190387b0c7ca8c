import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SessionEvent } from '../../console/src/domains/sessions/session-event.ts'
import type { TimelineMode } from '../../console/src/domains/sessions/timeline-draft.ts'
import {
  appendEvents,
  buildTimeline,
  emptyTimeline,
  PREVIEW_CHARACTERS,
} from '../../console/src/domains/sessions/timeline-rows.ts'
import {
  action,
  approval,
  event,
  handoff,
  revised,
  routed,
  run,
  said,
  segment,
  text,
  tool,
} from '../kit/console-events.ts'

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

  test('an answer is one row, also where something was noted while it was streamed', () => {
    const events = [
      event(1, 'ANSWER_DELTA', text('North ')),
      event(2, 'REQUIREMENT_CHANGED', {
        __typename: 'RequirementDetail',
        requirementId: 'q1',
        requirementState: 'MET',
        evidence: null,
        actor: null,
      }),
      event(3, 'ANSWER_DELTA', text('fell')),
      event(4, 'MESSAGE', said('North fell', 'AGENT')),
      event(5, 'ANSWER_DELTA', text('More')),
    ]
    const rows = buildTimeline('compact', events).rows
    expect(rows.map((row) => `${row.kind} ${row.sequence}–${row.lastSequence}`)).toEqual([
      'text 1–4',
      'note 2–2',
      'text 5–5',
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
