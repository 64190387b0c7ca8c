import {
  type ExecutionResult,
  execute,
  type FieldNode,
  getNamedType,
  getOperationAST,
  isLeafType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { getArgumentValues, getVariableValues } from 'graphql/execution/values.js'
import type { App } from '../app.ts'
import { openSessionWatch, type SessionEventsArgs } from '../domains/sessions/journal/graphql.ts'
import type { EventRow } from '../domains/sessions/journal/operations.ts'
import type { Context } from '../graphql/context.ts'
import type { End } from '../platform/watch.ts'
import { coded, createContext, maskError, type Prepared } from './engine.ts'
import { type Projection, projectionOf } from './projection.ts'

/*
 * The hot path of the product: one event to very many watchers. What a watcher selected is looked at once per document;
 * a selection that reads nothing but the event itself is serialised once per event for all who share it, and a plain one
 * without being executed at all.
 */

interface Selection {
  field: FieldNode
  /** Whether every selected field is the event's own, so that all viewers get the same text. */
  shared: boolean
  /** For plain selections: what writes an event, without executing anything. */
  projection: Projection | null
}

const selections = new WeakMap<object, Map<string, Selection | null>>()
const ownTypes = new Set(['SessionEvent', 'WatchEnd', 'TextDetail', 'ToolDetail', 'UsageDetail', 'Usage'])

/** The `sessionEvents` field of an operation that is nothing else; null for every other operation. */
export function sessionEventsField(prepared: Prepared): Selection | null {
  const name = prepared.operationName ?? ''
  let byName = selections.get(prepared.document)
  if (!byName) {
    byName = new Map()
    selections.set(prepared.document, byName)
  }
  const known = byName.get(name)
  if (known !== undefined) return known
  const selection = analyse(prepared)
  byName.set(name, selection)
  return selection
}

function analyse({ schema, document, operationName }: Prepared): Selection | null {
  const operation = getOperationAST(document, operationName)
  const [field, ...rest] = operation?.selectionSet.selections ?? []
  if (operation?.operation !== 'subscription' || field?.kind !== Kind.FIELD || rest.length > 0) return null
  if (field.name.value !== 'sessionEvents') return null
  let shared = true
  const info = new TypeInfo(schema)
  visit(
    document,
    visitWithTypeInfo(info, {
      Field(node) {
        if (node === field) return
        const parent = info.getParentType()?.name ?? ''
        const type = getNamedType(info.getType())
        const composite = type && !isLeafType(type)
        if (!ownTypes.has(parent) && node.name.value !== '__typename') shared = false
        if (composite && !ownTypes.has(type.name) && type.name !== 'SessionEventDetail') shared = false
      },
      Directive(node, _key, _parent, _path, ancestors) {
        // What is included must not depend on anybody's variables.
        if (
          !ancestors.includes(field) ||
          node.arguments?.some((argument) => argument.value.kind === Kind.VARIABLE)
        )
          shared = false
      },
    }),
  )
  const fragments = new Map(
    document.definitions.flatMap((each) =>
      each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [],
    ),
  )
  return { field, shared, projection: shared ? projectionOf(field, fragments) : null }
}

type Taken = { item: EventRow } | { end: End<number> }

/** What has been written of an event, a promise while the first watcher's delivery is being made. */
interface Text {
  selection: Selection
  text: string | Promise<string>
  /** Of another selection. */
  other: Text | undefined
}
const texts = Symbol('texts')
/** Kept on the event itself: a weak map of tens of thousands of them costs more to collect than writing them. */
type Written = EventRow & { [texts]?: Text }

/**
 * One delivery as the JSON text of its execution result. An event wakes all its watchers in one turn: the first to ask
 * executes, and the others get its text, made or in the making.
 */
export function render(
  app: App,
  prepared: Prepared,
  selection: Selection,
  taken: Taken,
): string | Promise<string> {
  if (!selection.shared || !('item' in taken))
    return perform(app, prepared, taken, createContext(app, prepared.contextValue.viewer))
  const event: Written = taken.item
  let known = event[texts]
  while (known && known.selection !== selection) known = known.other
  if (known) return known.text
  // Nothing in a shared selection looks at its caller, so any watcher's context does.
  const text = selection.projection
    ? selection.projection(event)
    : perform(app, prepared, taken, prepared.contextValue)
  const made: Text = { selection, text, other: event[texts] }
  event[texts] = made
  if (typeof text !== 'string')
    text.then(
      (done) => {
        made.text = done
      },
      () => {},
    )
  return text
}

async function perform(app: App, prepared: Prepared, taken: Taken, contextValue: Context): Promise<string> {
  const result = (await execute({
    schema: prepared.schema,
    document: prepared.document,
    operationName: prepared.operationName,
    variableValues: prepared.variableValues,
    contextValue,
    rootValue: taken,
    fieldResolver: undefined,
  })) as ExecutionResult
  const errors = result.errors?.map((error) => maskError(app, error, contextValue.requestId))
  return JSON.stringify(errors ? { ...result, errors } : result)
}

/** Where deliveries go: a WebSocket or a server-sent stream. */
export interface Sink {
  /** Whether it takes more now; if not, `onRoom` is called later. */
  hasRoom(): boolean
  onRoom(call: () => void): void
  /** Sends one execution result. `cursor` is the position behind it. */
  next(text: string, cursor: number): void
}

/** The variables as the schema reads them: checked, defaults filled in. Throws GraphQL's own error. */
function coerced({ schema, document, operationName, variableValues }: Prepared): Record<string, unknown> {
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? []
  const { coerced: values, errors } = getVariableValues(schema, definitions, variableValues, { maxErrors: 1 })
  if (values) return values
  throw coded(errors?.[0])
}

/**
 * Serves one `sessionEvents` operation into a sink, as fast as the sink takes it. Resolves when the watch has ended and
 * its end was sent, or when `leave` was called. Refusals are thrown before anything is registered.
 */
export async function deliverSession(
  app: App,
  prepared: Prepared,
  selection: Selection,
  sink: Sink,
  overrides: Partial<SessionEventsArgs> = {},
): Promise<{ done: Promise<void>; leave(): void }> {
  const definition = prepared.schema.getSubscriptionType()?.getFields().sessionEvents
  if (!definition) throw new Error('the schema has no sessionEvents')
  const args = getArgumentValues(
    definition,
    selection.field,
    coerced(prepared),
  ) as unknown as SessionEventsArgs
  const watch = await openSessionWatch(prepared.contextValue, { ...args, ...overrides })
  let finish: () => void = () => {}
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  let pumping = false
  let waiting = false
  /** The end is on its way: whoever waits for `done` has to wait for it. */
  let ending = false
  const pump = async () => {
    if (pumping) return
    pumping = true
    try {
      while (!watch.gone && sink.hasRoom()) {
        const taken = watch.take()
        if (!taken) break
        ending = 'end' in taken
        const made = render(app, prepared, selection, taken)
        const text = typeof made === 'string' ? made : await made
        if ('end' in taken) {
          sink.next(text, taken.end.resumeAfter)
          finish()
          return
        }
        sink.next(text, taken.item.sequence)
      }
      if (!watch.gone && !sink.hasRoom() && !waiting) {
        waiting = true
        sink.onRoom(() => {
          waiting = false
          void pump()
        })
      }
    } catch (error) {
      app.log.error({ err: error }, 'a watched event could not be delivered')
      watch.leave()
      finish()
    } finally {
      pumping = false
    }
  }
  // A wake-up during a pump is not lost: the pump takes until there is nothing.
  watch.onReadable(() => {
    if (!watch.gone) void pump()
    else if (!ending) finish()
  })
  void pump()
  return {
    done,
    leave: () => {
      watch.leave()
      finish()
    },
  }
}
