import { describe, expect, test } from 'vitest'
import { readEvidence } from '../../console/src/domains/routing/evidence.ts'
import { filterOf, routingSearch, unfiltered } from '../../console/src/domains/routing/search.ts'

describe('the evidence of a decision', () => {
  test('of a message: the task, what was said last, and what a model answered', () => {
    const task = { number: 2, protocol: 'data-analysis@1', text: 'Sales by region' }
    const answer = { relation: 'REFINE' }
    expect(
      readEvidence({ task, lastUserMessage: 'Sales by region', lastAssistantMessage: null, answer }),
    ).toEqual({
      task,
      lastUserMessage: 'Sales by region',
      lastAssistantMessage: null,
      answer,
      reason: null,
      looked: true,
      rest: {},
    })
  })

  test('there was no task: that was looked at, too', () => {
    const evidence = readEvidence({ task: null, lastUserMessage: null, lastAssistantMessage: null })
    expect(evidence).toMatchObject({ task: null, looked: true })
  })

  test('of an owner the reason, of a run that was restored what it was restored to', () => {
    expect(readEvidence({ reason: 'It is a task.' })).toMatchObject({
      reason: 'It is a task.',
      looked: false,
    })
    expect(readEvidence({ segment: 2, phase: 'scope' }).rest).toEqual({ segment: 2, phase: 'scope' })
  })

  test('of a shape that is not known, nothing is made up', () => {
    for (const value of [null, 'text', 7, [1], { task: 'text' }, { task: { number: '1' } }])
      expect(readEvidence(value)).toMatchObject({ task: null, reason: null })
  })
})

describe('the address of the routing page', () => {
  test('says every filter, and drops what is none', () => {
    const search = routingSearch.parse({
      relations: ['REFINE', 'REPLACE'],
      sources: ['NOBODY'],
      protocol: '',
      session: 'a',
      decision: 'd',
    })
    expect(filterOf(search)).toEqual({
      relations: ['REFINE', 'REPLACE'],
      sources: null,
      warnings: null,
      protocol: null,
      sessionId: 'a',
      after: null,
      before: null,
    })
  })

  test('without filters it hides nothing', () => {
    const search = routingSearch.parse({
      warnings: ['CLASSIFIER_OFF'],
      from: '2026-01-01T00:00:00.000Z',
      decision: 'd',
    })
    const after = { ...search, ...unfiltered }
    expect(Object.values(filterOf(after)).every((value) => value === null)).toBe(true)
    expect(after.decision).toBe('d')
  })
})
