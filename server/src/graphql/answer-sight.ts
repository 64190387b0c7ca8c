import {
  type GraphQLResolveInfo,
  getNamedType,
  isObjectType,
  isUnionType,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import { allows, type Capability, type Scope } from '../domains/access/rules.ts'
import { Refusal } from '../platform/refusal.ts'
import { type Context, viewerOf } from './context.ts'

/** What a session consists of: whoever reads one of these reads of the session, and from there all of it. */
const ofSession = new Set([
  'Action',
  'Approval',
  'Checkpoint',
  'InboxItem',
  'IntentRevision',
  'Message',
  'ProtocolSegment',
  'Requirement',
  'RouteDecision',
  'Run',
  'Session',
])
/** Who sees sessions; a runtime is sent the runs that it takes, with all that they are about. */
const sees: readonly Capability[] = ['session.read', 'run.execute']

interface Asked {
  name: string
  /** The type that the nearest fragment around it names. */
  on: string | null
  selectionSet: SelectionSetNode | undefined
}
/** Every field that a selection takes, those of fragments among them, whatever `@skip` says of it. */
function* fieldsOf(
  { selections }: SelectionSetNode,
  fragments: GraphQLResolveInfo['fragments'],
  on: string | null = null,
): Generator<Asked> {
  for (const each of selections) {
    if (each.kind === Kind.FIELD) yield { name: each.name.value, on, selectionSet: each.selectionSet }
    else {
      const selected = each.kind === Kind.INLINE_FRAGMENT ? each : fragments[each.name.value]
      if (selected)
        yield* fieldsOf(selected.selectionSet, fragments, selected.typeCondition?.name.value ?? on)
    }
  }
}

/** Whether more than the id of something that a session consists of is asked for, in the success or in a problem. */
function asksForSession({ fieldNodes, fragments, schema, returnType }: GraphQLResolveInfo): boolean {
  const union = getNamedType(returnType)
  const members = isUnionType(union) ? schema.getPossibleTypes(union) : []
  for (const { selectionSet } of fieldNodes)
    for (const field of selectionSet ? fieldsOf(selectionSet, fragments) : []) {
      if (!field.selectionSet) continue
      const types = members.flatMap((member) => member.getFields()[field.name]?.type ?? []).map(getNamedType)
      const shows = ({ name, on }: Asked) =>
        name !== 'id' &&
        name !== '__typename' &&
        types.some((type) => ofSession.has(isObjectType(type) ? type.name : (on ?? '')))
      if ([...fieldsOf(field.selectionSet, fragments)].some(shows)) return true
    }
  return false
}

/**
 * What a command shows of a session, it shows only to who may see it: to the others the ids alone. Asking for more is
 * PERMISSION_DENIED before anything is done, for an answer that can't be given must not be a change that was made.
 */
export function permitAnswer(scope: Scope, context: Context, info: GraphQLResolveInfo): void {
  const viewer = viewerOf(context)
  if (sees.some((capability) => allows(viewer, capability, scope)) || !asksForSession(info)) return
  throw new Refusal(
    'PERMISSION_DENIED',
    'This needs the capability session.read. Without it, ask for no more than the id of what is answered.',
    { capability: 'session.read' },
  )
}
