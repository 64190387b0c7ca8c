import type { Viewer } from '@wheelhouse/server/domains/access/rules'
import {
  checkSnooze,
  decideItem,
  type InboxAction,
  type InboxState,
  ifIgnored,
  inboxKinds,
  isAsk,
  maxSnoozeMs,
  sightOf,
} from '@wheelhouse/server/domains/delivery/rules'
import { waitWords } from '@wheelhouse/server/domains/delivery/waits/rules'
import { Refusal } from '@wheelhouse/server/platform/refusal'
import { describe, expect, test } from 'vitest'

type Outcome = InboxState | 'same' | 'CONFLICT'
const outcome = (result: InboxState | 'same' | Refusal): Outcome =>
  result instanceof Refusal ? (result.code as 'CONFLICT') : result

/** Every state and action of an item about a run. A missing cell does not compile. */
const ofRuns: Record<InboxState, Record<InboxAction, Outcome>> = {
  OPEN: { ACKNOWLEDGE: 'ACKNOWLEDGED', REOPEN: 'same', ASSIGN: 'OPEN', SNOOZE: 'OPEN' },
  ACKNOWLEDGED: { ACKNOWLEDGE: 'same', REOPEN: 'OPEN', ASSIGN: 'CONFLICT', SNOOZE: 'CONFLICT' },
  HANDLED: { ACKNOWLEDGE: 'CONFLICT', REOPEN: 'CONFLICT', ASSIGN: 'CONFLICT', SNOOZE: 'CONFLICT' },
}
/** An ask is the same but for one cell: while it is open, nothing acknowledges it away. */
const ofAsks: typeof ofRuns = { ...ofRuns, OPEN: { ...ofRuns.OPEN, ACKNOWLEDGE: 'CONFLICT' } }

describe('an inbox item', () => {
  for (const kind of inboxKinds) {
    const table = isAsk(kind) ? ofAsks : ofRuns
    for (const state of Object.keys(table) as InboxState[]) {
      for (const action of Object.keys(table[state]) as InboxAction[]) {
        test(`${kind} in state ${state}: ${action} gives ${table[state][action]}`, () => {
          expect(outcome(decideItem({ kind, state }, action))).toBe(table[state][action])
        })
      }
    }
  }

  test('case 20: an open ask says in words that only an answer settles it', () => {
    const refusal = decideItem({ kind: 'QUESTION', state: 'OPEN' }, 'ACKNOWLEDGE')
    expect((refusal as Refusal).message).toContain('Answer it')
  })

  test('says what happens when nobody does anything', () => {
    const ask = {
      kind: 'TOOL_APPROVAL',
      state: 'OPEN',
      deadlineAt: new Date(),
      defaultDecision: 'deny',
    } as const
    expect(ifIgnored(ask)).toContain('(deny)')
    for (const kind of inboxKinds) {
      const words = ifIgnored({ ...ask, kind, deadlineAt: isAsk(kind) ? ask.deadlineAt : null })
      expect(words).toMatch(/^[A-Z].*\.$/)
    }
    expect(ifIgnored({ ...ask, state: 'HANDLED' })).toContain('settled')
  })
})

describe('putting an item off', () => {
  const now = new Date('2026-03-01T12:00:00.000Z')
  const later = (ms: number) => new Date(now.getTime() + ms)
  const item = { kind: 'RUN_FAILED', state: 'OPEN', deadlineAt: null } as const
  const ask = { kind: 'QUESTION', state: 'OPEN', deadlineAt: later(10_000) } as const
  const words = (refusal: Refusal | null) => refusal?.detail.issues?.[0]?.message ?? null

  test('is for some time in the future, at most 30 days', () => {
    expect(words(checkSnooze(item, now, now))).toContain('future')
    expect(words(checkSnooze(item, later(1), now))).toBeNull()
    expect(words(checkSnooze(item, later(maxSnoozeMs), now))).toBeNull()
    expect(words(checkSnooze(item, later(maxSnoozeMs + 1), now))).toContain('30 days')
  })

  test('never hides an ask beyond its own deadline', () => {
    expect(words(checkSnooze(ask, later(9_999), now))).toBeNull()
    expect(words(checkSnooze(ask, later(10_000), now))).toContain('deadline')
  })
})

describe('what a caller sees of the inbox', () => {
  const viewer = (grants: Viewer['grants'], tokenGrants: Viewer['tokenGrants'] = null): Viewer => ({
    principalId: 'p',
    principalKind: 'PERSON',
    tokenId: null,
    signInId: null,
    expiresAt: null,
    channel: 'CONSOLE',
    grants,
    tokenGrants,
  })
  const read = ['session.read']
  const a = { capabilities: read, projectId: 'a' }
  const inB = { capabilities: read, projectId: 'b', sessionId: 's' }

  test('is everything for who may read everywhere', () => {
    expect(sightOf(viewer([{ capabilities: read }]), 'session.read', null)).toBe('all')
  })
  test('is whole projects and single sessions as granted', () => {
    expect(sightOf(viewer([a, inB]), 'session.read', null)).toEqual({
      projects: ['a'],
      sessions: [{ projectId: 'b', id: 's' }],
    })
  })
  test('is what a token leaves of it', () => {
    expect(sightOf(viewer([{ capabilities: read }], [a]), 'session.read', null)).toEqual({
      projects: ['a'],
      sessions: [],
    })
    expect(sightOf(viewer([a], [inB]), 'session.read', null)).toBeNull()
  })
  test('is nothing without the capability, in a project as everywhere', () => {
    const other = viewer([{ capabilities: ['ops.read'] }, { capabilities: ['turn.submit'], projectId: 'a' }])
    expect(sightOf(other, 'session.read', null)).toBeNull()
    expect(sightOf(other, 'session.read', 'a')).toBeNull()
  })
})

test('a wait names who waits and for whom', () => {
  const wait = {
    projectId: 'p',
    runId: 'r',
    runNumber: 3,
    sessionTitle: 'Prices',
    runtimeId: 't',
    runtimeName: 'sample',
    since: new Date(),
    until: null,
  }
  expect(
    waitWords({
      ...wait,
      kind: 'ANSWER',
      approvalId: 'a',
      title: 'Write the file?',
      defaultDecision: 'deny',
    }),
  ).toEqual({
    waiter: 'Run 3 of “Prices” on sample',
    waitsFor: 'an owner',
    reason: 'Write the file? (deny, when nobody answers in time)',
  })
  expect(waitWords({ ...wait, kind: 'START' })).toMatchObject({
    waiter: 'Run 3 of “Prices”',
    waitsFor: 'sample',
  })
  expect(waitWords({ ...wait, kind: 'RETURN' }).reason).toContain('disconnected')
})
