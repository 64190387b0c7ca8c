import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ExecutionResult, GraphQLError, getOperationAST, OperationTypeNode } from 'graphql'
import type { App } from '../app.ts'
import type { Viewer } from '../domains/access/rules.ts'
import { errorOf } from '../graphql/problems.ts'
import { Refusal } from '../platform/refusal.ts'
import { deliverSession, sessionEventsField } from './deliver.ts'
import { coded, type Engine, type OperationParams, prepare } from './engine.ts'

const keepAliveMs = 12_000

/**
 * GraphQL over server-sent events, in the distinct-connections form of the protocol: `next` events with results, then
 * `complete`. Events carry their position as id (a session's sequence, a project's cursor), so that a client that comes
 * back with `Last-Event-ID` goes on behind it. `curl -N` works.
 */
export async function serveEventStream(
  app: App,
  engine: Engine,
  viewer: Viewer | null,
  params: OperationParams,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const stream = openStream(response)
  const prepared = await prepare(engine, viewer, params)
  if (!('document' in prepared)) return stream.finish({ errors: prepared })
  const operation = getOperationAST(prepared.document, prepared.operationName)
  if (operation?.operation === OperationTypeNode.MUTATION && request.method !== 'POST') {
    return stream.finish({ errors: [coded(new GraphQLError('Can only perform a mutation by POST.'))] })
  }
  if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) {
    return stream.finish((await prepared.execute(prepared)) as ExecutionResult)
  }
  const selection = sessionEventsField(prepared)
  const last = request.headers['last-event-id']
  if (selection) {
    try {
      const after = last ? { after: sequenceOf(last) } : {}
      const delivery = await deliverSession(app, prepared, selection, stream, after)
      whenGone(response, delivery.leave)
      await delivery.done
      return stream.complete()
    } catch (error) {
      if (error instanceof Refusal) return stream.finish({ errors: [errorOf(error)] })
      if (error instanceof GraphQLError) return stream.finish({ errors: [error] })
      throw error
    }
  }
  const ids = { after: typeof last === 'string' && last !== '' ? last : null, latest: null as string | null }
  prepared.contextValue.eventIds = ids
  const result = (await prepared.subscribe(prepared)) as AsyncGenerator<ExecutionResult> | ExecutionResult
  if (!(Symbol.asyncIterator in result)) return stream.finish(result)
  whenGone(response, () => void result.return(undefined))
  for await (const each of result) await stream.send(JSON.stringify(each), ids.latest)
  stream.complete()
}

/** The sequence that a reader says it has reached. Going on from elsewhere than it thinks would hide what lies between. */
function sequenceOf(last: string | string[]): number {
  if (typeof last === 'string' && /^\d{1,10}$/.test(last)) return Number(last)
  throw new Refusal('INVALID_CURSOR', '`Last-Event-ID` is not an id of this stream.')
}

/** Calls `leave` when the reader is gone, also when it went before this call. */
function whenGone(response: ServerResponse, leave: () => void): void {
  if (response.destroyed) leave()
  else response.once('close', leave)
}

function openStream(response: ServerResponse) {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  response.flushHeaders()
  const keepAlive = setInterval(() => response.write(':\n\n'), keepAliveMs)
  response.once('close', () => clearInterval(keepAlive))
  const write = (text: string, id: number | string | null = null) =>
    response.write(`${id === null ? '' : `id: ${id}\n`}event: next\ndata: ${text}\n\n`)
  const complete = () => {
    clearInterval(keepAlive)
    response.end('event: complete\ndata:\n\n')
  }
  return {
    hasRoom: () => !response.writableNeedDrain && !response.destroyed,
    onRoom: (call: () => void) => {
      response.once('drain', call)
    },
    next: (text: string, cursor: number) => {
      write(text, cursor)
    },
    async send(text: string, id: string | null) {
      if (!write(text, id) && !response.destroyed) {
        await new Promise<void>((resolve) => {
          response.once('drain', resolve)
          response.once('close', resolve)
        })
      }
    },
    finish(result: { errors?: readonly GraphQLError[]; data?: unknown }) {
      write(JSON.stringify(result))
      complete()
    },
    complete,
  }
}
