import {
  decideSession,
  type SessionState,
  type SessionVerb,
  titleFrom,
} from '@wheelhouse/server/domains/sessions/rules'
import { Refusal, type RefusalCode } from '@wheelhouse/server/platform/refusal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

type Outcome = SessionState | 'same' | 'changed' | 'gone' | RefusalCode

/** Each cell: without a live run, and with one. */
const table: Record<SessionState, Record<SessionVerb, [quiet: Outcome, busy: Outcome]>> = {
  OPEN: {
    open: ['same', 'same'],
    close: ['CLOSED', 'CONFLICT'],
    closeAndCancel: ['CLOSED', 'CLOSED'],
    rename: ['changed', 'changed'],
    configure: ['changed', 'changed'],
    delete: ['gone', 'CONFLICT'],
    submit: ['changed', 'changed'],
  },
  // A closed session has no live run (the database holds that); the rules stay total all the same.
  CLOSED: {
    open: ['OPEN', 'OPEN'],
    close: ['same', 'same'],
    closeAndCancel: ['same', 'same'],
    rename: ['changed', 'changed'],
    configure: ['changed', 'changed'],
    delete: ['gone', 'CONFLICT'],
    submit: ['SESSION_CLOSED', 'SESSION_CLOSED'],
  },
}
const cells = Object.entries(table).flatMap(([state, verbs]) =>
  Object.entries(verbs).flatMap(([verb, outcomes]) =>
    outcomes.map((outcome, liveRuns) => ({
      state: state as SessionState,
      verb: verb as SessionVerb,
      liveRuns,
      outcome,
    })),
  ),
)

function outcomeOf(change: ReturnType<typeof decideSession>): Outcome {
  if (change instanceof Refusal) return change.code
  if (change.kind === 'become') return change.state
  return ({ keep: 'same', update: 'changed', purge: 'gone' } as const)[change.kind]
}

describe('a session', () => {
  test.each(cells)('that is $state with $liveRuns live runs: $verb gives $outcome', (cell) => {
    expect(outcomeOf(decideSession({ ...cell, generation: 3 }, cell.verb))).toBe(cell.outcome)
    expect(outcomeOf(decideSession({ ...cell, generation: 3 }, cell.verb, 3))).toBe(cell.outcome)
  })

  test.each(cells)(
    'that is $state with $liveRuns live runs fences $verb meant for another generation',
    (cell) => {
      for (const expected of [2, 4])
        expect(outcomeOf(decideSession({ ...cell, generation: 3 }, cell.verb, expected))).toBe('CONFLICT')
    },
  )
})

test('a title taken from a turn is its first line, never empty, never longer than a title may be', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (text) => {
      const title = titleFrom(text)
      expect([...title].length).toBeGreaterThan(0)
      expect([...title].length).toBeLessThanOrEqual(120)
      expect(title).not.toContain('\n')
      expect(title.isWellFormed()).toBe(true)
    }),
    { seed: 10 },
  )
})
