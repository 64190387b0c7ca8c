import { type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql'
import type { EventRow } from '../domains/sessions/journal/operations.ts'
import { encodeId, idPrefixes } from '../platform/ids.ts'

/** Writes one event as the JSON text of a whole execution result. */
export type Projection = (event: EventRow) => string

const last = { projectId: '', sessionId: '', bytes: Buffer.alloc(0) }
/** The event's public id. Events come session by session, so the session's part of it is kept. */
function eventId({ projectId, sessionId, sequence }: EventRow): string {
  if (last.sessionId !== sessionId || last.projectId !== projectId) {
    const id = encodeId({ type: 'SessionEvent', projectId, id: sessionId, position: 0 })
    Object.assign(last, {
      projectId,
      sessionId,
      bytes: Buffer.from(id.slice(id.indexOf('_') + 1), 'base64url'),
    })
  }
  const { bytes } = last
  bytes.writeUIntBE(sequence, bytes.length - 6, 6)
  return `${idPrefixes.SessionEvent}_${bytes.toString('base64url')}`
}

const second = { number: Number.NaN, text: '' }
/** A moment as `toISOString` spells it. Events come close together, so the second's part of it is kept. */
function spelled(at: Date): string {
  const ms = at.getTime()
  const number = Math.floor(ms / 1_000)
  if (number !== second.number) Object.assign(second, { number, text: at.toISOString().slice(0, -4) })
  return `${second.text}${String(ms - number * 1_000).padStart(3, '0')}Z`
}

/** The event's own plain fields, as JSON text. They say exactly what the schema's resolvers say; a test compares them. */
const readers: Record<string, (event: EventRow) => string> = {
  __typename: () => '"SessionEvent"',
  id: (e) => `"${eventId(e)}"`,
  sequence: (e) => String(e.sequence),
  runSequence: (e) => (e.runSequence === null ? 'null' : String(e.runSequence)),
  runId: (e) =>
    e.runId === null ? 'null' : `"${encodeId({ type: 'Run', projectId: e.projectId, id: e.runId })}"`,
  type: (e) => `"${e.type}"`,
  payload: (e) => JSON.stringify(e.payload),
  at: (e) => `"${spelled(e.at)}"`,
}
const coversEvents = new Set(['SessionEvent', 'SessionWatchItem', 'Node'])

/**
 * Most watchers select nothing but plain fields of the event. For them the selection is turned into one function, since
 * executing it over and over costs more than everything else of a delivery. Null for any other selection, which GraphQL
 * executes.
 */
export function projectionOf(
  field: FieldNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): Projection | null {
  const keys = new Map<string, string>()
  if (!field.selectionSet || !collect(field.selectionSet, fragments, keys, 0)) return null
  const parts = [...keys].map(([key, name], index) => ({
    head: `${index === 0 ? '' : ','}${JSON.stringify(key)}:`,
    read: readers[name] as (event: EventRow) => string,
  }))
  const head = `{"data":{${JSON.stringify(field.alias?.value ?? field.name.value)}:{`
  return (event) => {
    let text = head
    for (const part of parts) text += part.head + part.read(event)
    return `${text}}}}`
  }
}

const maxNesting = 10

/** Gathers response keys in the order in which execution would; false for what is not plain. */
function collect(
  set: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  keys: Map<string, string>,
  depth: number,
): boolean {
  if (depth > maxNesting) return false
  return set.selections.every((selection) => {
    if (selection.directives && selection.directives.length > 0) return false
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value
      if (!readers[selection.name.value]) return false
      if (!keys.has(key)) keys.set(key, selection.name.value)
      return true
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
    if (!fragment) return false
    const condition = fragment.typeCondition?.name.value
    if (condition === 'WatchEnd') return true
    return (
      (condition === undefined || coversEvents.has(condition)) &&
      collect(fragment.selectionSet, fragments, keys, depth + 1)
    )
  })
}
