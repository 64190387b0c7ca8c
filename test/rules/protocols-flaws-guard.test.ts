import { builtIn } from '@wheelhouse/server/domains/protocols/built-in'
import {
  advance,
  decideAction,
  type Facts,
  governedBy,
  type Protocol,
  succeeded,
  type Transition,
} from '@wheelhouse/server/domains/protocols/rules'
import { flawsOf } from '@wheelhouse/server/domains/protocols/validation/rules'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

/* What is said of a definition is what becomes of it when it is walked. */

describe('whatever the definition is', () => {
  const names = ['a', 'b', 'c']
  const actions = fc.constantFrom('x', 'y', 'z.one', 'run_sql_readonly')
  const [general] = builtIn as [Protocol]

  test('a phase allows what its transitions wait for, or that is said: as the guard decides', () => {
    const patterns = fc.oneof(actions, fc.constantFrom('z.*', 'run*', 'ungoverned', '*'))
    const to = fc.constantFrom(...names)
    const transition: fc.Arbitrary<Transition> = fc.oneof(
      fc.record({ to, on: fc.record({ action: actions, ok: fc.boolean() }) }),
      fc.record({ to, when: actions.map((action) => ({ [succeeded(action)]: 1 })) }),
    )
    const phases = names.map((name) =>
      fc.record({
        name: fc.constant(name),
        allowedActions: fc.uniqueArray(patterns, { maxLength: 3 }),
        needsApproval: fc.constant<string[]>([]),
        transitions: fc.array(transition, { maxLength: 3 }),
      }),
    )
    const governs = fc.uniqueArray(fc.oneof(actions, fc.constant('z.*')), { maxLength: 2 })
    const verdicts = new Set<boolean>()
    fc.assert(
      fc.property(fc.tuple(...phases), governs, (phases, governs) => {
        const protocol: Protocol = { ...general, initialPhase: 'a', phases, governs }
        const isGoverned = governedBy([...builtIn, protocol])
        const said = flawsOf(protocol, builtIn)
          .filter(({ code }) => code === 'ACTION_NOT_IN_PHASE')
          .map(({ path }) => path.join('.'))
        for (const [at, { name, transitions }] of phases.entries()) {
          for (const [index, { on, when }] of transitions.entries()) {
            const [count = ''] = Object.keys(when ?? {})
            const action = on?.action ?? count.slice(succeeded('').length)
            const denied = decideAction(protocol, name, action, isGoverned) === 'DENIED'
            expect(said.includes(`phases.${at}.transitions.${index}`)).toBe(denied)
            verdicts.add(denied)
          }
        }
      }),
      { numRuns: 300 },
    )
    expect(verdicts.size).toBe(2)
  })

  test('a transition on a result that is said to be a duplicate is never taken', () => {
    const facts = fc.dictionary(
      fc.constantFrom('p', 'n'),
      fc.oneof(fc.boolean(), fc.integer({ min: 1, max: 2 })),
    ) as fc.Arbitrary<Facts>
    const on = fc.record({ action: fc.constantFrom('x', 'z.one', 'z.*', '*'), ok: fc.boolean() })
    const ways = fc.array(
      fc.record({ to: fc.constantFrom('b', 'c'), on, when: facts }, { requiredKeys: ['to', 'on'] }),
      { minLength: 2, maxLength: 5 },
    )
    const results = fc.array(fc.record({ action: actions, ok: fc.boolean(), facts }), { minLength: 20 })
    const leading = (transitions: Transition[]): Protocol => ({
      ...general,
      initialPhase: 'a',
      phases: names.map((name) => ({
        name,
        allowedActions: ['*'],
        needsApproval: [],
        transitions: name === 'a' ? transitions : [],
        final: true,
      })),
    })
    let duplicates = 0
    fc.assert(
      fc.property(ways, results, (transitions, list) => {
        const overtaken = flawsOf(leading(transitions))
          .filter(({ code }) => code === 'DUPLICATE_TRANSITION')
          .map(({ path }) => Number(path.at(-1)))
        duplicates += overtaken.length
        const left = leading(transitions.filter((_, at) => !overtaken.includes(at)))
        for (const result of list) {
          expect(advance(left, 'a', {}, result)).toEqual(advance(leading(transitions), 'a', {}, result))
        }
      }),
    )
    expect(duplicates).toBeGreaterThan(10)
  })
})
