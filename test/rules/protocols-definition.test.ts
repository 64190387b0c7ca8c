import { builtIn } from '@wheelhouse/server/domains/protocols/built-in'
import { definitionSchema, parseProtocol } from '@wheelhouse/server/domains/protocols/definition'
import type { Protocol, StartRule } from '@wheelhouse/server/domains/protocols/rules'
import { startRuleHits } from '@wheelhouse/server/domains/routing/start-rules/rules'
import { readFacts } from '@wheelhouse/server/domains/runs/guard/rules'
import { Refusal } from '@wheelhouse/server/platform/refusal'
import fc from 'fast-check'
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

describe('a definition', () => {
  test('has its defaults filled in', () => {
    expect(parseProtocol(definition())).toEqual({
      ...definition(),
      phases: [
        { ...phase('look'), needsApproval: [], transitions: [to('decide')] },
        { ...phase('decide'), needsApproval: [], transitions: [], final: true },
      ],
      completion: { requiredFacts: {}, requirements: 'NONE', strict: false },
      extraction: false,
      handoffTo: null,
      staleIntent: 'ALLOW',
      startRules: [],
    })
  })

  test('of a built-in protocol is valid, and comes out as it went in', () => {
    for (const protocol of builtIn) expect(parseProtocol(protocol)).toEqual(protocol)
  })

  test('that was parsed is parsed to the same again', () => {
    const once = parseProtocol(definition())
    expect(parseProtocol(JSON.parse(JSON.stringify(once)))).toEqual(once)
  })

  test('holds nothing that it doesn’t know', () => {
    expect(flaws(definition({ surprise: 1 }))).toEqual([': Unrecognized key'])
    expect(flaws(definition(phases({ ...phase('look'), final: true, colour: 'red' })))).toEqual([
      'phases.0: Unrecognized key',
    ])
  })

  test.each([
    ['no object', 'text', ''],
    ['an id with capitals', definition({ id: 'Refunds' }), 'id'],
    ['an id that names a version', definition({ id: 'refunds@1' }), 'id'],
    ['version 0', definition({ version: 0 }), 'version'],
    ['half a version', definition({ version: 1.5 }), 'version'],
    ['no title', definition({ title: '  ' }), 'title'],
    ['no phases', definition(phases()), 'phases'],
    ['a star inside an action', definition({ governs: ['a*b'] }), 'governs.0'],
    ['an action with blanks around it', definition({ governs: [' look'] }), 'governs.0'],
    ['an empty action', definition({ governs: [''] }), 'governs.0'],
    ['governing everything', definition({ governs: ['*'] }), 'governs.0'],
    ['governing the ungoverned', definition({ governs: ['ungoverned'] }), 'governs.0'],
    [
      'a count of zero',
      definition({ completion: { requiredFacts: { seen: 0 } } }),
      'completion.requiredFacts.seen',
    ],
    [
      'a fact that is a text',
      definition({ completion: { requiredFacts: { seen: 'yes' } } }),
      'completion.requiredFacts.seen',
    ],
    [
      'successes that hold or don’t',
      definition({ completion: { requiredFacts: { 'ok.look': true } } }),
      'completion.requiredFacts.ok.look',
    ],
    [
      'successes of many actions',
      definition({ completion: { requiredFacts: { 'ok.act.*': 1 } } }),
      'completion.requiredFacts.ok.act.*',
    ],
    [
      'successes of whatever is ungoverned',
      definition({ completion: { requiredFacts: { 'ok.ungoverned': 1 } } }),
      'completion.requiredFacts.ok.ungoverned',
    ],
    [
      'successes of nothing',
      definition({ completion: { requiredFacts: { 'ok.': 1 } } }),
      'completion.requiredFacts.ok.',
    ],
    [
      'the result of whatever is ungoverned',
      definition(
        phases(phase('look', { final: true, transitions: [to('look', { on: { action: 'ungoverned' } })] })),
      ),
      'phases.0.transitions.0.on.action',
    ],
    ['a handoff to a version', definition({ handoffTo: ['general-task@1'] }), 'handoffTo.0'],
    [
      'a phrase without a letter',
      definition({ startRules: [{ id: 'X', anyOf: [{ all: [['*']] }] }] }),
      'startRules.0.anyOf.0.all.0.0',
    ],
    [
      'a star inside a phrase',
      definition({ startRules: [{ id: 'X', anyOf: [{ all: [['re*fund']] }] }] }),
      'startRules.0.anyOf.0.all.0.0',
    ],
    [
      'too many phrases',
      definition({
        startRules: ['A', 'B'].map((id) => ({
          id,
          anyOf: [{ all: [Array(500).fill('word')] }],
          noneOf: ['no'],
        })),
      }),
      'startRules',
    ],
  ])('with %s is refused at that place', (_, value, place) => {
    const result = parseProtocol(value) as Refusal
    expect(result).toBeInstanceOf(Refusal)
    expect(result.detail.issues?.map(({ path }) => path.slice(1).join('.'))).toEqual([place])
  })

  test('waits for no fact that a result can’t bring, and for every one that it can', () => {
    const part = fc.constantFrom('a', 'Z', '0', '_', '.', '-', ' ', 'ü', '*', 'ok.', 'f'.repeat(30))
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const name = parts.join('')
        const taken = parseProtocol(definition({ completion: { requiredFacts: { [name]: 1 } } }))
        const brought = !(readFacts({ [name]: 1 }) instanceof Refusal)
        if (!name.startsWith('ok.')) expect(!(taken instanceof Refusal), name).toBe(brought)
      }),
      { examples: [[['f'.repeat(30), 'f'.repeat(30), 'a', 'a', 'a']], [['a', ' ', 'a']], [['ok', 'a']]] },
    )
  })

  test('has its phrases in the form in which messages are read, so that they are found', () => {
    const [of, against] = ['  Re\u0301clamation ＡＢＣ ', 'ﬁne*']
    const protocol = parseProtocol(
      definition({ startRules: [{ id: 'X', anyOf: [{ all: [[of]] }], noneOf: [against] }] }),
    )
    const [rule] = (protocol as Protocol).startRules as [StartRule]
    expect(rule.anyOf).toEqual([{ all: [['Réclamation ABC']] }])
    for (const said of ['réclamation abc', 're\u0301clamation ａｂｃ!'])
      expect(startRuleHits(rule, said)).toBe(true)
    expect(startRuleHits(rule, 'A finer réclamation ABC')).toBe(false)
  })

  test('says of a fact’s name what it must be', () => {
    const result = parseProtocol(
      definition({ completion: { requiredFacts: { 'two words': true } } }),
    ) as Refusal
    expect(result.detail.issues?.[0]?.message).toMatch(/^must be a letter, then/)
  })

  test('that is wrong in many places names the first 20', () => {
    const many = definition({ governs: Array(60).fill('*') })
    expect((parseProtocol(many) as Refusal).detail.issues).toHaveLength(20)
  })

  test('never makes the parser fail, whatever it is', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 4 }), (value) => {
        expect(parseProtocol(value)).toBeInstanceOf(Refusal)
      }),
    )
  })
})

test('the JSON Schema names every part of a definition and allows no other', () => {
  const parsed = parseProtocol(definition()) as object
  expect(Object.keys(definitionSchema.properties ?? {}).sort()).toEqual(Object.keys(parsed).sort())
  expect(definitionSchema).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    additionalProperties: false,
    required: ['id', 'version', 'title', 'initialPhase', 'phases'],
  })
})
