import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import ErrorsPlugin from '@pothos/plugin-errors'
import RelayPlugin from '@pothos/plugin-relay'
import { decodeId, encodeId, type NodeRef, type NodeType } from '../platform/ids.ts'
import type { Json } from '../platform/journal.ts'
import { notFound } from '../platform/refusal.ts'
import type { Context } from './context.ts'
import { asGraphQLError } from './problems.ts'

export interface SchemaTypes {
  Context: Context
  DefaultFieldNullability: false
  DefaultEdgesNullability: { list: false; items: false }
  DefaultNodeNullability: false
  Scalars: {
    ID: { Input: string; Output: string }
    DateTime: { Input: Date; Output: Date }
    JSON: { Input: Json; Output: unknown }
  }
}

/** The same, with what Pothos adds by default: for the types of refs. */
export type BuilderTypes = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>

/** Costs of one operation: each field one, each page its length times its content, at most 200 000 in all. */
export const limits = { complexity: 200_000, depth: 15, breadth: 500 }

/** The spelling that node types use inside the schema: type and key in one text, as the Relay plugin wants it. */
const spell = (ref: NodeRef) => `${ref.projectId ?? ''}/${ref.id}/${ref.position ?? ''}`
export function unspell(type: NodeType, text: string): NodeRef {
  const [projectId, id, position] = text.split('/')
  const ref: NodeRef = { type, id: id ?? '' }
  if (projectId) ref.projectId = projectId
  if (position) ref.position = Number(position)
  return ref
}

/** The key of a node for its `id` field. */
export const nodeKey = (ref: Omit<NodeRef, 'type'>) => spell(ref as NodeRef)

const once = { field: 1, multiplier: 1 }

export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ErrorsPlugin, RelayPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  complexity: {
    defaultComplexity: 1,
    defaultListMultiplier: 10,
    limit: limits,
    complexityError: () =>
      asGraphQLError(
        'TOO_COMPLEX',
        'The operation asks for too much at once; ask for less a page, or in several requests.',
      ),
  },
  errors: { directResult: true },
  relay: {
    cursorType: 'String',
    // The length of a page is counted once, by the field that takes `first` (see `pageCost`).
    edgesFieldOptions: { nullable: { list: false, items: false }, complexity: once },
    nodeFieldOptions: { nullable: false },
    nodesOnConnection: { complexity: once },
    nodesQueryOptions: false,
    nodeTypeOptions: {
      description: 'Anything with a global id. Ids are opaque; they copy, link and paste everywhere.',
    },
    nodeQueryOptions: {
      description:
        'Any node by its id. What is missing and what you may not see are both null with a NOT_FOUND error.',
      nullable: true,
    },
    encodeGlobalID: (type, key) => encodeId(unspell(type as NodeType, String(key))),
    // A signal has an id to acknowledge it by, a requirement one to meet it by; neither is a node.
    decodeGlobalID: (id) => {
      const ref = decodeId(id)
      if (!ref || ref.type === 'RuntimeSignal' || ref.type === 'Requirement') throw notFound()
      return { typename: ref.type, id: spell(ref) }
    },
  },
})

builder.queryType({ description: 'Reads. Refusals are GraphQL errors with `extensions.code`.' })
builder.mutationType({
  description:
    'Writes. Each takes one `input` and answers a union of its success and problems. Who does not see a session (`session.read`, or `run.execute` as its runtime) may ask for no more than ids of what is answered of it.',
})
builder.subscriptionType({
  description: 'Watches, over graphql-ws on `/graphql`, or over server-sent events on the same path.',
})
