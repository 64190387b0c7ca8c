import { describe, expect, test } from 'vitest'
import { compareProtocols } from '../../console/src/domains/protocols/compare.ts'
import { asWritten, textOf } from '../../console/src/domains/protocols/definition-text.ts'

type Version = Parameters<typeof compareProtocols>[0]
const look = {
  name: 'look',
  allowedActions: ['orders.read'],
  needsApproval: [],
  final: false,
  transitions: [
    { to: 'pay', on: { action: 'orders.read', ok: true }, when: null },
    { to: 'done', on: null, when: { refused: true } },
  ],
}
const done = { name: 'done', allowedActions: [], needsApproval: [], final: true, transitions: [] }
const first: Version = {
  title: 'Refunds',
  initialPhase: 'look',
  phases: [look, done],
  governs: ['refund.pay'],
  handoffTo: null,
  staleIntent: 'ALLOW',
  extraction: false,
  completion: { requiredFacts: { paid: true, rows: 2 }, requirements: 'NONE', strict: false },
  startRules: [{ id: 'ASKED', anyOf: [{ all: [['refund']] }], noneOf: [] }],
}

describe('what differs from one version to the next', () => {
  test('nothing, where only the order of keys does', () => {
    const again = { ...first, completion: { ...first.completion, requiredFacts: { rows: 2, paid: true } } }
    expect(compareProtocols(first, again)).toEqual([])
  })

  test('what a phase allows, asks for, leads to, and whether work may end there', () => {
    const next = {
      ...look,
      allowedActions: ['customers.read'],
      needsApproval: ['customers.read'],
      final: true,
      transitions: look.transitions.slice(1),
    }
    expect(compareProtocols(first, { ...first, phases: [next, done] })).toEqual([
      {
        of: 'phase',
        name: 'look',
        sign: '~',
        parts: [
          { part: 'actions', sign: '-', action: 'orders.read' },
          { part: 'actions', sign: '+', action: 'customers.read' },
          { part: 'approvals', sign: '+', action: 'customers.read' },
          { part: 'transitions', sign: '-', transition: look.transitions[0] },
          { part: 'final', sign: '+' },
        ],
      },
    ])
  })

  test('the order in which ways on are tried, for the first that applies is taken', () => {
    const next = { ...look, transitions: look.transitions.toReversed() }
    expect(compareProtocols(first, { ...first, phases: [next, done] })).toEqual([
      { of: 'phase', name: 'look', sign: '~', parts: [{ part: 'order', sign: '+' }] },
    ])
  })

  test('phases and start rules that came and went', () => {
    const next: Version = {
      ...first,
      phases: [look, { ...done, name: 'settled' }],
      startRules: [{ id: 'WRITTEN', anyOf: [{ all: [['refund']] }], noneOf: [] }],
    }
    expect(compareProtocols(first, next)).toEqual([
      { of: 'phase', name: 'settled', sign: '+', parts: [] },
      { of: 'phase', name: 'done', sign: '-', parts: [] },
      { of: 'startRule', name: 'WRITTEN', sign: '+' },
      { of: 'startRule', name: 'ASKED', sign: '-' },
    ])
  })

  test('lists by what came and went, values by what they were; any protocol to hand off to is a value', () => {
    const next: Version = {
      ...first,
      title: 'Refund review',
      governs: ['refund.decline'],
      handoffTo: ['general-task'],
      staleIntent: 'BLOCK',
      completion: { ...first.completion, strict: true },
    }
    expect(compareProtocols(first, next)).toEqual([
      { of: 'value', name: 'title', before: 'Refunds', after: 'Refund review' },
      { of: 'list', name: 'governs', added: ['refund.decline'], removed: ['refund.pay'] },
      { of: 'value', name: 'handoffTo', before: null, after: '["general-task"]' },
      { of: 'value', name: 'staleIntent', before: 'ALLOW', after: 'BLOCK' },
      { of: 'value', name: 'strict', before: 'false', after: 'true' },
    ])
  })
})

test('a definition is written as a person writes it: in their order, without what is there by default', () => {
  const kept = {
    completion: { strict: false, requiredFacts: {}, requirements: 'NONE' },
    extraction: false,
    governs: [],
    handoffTo: null,
    id: 'refunds',
    initialPhase: 'look',
    phases: [
      {
        final: true,
        name: 'look',
        allowedActions: ['ungoverned'],
        needsApproval: [],
        transitions: [{ when: { ready: false }, to: 'look', on: { ok: false, action: 'a' } }],
      },
    ],
    staleIntent: 'ALLOW',
    startRules: [],
    title: 'Refunds',
    version: 1,
  }
  expect(textOf(asWritten(kept), 'YAML')).toBe(`id: refunds
version: 1
title: Refunds
initialPhase: look
phases:
  - name: look
    allowedActions:
      - ungoverned
    transitions:
      - to: look
        on:
          action: a
          ok: false
        when:
          ready: false
    final: true
`)
  expect(textOf(asWritten({ ...kept, staleIntent: 'BLOCK', handoffTo: [] }), 'YAML')).toContain(
    'handoffTo: []\nstaleIntent: BLOCK\n',
  )
})
