import { maxDefinitionBytes, readDefinition } from '@wheelhouse/server/domains/protocols/reading'
import { Refusal } from '@wheelhouse/server/platform/refusal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const read = (text: string, format: 'YAML' | 'JSON' = 'YAML') => {
  const result = readDefinition(text, format)
  return result instanceof Refusal ? result.detail.issues?.[0]?.message : result.value
}

describe('the text of a definition', () => {
  test('says the same in YAML and in JSON', () => {
    const yaml = `# The second look
id: refund-review
phases:
  - name: look
    allowedActions: [look, "act.*"]
    transitions:
      - { to: decide, when: { amount_known: true, seen: 2 } }
handoffTo: null
title: |
  Two
  lines
`
    const value = {
      id: 'refund-review',
      phases: [
        {
          name: 'look',
          allowedActions: ['look', 'act.*'],
          transitions: [{ to: 'decide', when: { amount_known: true, seen: 2 } }],
        },
      ],
      handoffTo: null,
      title: 'Two\nlines\n',
    }
    expect(read(yaml)).toEqual(value)
    expect(read(JSON.stringify(value, null, 2), 'JSON')).toEqual(value)
    expect(read(JSON.stringify(value))).toEqual(value)
  })

  test('in YAML may hold the signs of anchors, tags and structure in its words', () => {
    expect(
      read(
        'a: "*x"\nb: x & y\nc: |\n  &a *b !c\n  - - - ? [\nd: why? - well: !\n'.replace('well: ', 'well '),
      ),
    ).toEqual({
      a: '*x',
      b: 'x & y',
      c: '&a *b !c\n- - - ? [\n',
      d: 'why? - well !',
    })
  })

  test.each([
    ['an alias', 'a: &x [1]\nb: *x', /anchors, aliases or tags/],
    ['an anchor', 'a: &x 1', /anchors, aliases or tags/],
    ['a bomb', `a: &a [1,1]\n${'b: &b [*a,*a]\n'.repeat(20)}`, /anchors, aliases or tags/],
    ['a tag', 'a: !!binary aGk=', /anchors, aliases or tags/],
    ['a directive', '%YAML 1.1\n---\na: 1', /directives/],
    ['a key marked by ?', '? a\n: b', /marked by/],
    ['a key that is a list', '[a]: 1', /not a text/],
    ['two documents', 'a: 1\n---\nb: 1', /MULTIPLE_DOCS, line 2/],
    ['a key twice', 'a: 1\nb: 1\na: 2', /twice/],
    ['a key twice, written in two ways', 'a: 1\n"a": 2', /twice/],
    ['no end', 'a: [1', /line 1/],
    ['what is no number', 'a: .nan', /not a finite number/],
    ['NUL', 'a: "\\0"', /NUL/],
    ['too deep brackets', `${'['.repeat(30)}${']'.repeat(30)}`, /nested deeper/],
    [
      'too deep lines',
      Array.from({ length: 30 }, (_, n) => `${' '.repeat(n)}a:`).join('\n'),
      /nested deeper/,
    ],
    ['too deep on one line', '- '.repeat(30), /nested deeper/],
  ])('in YAML with %s is refused, and says why', (_, text, why) => {
    expect(read(text)).toMatch(why)
  })

  test.each([
    ['no JSON', '{a: 1}', /not JSON/],
    ['more behind it', '{} {}', /not JSON/],
    ['a key twice', '{"a": 1, "b": {"a": 1}, "a": 2}', /twice/],
    ['a key twice, written in two ways', '{"a": 1, "\\u0061": 2}', /twice/],
    ['too deep', `${'['.repeat(30)}${']'.repeat(30)}`, /nested deeper/],
    ['NUL', '{"a": "\\u0000"}', /NUL/],
  ])('in JSON with %s is refused, and says why', (_, text, why) => {
    expect(read(text, 'JSON')).toMatch(why)
  })

  test('in JSON may hold equal keys in different objects, and brackets in its words', () => {
    expect(read('[{"a": "}\\"{:"}, {"a": {"a": "a"}}]', 'JSON')).toEqual([{ a: '}"{:' }, { a: { a: 'a' } }])
  })

  test('is at most 64 KiB, counted in bytes', () => {
    const text = (bytes: number) => `"${'ü'.repeat((bytes - 2) / 2)}"`
    expect(read(text(maxDefinitionBytes), 'JSON')).toHaveLength((maxDefinitionBytes - 2) / 2)
    expect(read(text(maxDefinitionBytes + 2), 'JSON')).toMatch(/at most 65536 bytes/)
  })

  test('that would keep a parser busy or end it is refused', () => {
    const most = maxDefinitionBytes
    for (const part of [
      '[',
      '{',
      '- ',
      '? ',
      'a: ',
      '[]',
      '{a: ',
      '? - ',
      ': ',
      '"',
      '&a ',
      '*a ',
      '!a ',
      '- - a: ',
    ]) {
      expect(read(part.repeat(most / part.length)), part).toBeTypeOf('string')
    }
  })

  test('gives a value or a refusal, whatever it is made of', () => {
    const parts = [
      '- ',
      ': ',
      '[',
      ']',
      '{',
      '}',
      '\n',
      '  ',
      'a',
      'b:',
      '"',
      "'",
      '|\n',
      '#',
      '---\n',
      ' ',
      '\t',
      ',',
      '~',
      '1',
    ]
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...parts), { maxLength: 60 }),
        fc.constantFrom('YAML' as const, 'JSON' as const),
        (list, format) => {
          const result = readDefinition(list.join(''), format)
          if (result instanceof Refusal) expect(result.code).toBe('INVALID_INPUT')
          else expect(JSON.parse(JSON.stringify(result.value))).toEqual(result.value)
        },
      ),
      { numRuns: 500 },
    )
  })
})
