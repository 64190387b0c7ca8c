import {
  type ApprovalState,
  type ApprovalVerb,
  type Ask,
  admitTurn,
  answerOf,
  checkRuntimeEvent,
  completeAsk,
  decideApproval,
  decideRun,
  effectsAtEnd,
  maxAnswerCharacters,
  maxApprovalMs,
  type RunState,
  type RunVerb,
  readUsage,
  runtimeEventTypes,
} from '@wheelhouse/server/domains/runs/rules'
import { sessionEventTypes } from '@wheelhouse/server/platform/journal'
import { Refusal, type RefusalCode } from '@wheelhouse/server/platform/refusal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const codeOf = <T>(result: T | Refusal) => (result instanceof Refusal ? result.code : result)

describe('a run', () => {
  const no = 'CONFLICT'
  const ended: Record<RunVerb, 'CONFLICT'> = {
    start: no,
    write: no,
    ask: no,
    resume: no,
    complete: no,
    fail: no,
    cancel: no,
    steer: no,
    expireOffer: no,
    timeOut: no,
    loseRuntime: no,
  }
  const table: Record<RunState, Record<RunVerb, RunState | 'CONFLICT'>> = {
    OFFERED: {
      start: 'RUNNING',
      write: no,
      ask: no,
      resume: no,
      complete: no,
      fail: no,
      cancel: 'CANCELLED',
      steer: 'OFFERED',
      expireOffer: 'FAILED',
      timeOut: no,
      loseRuntime: no,
    },
    RUNNING: {
      start: 'RUNNING',
      write: 'RUNNING',
      ask: 'WAITING_APPROVAL',
      resume: no,
      complete: 'COMPLETED',
      fail: 'FAILED',
      cancel: 'CANCELLED',
      steer: 'RUNNING',
      expireOffer: no,
      timeOut: 'TIMED_OUT',
      loseRuntime: 'FAILED',
    },
    WAITING_APPROVAL: {
      start: 'WAITING_APPROVAL',
      write: 'WAITING_APPROVAL',
      ask: 'WAITING_APPROVAL',
      resume: 'RUNNING',
      complete: no,
      fail: 'FAILED',
      cancel: 'CANCELLED',
      steer: 'WAITING_APPROVAL',
      expireOffer: no,
      timeOut: no,
      loseRuntime: no,
    },
    COMPLETED: ended,
    FAILED: ended,
    CANCELLED: ended,
    TIMED_OUT: ended,
  }
  const cells = Object.entries(table).flatMap(([state, verbs]) =>
    Object.entries(verbs).map(([verb, outcome]) => [state as RunState, verb as RunVerb, outcome] as const),
  )
  test.each(cells)('that is %s: %s gives %s', (state, verb, outcome) => {
    expect(codeOf(decideRun(state, verb))).toBe(outcome)
  })

  test.each([
    [{ calls: 0, allowed: 0, results: 0 }, 'NONE'],
    [{ calls: 0, allowed: 0, results: 3 }, 'NONE'],
    [{ calls: 2, allowed: 0, results: 2 }, 'KNOWN'],
    [{ calls: 2, allowed: 0, results: 1 }, 'UNKNOWN'],
    [{ calls: 0, allowed: 1, results: 0 }, 'UNKNOWN'],
    [{ calls: 1, allowed: 1, results: 1 }, 'KNOWN'],
    [{ calls: 1, allowed: 2, results: 1 }, 'UNKNOWN'],
  ] as const)('that did %o ends with effects %s', (counts, effects) => {
    expect(effectsAtEnd(counts)).toBe(effects)
  })
})

describe('an ask', () => {
  const table: Record<
    ApprovalState,
    Record<ApprovalVerb, [inTime: ApprovalState | RefusalCode, late: ApprovalState | RefusalCode]>
  > = {
    OPEN: {
      answer: ['ANSWERED', 'CONFLICT'],
      expire: ['CONFLICT', 'EXPIRED'],
      withdraw: ['WITHDRAWN', 'WITHDRAWN'],
    },
    ANSWERED: {
      answer: ['CONFLICT', 'CONFLICT'],
      expire: ['CONFLICT', 'CONFLICT'],
      withdraw: ['CONFLICT', 'CONFLICT'],
    },
    EXPIRED: {
      answer: ['CONFLICT', 'CONFLICT'],
      expire: ['CONFLICT', 'CONFLICT'],
      withdraw: ['CONFLICT', 'CONFLICT'],
    },
    WITHDRAWN: {
      answer: ['CONFLICT', 'CONFLICT'],
      expire: ['CONFLICT', 'CONFLICT'],
      withdraw: ['CONFLICT', 'CONFLICT'],
    },
  }
  const deadline = new Date(1_000_000)
  const moments = [new Date(999_999), deadline]
  const cells = Object.entries(table).flatMap(([state, verbs]) =>
    Object.entries(verbs).flatMap(([verb, outcomes]) =>
      outcomes.map((outcome, late) => ({
        state: state as ApprovalState,
        verb: verb as ApprovalVerb,
        late,
        outcome,
      })),
    ),
  )
  test.each(cells)('that is $state, late $late: $verb gives $outcome', ({ state, verb, late, outcome }) => {
    const decision = state === 'ANSWERED' || state === 'EXPIRED' ? 'allow' : null
    const facts = { state, decision, expiresAt: deadline, defaultDecision: 'deny' }
    const result = decideApproval(facts, verb, moments[late] as Date)
    expect(codeOf(result)).toBe(outcome)
    if (decision && result instanceof Refusal) expect(result.message).toContain(decision)
  })

  const now = new Date(1_000)
  const ask = (more: Partial<Ask>) => completeAsk({ kind: 'QUESTION', ...more }, now, 500)
  test.each([
    ['a TOOL with nothing more', { kind: 'TOOL' }, 'deny'],
    ['a PLAN that is allowed by default', { kind: 'PLAN', defaultDecision: 'allow' }, 'allow'],
    ['a TOOL that names both options', { kind: 'TOOL', options: ['deny', 'allow'] }, 'deny'],
    ['a TOOL with an option of its own', { kind: 'TOOL', options: ['allow', 'never'] }, 'options'],
    ['a TOOL with one option', { kind: 'TOOL', options: ['allow'] }, 'options'],
    ['a QUESTION with one option', { options: ['a'], defaultDecision: 'a' }, 'a'],
    ['a QUESTION with eight', { options: [...'abcdefgh'], defaultDecision: 'h' }, 'h'],
    ['a QUESTION with nine', { options: [...'abcdefghi'], defaultDecision: 'a' }, 'options'],
    ['a QUESTION with none', { defaultDecision: 'a' }, 'options'],
    ['a QUESTION that names an option twice', { options: ['a', 'a'], defaultDecision: 'a' }, 'options'],
    ['a QUESTION without a default', { options: ['a'] }, 'defaultDecision'],
    ['a default that is no option', { options: ['a'], defaultDecision: 'b' }, 'defaultDecision'],
    ['a HANDOFF', { kind: 'HANDOFF' }, 'kind'],
    ['a deadline that is now', { kind: 'TOOL', expiresAt: now }, 'expiresAt'],
    ['a deadline in 30 days', { kind: 'TOOL', expiresAt: new Date(1_000 + maxApprovalMs) }, 'deny'],
    ['a deadline beyond', { kind: 'TOOL', expiresAt: new Date(1_001 + maxApprovalMs) }, 'expiresAt'],
  ] as [string, Partial<Ask>, string][])('%s: %o gives %s', (_what, more, outcome) => {
    const result = ask(more)
    expect(result instanceof Refusal ? result.detail.issues?.[0]?.path[0] : result.defaultDecision).toBe(
      outcome,
    )
  })

  test('without a deadline of its own gets the project’s', () => {
    expect(ask({ kind: 'TOOL' })).toMatchObject({ expiresAt: new Date(1_500) })
  })
})

describe('a turn', () => {
  const free = {
    liveRunsOfSession: 0,
    maxLiveRunsPerSession: 1,
    liveRunsOfProject: 0,
    maxConcurrentRuns: 1,
  }
  test.each([
    [{}, undefined],
    [{ liveRunsOfSession: 1 }, 'SESSION_BUSY'],
    [{ liveRunsOfSession: 1, maxLiveRunsPerSession: 2, maxConcurrentRuns: 2 }, undefined],
    [{ liveRunsOfProject: 1 }, 'CAPACITY'],
    [{ liveRunsOfProject: 3 }, 'CAPACITY'],
    [{ liveRunsOfSession: 1, liveRunsOfProject: 1 }, 'SESSION_BUSY'],
  ])('with %o is refused with %s', (facts, code) => {
    const refusal = admitTurn({ ...free, ...facts })
    expect(refusal?.code).toBe(code)
    if (refusal) expect(refusal.detail.retryAfterMs).toBeGreaterThan(0)
  })
})

test('a runtime writes the five types of events that are its own, and no other', () => {
  for (const type of [...sessionEventTypes, 'NO_SUCH_TYPE', '']) {
    const refusal = checkRuntimeEvent(type, { text: 'x' }, 0)
    const own = (runtimeEventTypes as readonly string[]).includes(type)
    expect([type, refusal?.code]).toEqual([type, own ? undefined : 'INVALID_INPUT'])
  }
})

test.each([
  [undefined, null, { text: null, streamed: false }],
  ['', null, { text: null, streamed: false }],
  ['all', null, { text: 'all', streamed: false }],
  [undefined, { characters: 3, text: 'all' }, { text: 'all', streamed: true }],
  ['all', { characters: 3, text: 'all' }, { text: 'all', streamed: true }],
  ['', { characters: 0, text: '' }, { text: null, streamed: true }],
  ['other', { characters: 3, text: 'all' }, 'INVALID_INPUT'],
  [undefined, { characters: maxAnswerCharacters + 1, text: '' }, 'EVENT_TOO_LARGE'],
])('an answer given as %j after streaming %j is %j', (given, deltas, outcome) => {
  const answer = answerOf(given, deltas)
  expect(answer instanceof Refusal ? answer.code : answer).toEqual(outcome)
})

test.each([
  ['INFO', [], 'INVALID_INPUT'],
  ['INFO', null, 'INVALID_INPUT'],
  ['INFO', 'x', 'INVALID_INPUT'],
  ['INFO', {}, undefined],
  ['ANSWER_DELTA', {}, 'INVALID_INPUT'],
  ['REASONING_DELTA', { text: 1 }, 'INVALID_INPUT'],
  ['ANSWER_DELTA', { text: '' }, undefined],
])('an event %s with the payload %j is refused with %s', (type, payload, code) => {
  expect(checkRuntimeEvent(type, payload, 0)?.code).toBe(code)
})

test('usage is whole numbers under known names; what is absent stays absent', () => {
  expect(readUsage(undefined)).toEqual({})
  expect(readUsage(null)).toEqual({})
  expect(readUsage({ inputTokens: 0 })).toEqual({ inputTokens: 0 })
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const result = readUsage(value)
      if (result instanceof Refusal) expect(result.code).toBe('INVALID_INPUT')
      else expect(Object.values(result).every((count) => Number.isInteger(count) && count >= 0)).toBe(true)
    }),
    { seed: 10 },
  )
})
