import { builtIn } from '@wheelhouse/server/domains/protocols/built-in'
import { parseProtocol } from '@wheelhouse/server/domains/protocols/definition'
import {
  advance,
  allowedActions,
  decideAction,
  type Facts,
  governedBy,
  holds,
  isAllowed,
  openGoals,
  type Protocol,
  phaseOf,
  registration,
  resolve,
  succeeded,
} from '@wheelhouse/server/domains/protocols/rules'
import { Refusal } from '@wheelhouse/server/platform/refusal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const [general, analysis] = builtIn as [Protocol, Protocol]
const isGoverned = governedBy(builtIn)
const made = (definition: object): Protocol => {
  const protocol = parseProtocol({ id: 'made', version: 1, title: 'Made', ...definition })
  if (protocol instanceof Refusal) throw protocol
  return protocol
}

const dataActions = ['list_data_sources', 'inspect_schema', 'preview_table', 'run_sql_readonly']
const steps = [
  'semantic.context.resolve',
  'analysis.contract.ground',
  'data.query.plan',
  'data.query.validate',
  'analysis.result.validate',
  'analysis.evidence.bind',
  'analysis.requirements.commit',
]
const others = ['write_file', 'protocol.handoff.propose']

describe('a data analysis', () => {
  test.each([
    ['scope', ['list_data_sources', 'inspect_schema']],
    [
      'semantic_grounding',
      ['inspect_schema', 'preview_table', 'semantic.context.resolve', 'analysis.contract.ground'],
    ],
    ['query_planning', ['data.query.plan', 'data.query.validate']],
    ['execution', ['run_sql_readonly', 'data.query.plan']],
    [
      'validation',
      [
        'analysis.result.validate',
        'analysis.evidence.bind',
        'analysis.requirements.commit',
        'data.query.plan',
      ],
    ],
    ['synthesis', ['data.query.plan']],
  ])('lets exactly these of its actions be taken in %s, and everything that is not of data', (phase, own) => {
    // Its steps are nobody's governed work: that they wait for their phase is said by a project that governs them.
    const all = [...dataActions, ...steps]
    const strictly = (action: string) => all.includes(action)
    expect(allowedActions(analysis, phase, all, strictly).sort()).toEqual([...own].sort())
    expect(allowedActions(analysis, phase, others, strictly)).toEqual(others)
    const governed = dataActions.filter((action) => own.includes(action))
    expect(allowedActions(analysis, phase, dataActions, isGoverned)).toEqual(governed)
  })

  test('is walked step by step, a failure moves nothing, a new plan leads back', () => {
    let at: { phase: string; facts: Facts } = { phase: analysis.initialPhase, facts: {} }
    const walked = [
      ['list_data_sources', true, 'scope'],
      ['inspect_schema', false, 'scope'],
      ['inspect_schema', true, 'semantic_grounding'],
      ['preview_table', true, 'semantic_grounding'],
      ['semantic.context.resolve', true, 'semantic_grounding'],
      ['semantic.context.resolve', true, 'semantic_grounding'],
      ['analysis.contract.ground', false, 'semantic_grounding'],
      ['analysis.contract.ground', true, 'query_planning'],
      ['data.query.plan', true, 'query_planning'],
      ['data.query.validate', false, 'query_planning'],
      ['data.query.validate', true, 'execution'],
      ['data.query.plan', true, 'query_planning'],
      ['data.query.validate', true, 'execution'],
      ['run_sql_readonly', false, 'execution'],
      ['run_sql_readonly', true, 'validation'],
      ['analysis.result.validate', true, 'validation'],
      ['data.query.plan', true, 'query_planning'],
      ['data.query.validate', true, 'execution'],
      ['run_sql_readonly', true, 'validation'],
      ['analysis.evidence.bind', true, 'validation'],
      ['analysis.requirements.commit', true, 'validation'],
      ['analysis.result.validate', false, 'validation'],
      ['analysis.result.validate', true, 'synthesis'],
      ['write_file', true, 'synthesis'],
      ['data.query.plan', true, 'query_planning'],
    ] as const
    for (const [action, ok, phase] of walked) {
      const before = at.phase
      expect(decideAction(analysis, before, action, isGoverned), `${action} in ${before}`).toBe('ALLOWED')
      at = advance(analysis, before, at.facts, { action, ok, facts: {} })
      expect(at.phase, `after ${action} in ${before}`).toBe(phase)
    }
  })

  test('has its steps in the phases that name them, and nowhere else', () => {
    expect(decideAction(analysis, 'scope', 'data.query.plan', isGoverned)).toBe('DENIED')
    expect(decideAction(analysis, 'execution', 'analysis.evidence.bind', isGoverned)).toBe('DENIED')
    expect(decideAction(analysis, 'validation', 'analysis.evidence.bind', isGoverned)).toBe('ALLOWED')
    expect(decideAction(general, 'understand', 'analysis.evidence.bind', isGoverned)).toBe('ALLOWED')
  })

  test('is done when no requirement is open, and not by what an agent says', () => {
    const requirement = (state: 'OPEN' | 'MET' | 'DROPPED') => ({ id: state, text: `It is ${state}`, state })
    expect(analysis.completion.strict).toBe(true)
    expect(openGoals(analysis, { done: true }, [requirement('OPEN'), requirement('MET')])).toEqual([
      'It is OPEN',
    ])
    expect(openGoals(analysis, {}, [requirement('DROPPED'), requirement('MET')])).toEqual([])
    expect(openGoals(general, {}, [requirement('OPEN')])).toEqual([])
  })
})

test('a general task takes everything that no protocol governs, and no work of another', () => {
  for (const { name } of general.phases) {
    for (const action of others) expect(decideAction(general, name, action, isGoverned)).toBe('ALLOWED')
    for (const action of dataActions) expect(decideAction(general, name, action, isGoverned)).toBe('DENIED')
  }
  expect(advance(general, 'understand', {}, { action: 'write_file', ok: false, facts: {} }).phase).toBe(
    'understand',
  )
  const gathered = advance(general, 'understand', {}, { action: 'write_file', ok: true, facts: {} })
  expect(gathered.entered).toEqual(['gather'])
  expect(
    advance(general, 'gather', {}, { action: 'note', ok: true, facts: { answer_ready: true } }).phase,
  ).toBe('answer')
})

describe('an action', () => {
  const protocol = made({
    initialPhase: 'only',
    phases: [
      {
        name: 'only',
        allowedActions: ['read', 'pay.*', 'ungoverned'],
        needsApproval: ['pay.out'],
        final: true,
      },
    ],
    governs: ['read', 'pay.*'],
  })
  const governed = governedBy([...builtIn, protocol])
  test.each([
    ['read', 'ALLOWED'],
    ['reader', 'ALLOWED'],
    ['pay.in', 'ALLOWED'],
    ['pay.out', 'NEEDS_APPROVAL'],
    ['pay', 'ALLOWED'],
    ['run_sql_readonly', 'DENIED'],
  ] as const)('%s is %s', (action, verdict) => {
    expect(decideAction(protocol, 'only', action, governed)).toBe(verdict)
  })
  test('is denied in a phase that is not there', () => {
    expect(decideAction(protocol, 'gone', 'read', governed)).toBe('DENIED')
  })
  test('is listed once, in the order of the runtime, with or without an approval', () => {
    expect(
      allowedActions(protocol, 'only', ['pay.out', 'read', 'run_sql_readonly', 'read'], governed),
    ).toEqual(['pay.out', 'read'])
  })
})

describe('facts', () => {
  test.each([
    [{}, {}, true],
    [{ a: true }, { a: true }, true],
    [{}, { a: true }, false],
    [{}, { a: false }, true],
    [{ a: 1 }, { a: true }, false],
    [{ a: 2 }, { a: 2 }, true],
    [{ a: 3 }, { a: 2 }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{ a: true }, { a: 1 }, false],
    [{ a: true }, { a: true, b: 1 }, false],
    [{}, { constructor: false }, true],
  ] as [Facts, Facts, boolean][])('%j hold %j: %s', (facts, wanted, expected) => {
    expect(holds(facts, wanted)).toBe(expected)
  })

  test('of successes are counted by the server, from when the phase was entered; nobody can claim them', () => {
    const { facts, phase } = advance(
      analysis,
      'semantic_grounding',
      {},
      {
        action: 'preview_table',
        ok: true,
        facts: {
          [succeeded('semantic.context.resolve')]: 1,
          [succeeded('analysis.contract.ground')]: 1,
          rows: 5,
        },
      },
    )
    expect({ facts, phase }).toEqual({
      phase: 'semantic_grounding',
      facts: { rows: 5, [succeeded('preview_table')]: 1 },
    })
    const again = advance(analysis, phase, facts, { action: 'preview_table', ok: true, facts: {} })
    expect(again.facts[succeeded('preview_table')]).toBe(2)
    const entered = advance(analysis, 'scope', facts, { action: 'inspect_schema', ok: true, facts: {} })
    expect(entered.facts).toEqual({ rows: 5 })
  })

  test('lead on through several phases at once, each at most once', () => {
    const step = (name: string, to: string) => ({
      name,
      allowedActions: ['go'],
      transitions: [{ to, when: { [name]: true } }],
    })
    const chain = made({
      initialPhase: 'a',
      phases: [step('a', 'b'), step('b', 'c'), { name: 'c', allowedActions: ['go'], final: true }],
    })
    expect(advance(chain, 'a', { b: true }, { action: 'go', ok: false, facts: { a: true } })).toEqual({
      phase: 'c',
      facts: { a: true, b: true },
      entered: ['b', 'c'],
    })
  })

  test('that are required and don’t hold are open goals', () => {
    const protocol = {
      ...general,
      completion: { requiredFacts: { seen: 2, signed: true }, requirements: 'NONE', strict: true },
    } as Protocol
    expect(openGoals(protocol, { seen: 1 }, [])).toEqual(['seen ≥ 2', 'signed = true'])
    expect(openGoals(protocol, { seen: 2, signed: true }, [])).toEqual([])
  })
})

describe('whatever the definition and the results are', () => {
  const names = fc.constantFrom('a', 'b', 'c', 'd', 'elsewhere')
  const actions = fc.constantFrom('x', 'y', 'z.one', 'z.two')
  const patterns = fc.constantFrom('x', 'y', 'z.*', '*')
  const someFacts = fc.dictionary(
    fc.constantFrom('p', 'q', 'n', 'ok.x'),
    fc.oneof(fc.boolean(), fc.integer({ min: 1, max: 3 })),
    { maxKeys: 3 },
  ) as fc.Arbitrary<Facts>
  const transition = fc.record(
    { to: names, on: fc.record({ action: patterns, ok: fc.boolean() }), when: someFacts },
    { requiredKeys: ['to'] },
  )
  // Valid or not: what is stored was checked, and the rules must not depend on that to end.
  const protocols = fc
    .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 })
    .chain((list) =>
      fc.record({
        phases: fc.tuple(
          ...list.map((name) =>
            fc.record({
              name: fc.constant(name),
              allowedActions: fc.constant(['*']),
              needsApproval: fc.constant([]),
              transitions: fc.array(transition, { maxLength: 4 }),
            }),
          ),
        ),
        start: fc.constantFrom(...list),
      }),
    )
    .map(
      ({ phases, start }): Protocol => ({
        ...general,
        initialPhase: start,
        phases: phases as unknown as Protocol['phases'],
      }),
    )
  const results = fc.array(fc.record({ action: actions, ok: fc.boolean(), facts: someFacts }), {
    maxLength: 30,
  })

  test('advancing ends, in a phase that is declared, each one entered over a transition of the one before', () => {
    fc.assert(
      fc.property(protocols, results, (protocol, list) => {
        let at: { phase: string; facts: Facts } = { phase: protocol.initialPhase, facts: {} }
        for (const result of list) {
          const after = advance(protocol, at.phase, at.facts, result)
          expect(after.entered.length).toBeLessThanOrEqual(protocol.phases.length + 1)
          let from = at.phase
          for (const entered of after.entered) {
            expect(phaseOf(protocol, entered)).toBeDefined()
            expect(phaseOf(protocol, from)?.transitions.map(({ to }) => to)).toContain(entered)
            from = entered
          }
          expect(after.phase).toBe(from)
          at = after
        }
      }),
    )
  })

  test('a count of successes is never more than there were', () => {
    fc.assert(
      fc.property(protocols, results, (protocol, list) => {
        let at: { phase: string; facts: Facts } = { phase: protocol.initialPhase, facts: {} }
        for (const result of list) at = advance(protocol, at.phase, at.facts, result)
        const successes = list.filter(({ action, ok }) => ok && action === 'x').length
        expect(Number(at.facts[succeeded('x')] ?? 0)).toBeLessThanOrEqual(successes)
      }),
    )
  })

  test('advancing changes nothing of what it was given', () => {
    fc.assert(
      fc.property(protocols, someFacts, results, (protocol, facts, list) => {
        const given = structuredClone({ protocol, facts, list })
        for (const result of list) advance(protocol, protocol.initialPhase, facts, result)
        expect({ protocol, facts, list }).toEqual(given)
      }),
    )
  })
})

describe('a protocol’s name', () => {
  const versions = [1, 2, 10].map((version) => ({ ...general, id: 'sales', version }))
  const all = [...builtIn, ...versions]
  const named = (name: string, allowed: string[] | null = null) => {
    const found = resolve(all, name, allowed)
    return found instanceof Refusal ? found.code : `${found.id}@${found.version}`
  }
  test.each([
    ['sales', 'sales@10'],
    ['sales@2', 'sales@2'],
    ['sales@3', 'PROTOCOL_UNKNOWN'],
    ['sales@02', 'PROTOCOL_UNKNOWN'],
    ['sales@', 'PROTOCOL_UNKNOWN'],
    ['sales@2@2', 'PROTOCOL_UNKNOWN'],
    ['Sales', 'PROTOCOL_UNKNOWN'],
    ['', 'PROTOCOL_UNKNOWN'],
    ['general-task', 'general-task@1'],
  ])('%j is %s', (name, expected) => {
    expect(named(name)).toBe(expected)
  })
  test('names what the project allows, and the general one always', () => {
    expect(named('sales', ['data-analysis'])).toBe('PROTOCOL_NOT_AUTHORIZED')
    expect(named('sales', ['sales'])).toBe('sales@10')
    expect(named('general-task', [])).toBe('general-task@1')
    expect(named('gone', [])).toBe('PROTOCOL_UNKNOWN')
    expect([isAllowed('x', null), isAllowed('x', []), isAllowed('general-task', [])]).toEqual([
      true,
      false,
      true,
    ])
  })
})

describe('registering a version', () => {
  const there = [
    { version: 2, digest: 'two' },
    { version: 1, digest: 'one' },
  ]
  const registered = (version: number, digest: string, versions = there, isBuiltIn = false) => {
    const result = registration({ version, digest }, versions, isBuiltIn)
    return result instanceof Refusal ? result.code : result
  }
  test('writes the next one, does nothing for one that is there as it is, and refuses the rest', () => {
    expect(registered(1, 'any', [])).toBe(true)
    expect(registered(2, 'any', [])).toBe('CONFLICT')
    expect(registered(3, 'three')).toBe(true)
    expect(registered(4, 'four')).toBe('CONFLICT')
    expect(registered(2, 'two')).toBe(false)
    expect(registered(1, 'one')).toBe(false)
    expect(registered(1, 'two')).toBe('CONFLICT')
    expect(registered(1, 'any', [], true)).toBe('CONFLICT')
  })
})
