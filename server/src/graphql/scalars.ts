import { GraphQLError, Kind, type ValueNode } from 'graphql'
import type { Json } from '../platform/journal.ts'
import { builder } from './builder.ts'

const instant = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)$/

function parseInstant(value: unknown): Date {
  if (typeof value === 'string' && value.length <= 40 && instant.test(value)) {
    const date = new Date(value)
    const year = date.getUTCFullYear()
    if (year >= 1970 && year <= 9999) return date
  }
  throw new GraphQLError('A DateTime is an RFC 3339 text with an offset, in the years 1970 to 9999.')
}

builder.scalarType('DateTime', {
  description:
    'An instant as RFC 3339 text with milliseconds, always UTC in answers. Input: any offset, 1970 to 9999.',
  serialize: (value) => value.toISOString(),
  parseValue: parseInstant,
})

function literal(
  node: ValueNode,
  variables: Record<string, unknown> | null | undefined,
  depth: number,
): Json {
  if (depth > 70) throw new GraphQLError('JSON is nested too deep.')
  switch (node.kind) {
    case Kind.NULL:
      return null
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value)
    case Kind.STRING:
    case Kind.BOOLEAN:
      return node.value
    case Kind.LIST:
      return node.values.map((item) => literal(item, variables, depth + 1))
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields.map((field) => [field.name.value, literal(field.value, variables, depth + 1)]),
      )
    case Kind.VARIABLE:
      return (variables?.[node.name.value] ?? null) as Json
    default:
      throw new GraphQLError('This is not JSON.')
  }
}

builder.scalarType('JSON', {
  description:
    'Any strict JSON value: no NaN or Infinity, no NUL, no lone surrogates, at most 64 levels deep.',
  serialize: (value) => value,
  parseValue: (value) => value as Json,
  parseLiteral: (node, variables) => literal(node, variables, 0),
})
