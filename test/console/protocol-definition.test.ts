import { builtIn } from '@wheelhouse/server/domains/protocols/built-in'
import { definitionSchema } from '@wheelhouse/server/domains/protocols/definition'
import { flawCodes } from '@wheelhouse/server/domains/protocols/validation/rules'
import { describe, expect, test } from 'vitest'
import {
  pathWords,
  placed,
  readDefinition,
  renamed,
} from '../../console/src/domains/protocols/definition-check.ts'
import { asWritten, textOf } from '../../console/src/domains/protocols/definition-text.ts'
import { previewOf } from '../../console/src/domains/protocols/preview.ts'
import { en } from '../../console/src/domains/protocols/text.en.ts'
import { zh } from '../../console/src/domains/protocols/text.zh.ts'

const good = `# Kept
id: refunds
version: 1
title: Refunds
initialPhase: look
phases:
  - name: look
    allowedActions: [ungoverned]
    transitions:
      - to: done
        when: { ready: true }
  - name: done
    final: true
`
const read = (text: string, format: 'YAML' | 'JSON' = 'YAML') =>
  readDefinition(text, format, definitionSchema, 'en')
/** Where each thing that is wrong is: its line, its path and what the text says there. */
const wrong = (text: string, format: 'YAML' | 'JSON' = 'YAML') =>
  read(text, format).issues.map(({ line, path, from, to }) => [line, pathWords(path), text.slice(from, to)])

describe('a definition held against the published schema', () => {
  for (const protocol of builtIn)
    test(`${protocol.id} is right, in both formats`, () => {
      for (const format of ['YAML', 'JSON'] as const) {
        const { value, issues } = read(textOf(asWritten(protocol), format), format)
        expect(issues).toEqual([])
        expect(value).toEqual(asWritten(JSON.parse(JSON.stringify(protocol))))
      }
    })

  test('what is wrong is marked at its place', () => {
    expect(wrong(good)).toEqual([])
    expect(wrong(good.replace('final: true', 'final: perhaps'))).toEqual([[13, 'phases[1].final', 'perhaps']])
    expect(wrong(good.replace('id: refunds', 'id: Refunds!'))).toEqual([[2, 'id', 'Refunds!']])
    expect(wrong(good.replace('title: Refunds\n', ''))).toEqual([[2, 'title', 'id: refunds']])
    expect(wrong(good.replace('to: done', 'too: done'))).toEqual([
      [10, 'phases[0].transitions[0].to', 'too: done'],
      [10, 'phases[0].transitions[0].too', 'too'],
    ])
    expect(wrong(good.replace('ready: true', '1ready: true'))).toEqual([
      [11, 'phases[0].transitions[0].when.1ready', '1ready'],
    ])
  })

  test('a text that can not be read says where it breaks, and has no value', () => {
    const broken = good.replace('[ungoverned]', '[ungoverned')
    expect(read(broken).value).toBeUndefined()
    expect(read(broken).issues).toHaveLength(1)
    expect(read('{"id": }', 'JSON').issues).toMatchObject([{ path: [], line: 1 }])
    expect(read(good, 'JSON').value).toBeUndefined()
  })

  test('it speaks the language of the reader', () => {
    const text = good.replace('version: 1', 'version: one')
    expect(read(text).issues[0]?.message).toMatch(/expected number/i)
    expect(readDefinition(text, 'YAML', definitionSchema, 'zh').issues[0]?.message).toMatch(/\p{Script=Han}/u)
  })
})

test('what the server found is marked where it is in the text as it is now, its code apart from its words', () => {
  const found = [
    {
      path: ['definition', 'phases', '0', 'transitions', '0', 'to'],
      message: 'UNKNOWN_PHASE: there is no such phase',
    },
    { path: ['definition'], message: 'must be at most 65536 bytes' },
  ]
  expect(placed(good, found)).toMatchObject([
    {
      code: 'UNKNOWN_PHASE',
      message: 'there is no such phase',
      line: 10,
      path: ['phases', '0', 'transitions', '0', 'to'],
    },
    { code: null, message: 'must be at most 65536 bytes', path: [] },
  ])
  const [issue] = placed(`\n${good}`, found)
  expect(issue?.line).toBe(11)
})

test('every flaw that the server names has words in both languages', () => {
  expect(Object.keys(en.flaws).sort()).toEqual(Object.keys(flawCodes).sort())
  expect(Object.keys(zh.flaws).sort()).toEqual(Object.keys(flawCodes).sort())
})

test('the next version keeps what was written, comments and all', () => {
  expect(renamed(good, { version: 12 })).toBe(good.replace('version: 1', 'version: 12'))
  expect(renamed(good, { id: 'my-refunds', version: 1 })).toBe(good.replace('refunds', 'my-refunds'))
  expect(renamed('{ "version":1, "id": "a" }', { id: 'b', version: 2 })).toBe('{ "version":2, "id": "b" }')
  expect(renamed('title: neither', { version: 2 })).toBe('title: neither')
})

test('a definition that is still wrong is drawn as far as it goes', () => {
  expect(previewOf(undefined)).toEqual({ phases: [], initialPhase: '' })
  expect(previewOf({ initialPhase: 7, phases: 'none' })).toEqual({ phases: [], initialPhase: '' })
  const phases = [
    {
      name: 'look',
      allowedActions: ['a', 7],
      transitions: [{ to: 'pay', on: { action: 'a' } }, { on: {} }, null],
    },
    { name: 'look', final: true },
    { title: 'no name' },
  ]
  expect(previewOf({ initialPhase: 'look', phases })).toEqual({
    initialPhase: 'look',
    phases: [
      {
        name: 'look',
        allowedActions: ['a'],
        needsApproval: [],
        final: false,
        transitions: [{ to: 'pay', on: { action: 'a', ok: true }, when: null }],
      },
    ],
  })
})
