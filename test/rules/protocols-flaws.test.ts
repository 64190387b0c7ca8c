import { parseProtocol } from '@wheelhouse/server/domains/protocols/definition'
import { type FlawCode, flawCodes } from '@wheelhouse/server/domains/protocols/validation/rules'
import { Refusal } from '@wheelhouse/server/platform/refusal'
import { describe, expect, test } from 'vitest'

const phase = (name: string, more: object = {}) => ({ name, allowedActions: ['look', 'act.*'], ...more })
const to = (name: string, more: object = { on: { action: 'look' } }) => ({ to: name, ...more })
/** The smallest definition that has something of everything, changed by a test. */
const definition = (change: object = {}) => ({
  id: 'refund-review',
  version: 1,
  title: 'Refund review',
  initialPhase: 'look',
  phases: [phase('look', { transitions: [to('decide')] }), phase('decide', { final: true })],
  governs: ['look', 'act.*'],
  ...change,
})
const phases = (...list: object[]) => ({ phases: list })

/** What is wrong with a definition, as `place: CODE`. */
function flaws(value: unknown): string[] {
  const result = parseProtocol(value)
  if (!(result instanceof Refusal)) return []
  expect(result.code).toBe('INVALID_INPUT')
  return (result.detail.issues ?? []).map(
    ({ path, message }) => `${path.slice(1).join('.')}: ${message.split(':')[0]}`,
  )
}

/** Each flaw by its name: a definition that has it, and all that is said of it. */
const table: Record<FlawCode, [title: string, value: object, said: string[]][]> = {
  UNKNOWN_PHASE: [
    ['the initial phase', { initialPhase: 'nowhere' }, ['initialPhase: UNKNOWN_PHASE']],
    [
      'the end of a transition',
      phases(
        phase('look', { transitions: [to('decide'), to('gone', { when: { x: true } })] }),
        phase('decide', { final: true }),
      ),
      ['phases.0.transitions.1.to: UNKNOWN_PHASE'],
    ],
  ],
  UNREACHABLE_PHASE: [
    [
      'no way leads there',
      phases(phase('look', { final: true }), phase('decide', { final: true })),
      ['phases.1: UNREACHABLE_PHASE'],
    ],
    [
      'only a phase that is not reached leads there',
      phases(
        phase('look', { final: true }),
        phase('b', { transitions: [to('c')] }),
        phase('c', { transitions: [to('b')] }),
      ),
      ['phases.1: UNREACHABLE_PHASE', 'phases.2: UNREACHABLE_PHASE'],
    ],
  ],
  DEAD_END: [
    [
      'nothing leads on, and the work doesn’t end',
      phases(phase('look', { transitions: [to('decide')] }), phase('decide')),
      ['phases.1: DEAD_END'],
    ],
    [
      'what leads on waits for facts, and nothing is allowed that could bring the first ones',
      {
        governs: [],
        ...phases(
          phase('look', { allowedActions: [], transitions: [to('between', { when: { x: true } })] }),
          phase('between', { allowedActions: [], transitions: [to('decide', { when: { y: true } })] }),
          phase('decide', { final: true }),
        ),
      },
      ['phases.0: DEAD_END'],
    ],
    [
      'what leads on waits for an action that is not allowed',
      phases(phase('look', { transitions: [to('decide')] }), {
        name: 'decide',
        allowedActions: ['act.*'],
        transitions: [to('look')],
      }),
      ['phases.1.transitions.0: ACTION_NOT_IN_PHASE', 'phases.1: DEAD_END'],
    ],
  ],
  DUPLICATE_PHASE: [
    [
      'two of one name',
      phases(
        phase('look', { transitions: [to('decide')] }),
        phase('decide', { final: true }),
        phase('decide', { final: true }),
      ),
      ['phases.2.name: DUPLICATE_PHASE'],
    ],
  ],
  DUPLICATE_ACTION: [
    ['governed twice', { governs: ['look', 'act.*', 'look'] }, ['governs.2: DUPLICATE_ACTION']],
    [
      'allowed twice, approved twice',
      phases({
        name: 'look',
        allowedActions: ['look', 'act.*', 'look'],
        needsApproval: ['look', 'look'],
        final: true,
      }),
      ['phases.0.allowedActions.2: DUPLICATE_ACTION', 'phases.0.needsApproval.1: DUPLICATE_ACTION'],
    ],
  ],
  DUPLICATE_TRANSITION: [
    [
      'on the same result',
      phases(
        phase('look', { transitions: [to('decide'), to('decide', { on: { action: 'look', ok: true } })] }),
        phase('decide', { final: true }),
      ),
      ['phases.0.transitions.1: DUPLICATE_TRANSITION'],
    ],
    [
      'on a result that one before takes with others',
      phases(
        phase('look', {
          transitions: [
            to('decide', { on: { action: 'act.*' }, when: { seen: 2, known: true } }),
            to('other', { on: { action: 'act.now' }, when: { known: true, seen: 3 } }),
            to('other', { on: { action: 'act.*', ok: false }, when: { known: true, seen: 3 } }),
            to('other', { on: { action: 'act.now' }, when: { known: true, seen: 1 } }),
            to('other', { on: { action: 'act.now' }, when: { seen: 2 } }),
            to('other', { on: { action: 'look' } }),
            to('decide', { on: { action: 'act.now' }, when: { seen: 5 } }),
          ],
        }),
        phase('decide', { final: true }),
        phase('other', { final: true }),
      ),
      ['phases.0.transitions.1: DUPLICATE_TRANSITION', 'phases.0.transitions.6: DUPLICATE_TRANSITION'],
    ],
    [
      'by the same facts',
      phases(
        phase('look', {
          transitions: [
            to('decide', { when: { x: true, n: 1 } }),
            to('decide', { when: { n: 1, x: true } }),
            to('decide', { when: { n: 2, x: true } }),
          ],
        }),
        phase('decide', { final: true }),
      ),
      ['phases.0.transitions.1: DUPLICATE_TRANSITION'],
    ],
  ],
  DUPLICATE_HANDOFF: [
    ['to one protocol twice', { handoffTo: ['a', 'b', 'a'] }, ['handoffTo.2: DUPLICATE_HANDOFF']],
  ],
  DUPLICATE_START_RULE: [
    [
      'of one id',
      { startRules: [1, 2].map(() => ({ id: 'REFUND', anyOf: [{ all: [['refund']] }] })) },
      ['startRules.1.id: DUPLICATE_START_RULE'],
    ],
  ],
  EMPTY_TRANSITION: [
    [
      'without a reason',
      phases(
        phase('look', { final: true, transitions: [to('decide', {})] }),
        phase('decide', { final: true }),
      ),
      ['phases.0.transitions.0: EMPTY_TRANSITION'],
    ],
    [
      'with no facts',
      phases(
        phase('look', { final: true, transitions: [to('decide', { when: {} })] }),
        phase('decide', { final: true }),
      ),
      ['phases.0.transitions.0: EMPTY_TRANSITION'],
    ],
  ],
  SELF_TRANSITION: [
    [
      'to itself',
      phases(phase('look', { final: true, transitions: [to('look')] })),
      ['phases.0.transitions.0.to: SELF_TRANSITION'],
    ],
  ],
  CYCLIC_AUTO_TRANSITION: [
    [
      'of facts alone',
      phases(
        phase('look', { transitions: [to('b', { when: { x: true } })] }),
        phase('b', { transitions: [to('c', { when: { y: true } })] }),
        phase('c', { transitions: [to('b', { when: { z: 2 } }), to('look')] }),
      ),
      ['phases.1: CYCLIC_AUTO_TRANSITION', 'phases.2: CYCLIC_AUTO_TRANSITION'],
    ],
  ],
  ACTION_IN_NO_PHASE: [
    [
      'governed, never allowed',
      { governs: ['look', 'pay', 'pay.*'] },
      ['governs.1: ACTION_IN_NO_PHASE', 'governs.2: ACTION_IN_NO_PHASE'],
    ],
    [
      'governed, while only what is not is allowed',
      {
        governs: ['look', 'pay'],
        ...phases(phase('look', { allowedActions: ['look', 'ungoverned'], final: true })),
      },
      ['governs.1: ACTION_IN_NO_PHASE'],
    ],
    [
      'to be counted at the end',
      { completion: { requiredFacts: { 'ok.pay': 1, 'ok.look': 1, pay: true } } },
      ['completion.requiredFacts.ok.pay: ACTION_IN_NO_PHASE'],
    ],
  ],
  ACTION_NOT_IN_PHASE: [
    [
      'to be approved',
      phases(phase('look', { final: true, needsApproval: ['pay'] })),
      ['phases.0.needsApproval.0: ACTION_NOT_IN_PHASE'],
    ],
    [
      'of whatever is ungoverned, which is a step of another phase',
      {
        governs: [],
        ...phases(
          phase('look', {
            allowedActions: ['ungoverned'],
            transitions: [to('decide', { on: { action: 'act.now' } })],
          }),
          phase('decide', { allowedActions: ['act.now', 'ungoverned'], final: true }),
        ),
      },
      ['phases.0.transitions.0: ACTION_NOT_IN_PHASE', 'phases.0: DEAD_END'],
    ],
    [
      'of whatever is ungoverned, which a built-in protocol governs',
      phases(
        phase('look', {
          allowedActions: ['look', 'act.*', 'ungoverned'],
          transitions: [to('decide'), to('decide', { on: { action: 'run_sql_readonly' } })],
        }),
        phase('decide', { final: true }),
      ),
      ['phases.0.transitions.1: ACTION_NOT_IN_PHASE'],
    ],
    [
      'to be counted',
      phases(
        phase('look', { transitions: [to('decide'), to('decide', { when: { 'ok.pay': 2 } })] }),
        phase('decide', { final: true }),
      ),
      ['phases.0.transitions.1: ACTION_NOT_IN_PHASE'],
    ],
  ],
}

describe('the graph of a definition', () => {
  const rows = Object.entries(table).flatMap(([code, cases]) =>
    cases.map(([title, change, said]) => [code, title, change, said] as const),
  )
  test.each(rows)('%s: %s', (code, _, change, said) => {
    expect(flaws(definition(change))).toEqual(said)
    expect(said.join()).toContain(code)
    expect(flawCodes).toHaveProperty(code)
  })

  test('may run in a circle where something is done on the way', () => {
    const circle = (way: object) =>
      phases(
        phase('look', { transitions: [to('b', { when: { x: true } })] }),
        phase('b', { transitions: [to('look', way)] }),
      )
    expect(flaws(definition(circle({ on: { action: 'act.now' } })))).toEqual([])
    expect(flaws(definition(circle({ when: { 'ok.act.now': 1 } })))).toEqual([])
    expect(flaws(definition(circle({ when: { x: false } })))).toHaveLength(2)
  })

  test('may wait in a phase for what is ungoverned, though another one names the start of it', () => {
    const value = definition({
      governs: [],
      ...phases(
        phase('look', {
          allowedActions: ['ungoverned'],
          transitions: [to('decide', { on: { action: 'act.*' } })],
        }),
        phase('decide', { allowedActions: ['act.*', 'ungoverned'], final: true }),
      ),
    })
    expect(flaws(value)).toEqual([])
  })

  test.each([
    ['look', 'look', true],
    ['l*', 'look', true],
    ['look', 'l*', true],
    ['look.a*', 'look*', true],
    ['*', 'anything', true],
    ['look', 'lock', false],
    ['act.*', 'look', false],
    ['act.*', 'look.*', false],
    ['ungoverned', 'other', true],
    ['ungoverned', 'other.*', true],
    ['ungoverned', 'ac*', true],
    ['ungoverned', 'act.*', false],
    ['ungoverned', 'act.now', false],
    ['ungoverned', 'look', false],
    ['ungoverned', '*', true],
  ])('a phase that allows %s: an approval for %s has a meaning: %s', (allowed, wanted, meets) => {
    const value = definition(
      phases(
        phase('look', {
          final: true,
          allowedActions: [allowed],
          needsApproval: [wanted],
          transitions: [to('all', { when: { x: true } })],
        }),
        phase('all', { final: true }),
      ),
    )
    expect(flaws(value)).toEqual(meets ? [] : ['phases.0.needsApproval.0: ACTION_NOT_IN_PHASE'])
  })
})
