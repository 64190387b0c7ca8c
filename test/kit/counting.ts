import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FragmentDefinitionNode, Kind, type OperationDefinitionNode, parse, print, visit } from 'graphql'
import { root } from './processes.ts'
import { statements } from './statements.ts'

export interface ConsoleQuery {
  name: string
  document: string
  /** Each variable with its type, and the field and argument that it is passed to. */
  variables: { name: string; type: string; field: string; argument: string }[]
}

/** Every query that the console sends, with the fragments that it spreads, as its sources say. */
export function consoleQueries(): ConsoleQuery[] {
  const fragments = new Map<string, FragmentDefinitionNode>()
  const queries: OperationDefinitionNode[] = []
  for (const file of readdirSync(join(root, 'console/src'), { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(file)) continue
    const source = readFileSync(join(root, 'console/src', file), 'utf8')
    for (const [, text = ''] of source.matchAll(/\bgraphql\(\s*`([^`]*)`/g)) {
      for (const definition of parse(text).definitions) {
        if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
        else if (definition.kind === Kind.OPERATION_DEFINITION && definition.operation === 'query')
          queries.push(definition)
      }
    }
  }
  return queries.map((query) => ({
    name: query.name?.value ?? '',
    document: withFragments(query, fragments),
    variables: passed(query),
  }))
}

function withFragments(
  query: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): string {
  const needed = new Map<string, FragmentDefinitionNode>()
  const collect = (node: OperationDefinitionNode | FragmentDefinitionNode) =>
    visit(node, {
      FragmentSpread({ name: { value } }) {
        const fragment = fragments.get(value)
        if (!fragment) throw new Error(`the console spreads ${value}, which it does not define`)
        if (needed.has(value)) return
        needed.set(value, fragment)
        collect(fragment)
      },
    })
  collect(query)
  // The directives of the console's own tools are none of the server's.
  const plain = [...needed.values()].map((fragment) => ({ ...fragment, directives: [] }))
  return [query, ...plain].map(print).join('\n')
}

function passed(query: OperationDefinitionNode): ConsoleQuery['variables'] {
  const places = new Map<string, { field: string; argument: string }>()
  visit(query, {
    Field({ name, arguments: args = [] }) {
      for (const argument of args)
        if (argument.value.kind === Kind.VARIABLE)
          places.set(argument.value.name.value, { field: name.value, argument: argument.name.value })
    },
  })
  return (query.variableDefinitions ?? []).map(({ variable, type }) => ({
    name: variable.name.value,
    type: print(type),
    ...(places.get(variable.name.value) ?? { field: '', argument: '' }),
  }))
}

/** The statements of one request. The least of three: what the server does besides only ever adds to it. */
export async function statementsOf(request: () => Promise<unknown>): Promise<number> {
  const counts = []
  for (let round = 0; round < 3; round += 1) counts.push(await statements(request))
  return Math.min(...counts)
}
