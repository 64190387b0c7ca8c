import { builtIn } from '@wheelhouse/server/domains/protocols/built-in'
import { governedBy, type Protocol } from '@wheelhouse/server/domains/protocols/rules'
import { decideCompletion } from '@wheelhouse/server/domains/runs/guard/completion/rules'
import {
  decideHandoff,
  isRejection,
  type LedgerEntry,
} from '@wheelhouse/server/domains/runs/guard/handoff/rules'
import { decideRequest, decideResult, governorOf } from '@wheelhouse/server/domains/runs/guard/rules'
import {
  decideSegment,
  type SegmentState,
  type SegmentVerb,
  segmentStates,
  segmentVerbs,
} from '@wheelhouse/server/domains/runs/segments/rules'
import { describe, expect, test } from 'vitest'

const [general, analysis] = builtIn as readonly [Protocol, Protocol]
const isGoverned = governedBy(builtIn)

describe('a segment', () => {
  const ended = { advance: null, complete: null, handOff: null, abort: null, fail: null }
  const table: Record<SegmentState, Record<SegmentVerb, SegmentState | null>> = {
    ACTIVE: {
      advance: 'ACTIVE',
      complete: 'COMPLETED',
      handOff: 'HANDED_OFF',
      abort: 'ABORTED',
      fail: 'FAILED',
    },
    COMPLETED: ended,
    HANDED_OFF: ended,
    ABORTED: ended,
    FAILED: ended,
  }
  test.each(segmentStates.flatMap((state) => segmentVerbs.map((verb) => [state, verb] as const)))(
    '%s that is to %s',
    (state, verb) => {
      expect(decideSegment(state, verb)).toBe(table[state][verb])
    },
  )
})

describe('a request', () => {
  const careful: Protocol = {
    ...general,
    id: 'careful',
    staleIntent: 'BLOCK',
    phases: general.phases.map((phase) => ({ ...phase, needsApproval: ['file.*'] })),
  }
  const at = (protocol: Protocol, activeId = 'r1') => ({
    protocol,
    phase: protocol.initialPhase,
    activeId,
    headId: 'r1',
  })
  test.each([
    [at(general), 'file.write', 'ALLOWED', null],
    [at(general, 'r0'), 'file.write', 'ALLOWED', null],
    [at(general), 'run_sql_readonly', 'DENIED', 'ACTION_NOT_ALLOWED_IN_PHASE'],
    [at(careful), 'file.write', 'NEEDS_APPROVAL', null],
    [at(careful), 'mail.read', 'ALLOWED', null],
    [at(careful, 'r0'), 'mail.read', 'DENIED', 'INTENT_STALE'],
    [at(careful, 'r0'), 'file.write', 'DENIED', 'INTENT_STALE'],
    [at(careful, 'r0'), 'run_sql_readonly', 'DENIED', 'ACTION_NOT_ALLOWED_IN_PHASE'],
  ])('%# is answered', (standing, action, decision, code) => {
    expect(decideRequest(standing, action, isGoverned)).toEqual({ decision, code })
  })

  test('names the protocol whose real work it is: the own one first, else the newest', () => {
    const newer = { ...analysis, version: 2 }
    expect(governorOf('run_sql_readonly', general, [...builtIn, newer])).toBe('data-analysis@2')
    expect(governorOf('run_sql_readonly', analysis, [...builtIn, newer])).toBe('data-analysis@1')
    expect(governorOf('file.write', general, builtIn)).toBeNull()
  })

  test.each([
    ['ALLOWED', null, null],
    ['ALLOWED', true, 'CONFLICT'],
    ['ALLOWED', false, 'CONFLICT'],
    ['DENIED', null, 'CONFLICT'],
    ['NEEDS_APPROVAL', null, 'CONFLICT'],
  ])('that was %s and has the result %s takes one, or %s', (decision, ok, code) => {
    expect(decideResult({ decision, ok })?.code ?? null).toBe(code)
  })
})

describe('a handoff', () => {
  const open = { id: 'q', text: 'Name it.', state: 'OPEN' as const }
  const proposal = { from: analysis, to: general, facts: {}, requirements: [] }
  const codeOf = (more: object) => {
    const decided = decideHandoff({ ...proposal, ...more })
    return isRejection(decided) ? decided.code : decided.id
  }
  test.each<[string, object, string]>([
    ['goes where it is not kept', {}, 'general-task'],
    ['goes once requirements are met', { requirements: [{ ...open, state: 'MET' }] }, 'general-task'],
    ['stays while they are open', { requirements: [open] }, 'STRICT_GOALS_OPEN'],
    [
      'goes nowhere but where it may',
      { from: { ...analysis, handoffTo: ['x'] } },
      'HANDOFF_TARGET_NOT_ALLOWED',
    ],
    ['goes where it may', { from: { ...analysis, handoffTo: ['general-task@1'] } }, 'general-task'],
    ['never goes to itself', { to: analysis }, 'HANDOFF_TARGET_NOT_ALLOWED'],
  ])('%s', (_what, more, expected) => {
    expect(codeOf(more)).toBe(expected)
  })
})

describe('a completion', () => {
  const entry = (number: number, more: Partial<LedgerEntry>): LedgerEntry => ({
    number,
    action: 'run_sql_readonly',
    code: null,
    ok: null,
    governedBy: 'data-analysis@1',
    protocol: 'data-analysis@1',
    ...more,
  })
  const refused = { code: 'ACTION_NOT_ALLOWED_IN_PHASE' }
  const elsewhere = { ...refused, protocol: 'general-task@1' }
  const outcomeOf = (from: Protocol, ledger: LedgerEntry[], more: object = {}) => {
    const facts = { from, facts: {}, requirements: [], relation: 'REPLACE', partial: false, ledger, ...more }
    const outcome = decideCompletion(facts)
    return 'completion' in outcome
      ? outcome.completion
      : 'failureCode' in outcome
        ? outcome.failureCode
        : outcome.code
  }
  const rejected = 'ACTIONS_REJECTED_BY_PROTOCOL'
  test.each<[string, Protocol, LedgerEntry[], object, string]>([
    ['with nothing asked', general, [], {}, 'FULL'],
    ['that says it is partial', general, [], { partial: true }, 'PARTIAL'],
    ['after a refusal elsewhere', general, [entry(1, elsewhere)], {}, rejected],
    ['after it, done since', analysis, [entry(1, elsewhere), entry(2, { ok: true })], {}, 'FULL'],
    ['after it, tried since in vain', analysis, [entry(1, elsewhere), entry(2, { ok: false })], {}, rejected],
    ['after it, done before', general, [entry(1, { ok: true }), entry(2, elsewhere)], {}, rejected],
    [
      'after a refusal of another kind',
      general,
      [entry(1, { ...elsewhere, code: 'INTENT_STALE' })],
      {},
      'FULL',
    ],
    ['after a refusal at home', analysis, [entry(1, refused)], {}, 'UNSUPPORTED'],
    ['that did not try', analysis, [], {}, 'UNSUPPORTED'],
    ['that did not try, and says so', analysis, [], { partial: true }, 'UNSUPPORTED'],
    ['of a side chat', analysis, [], { relation: 'SIDE_CHAT' }, 'FULL'],
    [
      'over open goals',
      analysis,
      [entry(1, { ok: true })],
      { requirements: [{ id: 'q', text: 'Name it.', state: 'OPEN' }] },
      'COMPLETION_GOALS_OPEN',
    ],
  ])('%s', (_what, from, ledger, more, expected) => {
    expect(outcomeOf(from, ledger, more)).toBe(expected)
  })
})
