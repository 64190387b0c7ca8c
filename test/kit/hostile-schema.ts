import type { NodeType } from '@wheelhouse/server/platform/ids'
import { refusalCodes } from '@wheelhouse/server/platform/refusal'
import {
  buildClientSchema,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  getNullableType,
  type IntrospectionQuery,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
} from 'graphql'
import type { Client } from './client.ts'
import { nodeOfField, nodeOfQuery, validArguments } from './hostile-names.ts'
import type { Slot } from './hostile-values.ts'
import { beyondProjects, type Side, validInputs } from './hostile-world.ts'

/** What errors may carry: a refusal's code, or GraphQL's own. INTERNAL is never one of them. */
export const knownCodes = new Set<string>([...Object.keys(refusalCodes), 'GRAPHQL_INVALID'])

export const readSchema = async (client: Client): Promise<GraphQLSchema> =>
  buildClientSchema(await client.query<IntrospectionQuery>(getIntrospectionQuery()))

/** One field that takes arguments: of the root types, or of a node. */
export interface Operation {
  /** `Query.sessions`, `Session.events`. */
  name: string
  kind: 'query' | 'mutation' | 'subscription'
  document: string
  args: readonly GraphQLArgument[]
  /** Who can call it: the owner of the side, or of everything. */
  caller(side: Side): Client
  /** Valid variables, made anew; ids are of this side. */
  variables(side: Side): Promise<Record<string, unknown>>
}

/**
 * Everything that can be selected down to `depth` objects, without fields that need arguments. Of what an interface
 * stands for, only what all have; of a union, each member's own plain values.
 */
export function selectionOf(
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  depth: number,
  inList = false,
): string {
  const named = getNamedType(type)
  if (isLeafType(named)) return ''
  if (isUnionType(named)) {
    const members = named
      .getTypes()
      .map(
        (member) =>
          `...on ${member.name}{__typename ${aliased(member.name, fieldsOf(schema, member, 0, false))}}`,
      )
    return `{__typename ${members.join(' ')}}`
  }
  if (!isObjectType(named) && !isInterfaceType(named)) return ''
  return `{__typename ${fieldsOf(schema, named, isInterfaceType(named) ? 0 : depth, inList)}}`
}

function fieldsOf(
  schema: GraphQLSchema,
  type: GraphQLObjectType | GraphQLInterfaceType,
  depth: number,
  inList: boolean,
): string {
  return Object.values(type.getFields())
    .filter((field) => !field.args.some(isRequiredArgument))
    .map((field) => {
      if (isLeafType(getNamedType(field.type))) return field.name
      if (depth <= 0 || field.name === 'edges') return ''
      const page = field.args.some((arg) => arg.name === 'first' || arg.name === 'last')
      // A page of each row of a list is another question than the list.
      if (page && inList) return ''
      const few = field.args.some((arg) => arg.name === 'first') ? '(first:5)' : ''
      const list = inList || isListType(getNullableType(field.type))
      return `${field.name}${few}${selectionOf(schema, field.type, depth - 1, list)}`
    })
    .filter(Boolean)
    .join(' ')
}

/** How deep a selection goes: a page's nodes count for one more. */
const depthOf = (type: GraphQLOutputType) => (getNamedType(type).name.endsWith('Connection') ? 2 : 1)

/**
 * Prefixes the top fields of a selection with an alias: members of a union may give one name different types, and each
 * is then selected under a name of its own.
 */
function aliased(member: string, selection: string): string {
  let level = 0
  return selection
    .split(/([{}]|\s+)/)
    .map((token) => {
      if (token === '{') level += 1
      if (token === '}') level -= 1
      if (level > 0 || !/^[a-z]/i.test(token)) return token
      return `${member}_${token.replace(/\W.*$/s, '')}:${token}`
    })
    .join('')
}

const problemFields =
  '...on Problem{__typename code message retryable} ...on InvalidInput{issues{path message}} ...on Conflict{current{__typename id}} ...on PermissionDenied{capability}'

/** Every operation of the served schema, and every field of a node that takes arguments. */
export function operationsOf(schema: GraphQLSchema): Operation[] {
  const operations: Operation[] = []
  const missing: string[] = []
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const
  for (const [kind, root] of roots) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      const declared = field.args.map((arg) => `$${arg.name}:${arg.type}`).join(',')
      const passed = field.args.map((arg) => `${arg.name}:$${arg.name}`).join(',')
      const selection =
        kind === 'mutation'
          ? `{__typename ...on ${successOf(field.name)}{${aliased('ok', fieldsOf(schema, schema.getType(successOf(field.name)) as GraphQLObjectType, 1, false))}} ${problemFields}}`
          : selectionOf(schema, field.type, depthOf(field.type))
      const make = validInputs[field.name]
      if (kind === 'mutation' && !make) missing.push(`Mutation.${field.name}: no valid input`)
      operations.push({
        name: `${root?.name}.${field.name}`,
        kind,
        document: `${kind}${declared && `(${declared})`}{${field.name}${passed && `(${passed})`}${selection}}`,
        args: field.args,
        caller: (side) => (beyondProjects.has(field.name) ? side.app.owner : side.owner),
        variables: async (side) =>
          kind === 'mutation' ? { input: await make?.(side) } : argumentsFor(field.name, field.args, side),
      })
    }
  }
  const nodes = schema.getType('Node')
  for (const type of isInterfaceType(nodes) ? schema.getPossibleTypes(nodes) : []) {
    for (const field of Object.values(type.getFields())) {
      if (field.args.length === 0) continue
      const declared = field.args.map((arg) => `$${arg.name}:${arg.type}`).join(',')
      const passed = field.args.map((arg) => `${arg.name}:$${arg.name}`).join(',')
      operations.push({
        name: `${type.name}.${field.name}`,
        kind: 'query',
        document: `query($node:ID!,${declared}){node(id:$node){...on ${type.name}{${field.name}(${passed})${selectionOf(schema, field.type, depthOf(field.type))}}}}`,
        args: field.args,
        caller: (side) => side.owner,
        variables: async (side) => ({
          node: side.ids[type.name as NodeType],
          ...argumentsFor(field.name, field.args, side),
        }),
      })
    }
  }
  for (const operation of operations)
    for (const arg of operation.args)
      for (const slot of slotsOf(operation, arg))
        if (slot.slot.type === 'ID' && slot.slot.node === undefined)
          missing.push(`${operation.name}: nobody says what the id ${slot.path.join('.')} names`)
  if (missing.length > 0)
    throw new Error(
      `New operations are not covered yet. Say in kit/hostile-world.ts what is valid for them:\n${missing.join('\n')}`,
    )
  return operations
}

const successOf = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}Success`

function argumentsFor(field: string, args: readonly GraphQLArgument[], side: Side): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const arg of args) {
    if (arg.name === 'id' && (isRequiredArgument(arg) || field === 'project')) {
      const type = nodeOfQuery[field]
      if (type === undefined) throw new Error(`nobody says what the id of ${field} names`)
      values.id = side.ids[type ?? 'Session']
    } else if (isRequiredArgument(arg) || arg.name === 'projectId') {
      const named = getNamedType(arg.type)
      const make = isEnumType(named) ? () => named.getValues()[0]?.name : validArguments[arg.name]
      if (!make) throw new Error(`nobody says what is valid for ${arg.name} of ${field}`)
      values[arg.name] = make(side)
    }
  }
  return values
}

export interface Place {
  path: (string | number)[]
  slot: Omit<Slot, 'foreign'>
}

/** Each field of an argument, down through its input objects. */
export function slotsOf(operation: Operation, arg: GraphQLArgument): Place[] {
  const places: Place[] = []
  const walk = (field: GraphQLArgument | GraphQLInputField, path: (string | number)[], seen: string[]) => {
    const named = getNamedType(field.type)
    const list = isListType(getNullableType(field.type) as GraphQLInputType)
    const rootField = operation.name.split('.')[1] ?? ''
    const node = field.name === 'id' ? nodeOfQuery[rootField] : nodeOfField[field.name]
    places.push({
      path,
      slot: {
        type: named.name,
        list,
        enumeration: isEnumType(named),
        object: isInputObjectType(named),
        cursor: field.name === 'after' || field.name === 'before',
        node: node as NodeType | null,
      },
    })
    if (!isInputObjectType(named) || seen.includes(named.name)) return
    for (const inner of Object.values(named.getFields()))
      walk(inner, [...path, ...(list ? [0] : []), inner.name], [...seen, named.name])
  }
  walk(arg, [arg.name], [])
  return places
}

/** A copy of the variables with one place set, or left out. Parts on the way that are not there become objects. */
export function withAt(
  variables: Record<string, unknown>,
  path: (string | number)[],
  value: unknown,
  absent: boolean,
): Record<string, unknown> {
  const copy = structuredClone(variables)
  let at: Record<string | number, unknown> = copy
  for (const [index, key] of path.slice(0, -1).entries()) {
    at[key] ??= typeof path[index + 1] === 'number' ? [{}] : {}
    at = at[key] as Record<string | number, unknown>
  }
  const last = path.at(-1) as string | number
  if (absent) delete at[last]
  else at[last] = value
  return copy
}
