import { randomUUID } from 'node:crypto'
import type { EventRow } from '@wheelhouse/server/domains/sessions/journal/operations'
import { schema } from '@wheelhouse/server/graphql/schema'
import { sessionEventTypes } from '@wheelhouse/server/platform/journal'
import { projectionOf } from '@wheelhouse/server/transports/projection'
import fc from 'fast-check'
import { execute, type FragmentDefinitionNode, Kind, type OperationDefinitionNode, parse } from 'graphql'
import { describe, expect, test } from 'vitest'

const event = fc.record({
  projectId: fc.constantFrom(randomUUID(), randomUUID()),
  sessionId: fc.constant(randomUUID()),
  sequence: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  runId: fc.option(fc.constant(randomUUID())),
  runSequence: fc.option(fc.integer({ min: 1, max: 1_000 })),
  type: fc.constantFrom(...sessionEventTypes),
  payload: fc.dictionary(fc.string(), fc.jsonValue()),
  // Events of one second, as most are, and of any time.
  at: fc.oneof(
    fc.date({
      min: new Date('1969-12-31T23:59:59Z'),
      max: new Date('1970-01-01T00:00:01Z'),
      noInvalidDate: true,
    }),
    fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
  ),
}) as fc.Arbitrary<EventRow>

function read(query: string) {
  const document = parse(query)
  const operation = document.definitions.find(
    (each) => each.kind === Kind.OPERATION_DEFINITION,
  ) as OperationDefinitionNode
  const field = operation.selectionSet.selections[0]
  if (field?.kind !== Kind.FIELD) throw new Error('no field')
  const fragments = document.definitions.filter(
    (each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION,
  )
  return {
    document,
    projection: projectionOf(field, new Map(fragments.map((each) => [each.name.value, each]))),
  }
}

const plain = [
  'subscription { sessionEvents(sessionId: "x") { ... on SessionEvent { sequence type payload at } ... on WatchEnd { reason } } }',
  'subscription { w: sessionEvents(sessionId: "x") { __typename ... on SessionEvent { id n: sequence runSequence runId type } } }',
  `subscription { sessionEvents(sessionId: "x") { ...Item } }
   fragment Item on SessionWatchItem { __typename ... on SessionEvent { ...Event } ... on WatchEnd { resumeAfter earliest } }
   fragment Event on SessionEvent { payload sequence ... { at sequence } }`,
  'subscription { sessionEvents(sessionId: "x") { ... on Node { id } ... on SessionEvent { type again: type } } }',
]

describe('a plain selection is written', () => {
  test.each(plain)('as execution would write it: %s', async (query) => {
    const { document, projection } = read(query)
    expect(projection).not.toBeNull()
    await fc.assert(
      fc.asyncProperty(event, async (item) => {
        const result = await execute({ schema, document, rootValue: { item }, contextValue: {} })
        expect(projection?.(item)).toBe(JSON.stringify(result))
      }),
      { seed: 7, numRuns: 50 },
    )
  })
})

test.each([
  'subscription { sessionEvents(sessionId: "x") { ... on SessionEvent { run { id } } } }',
  'subscription { sessionEvents(sessionId: "x") { ... on SessionEvent { detail { __typename } } } }',
  'subscription($on: Boolean!) { sessionEvents(sessionId: "x") { ... on SessionEvent { type @include(if: $on) } } }',
  'subscription { sessionEvents(sessionId: "x") { ... on SessionEvent @skip(if: true) { type } } }',
])('a selection that is not plain is left to execution: %s', (query) => {
  expect(read(query).projection).toBeNull()
})
