import { type GraphQLResolveInfo, Kind } from 'graphql'
import { decodeId, type NodeRef, type NodeType } from '../platform/ids.ts'
import { notFound } from '../platform/refusal.ts'

/** Hands a node on; what is missing, or not there for this caller, is NOT_FOUND. */
export async function found<T>(row: T | null | Promise<T | null>): Promise<T> {
  const it = await row
  if (it === null) throw notFound()
  return it
}

/** Reads an id argument. What can't name a node of this type answers like a missing one. */
export function refOf(type: NodeType, id: string): NodeRef {
  const ref = decodeId(id)
  if (ref?.type !== type) throw notFound()
  return ref
}

/** Whether nothing of a node is asked for but its id, which whoever has its key knows without reading it. */
export const asksForIdOnly = ({ fieldNodes }: GraphQLResolveInfo): boolean =>
  fieldNodes.every(({ selectionSet }) =>
    selectionSet?.selections.every(
      (each) => each.kind === Kind.FIELD && (each.name.value === 'id' || each.name.value === '__typename'),
    ),
  )
