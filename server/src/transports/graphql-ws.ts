import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { GraphQLError, getOperationAST, OperationTypeNode } from 'graphql'
import { CloseCode, handleProtocols, makeServer } from 'graphql-ws'
import { type WebSocket, WebSocketServer } from 'ws'
import type { App } from '../app.ts'
import type { Viewer } from '../domains/access/rules.ts'
import { errorOf } from '../graphql/problems.ts'
import { Refusal } from '../platform/refusal.ts'
import { deliverSession, type Sink, sessionEventsField } from './deliver.ts'
import { checkVersion, type Engine, type Prepared, prepare, unnamed } from './engine.ts'

const limits = { id: 128, subscriptions: 64, inFlight: 32, messageIn: 1_048_576, messageOut: 8_388_608 }
const pingEveryMs = 12_000
/** How long the closing server waits for readers to take their last item. */
const lastItemMs = 1_000
/** Above this, deliveries wait in their watches, where they are bounded and can overflow. */
const socketBuffer = 65_536

interface Connection {
  socket: WebSocket
  request: IncomingMessage
  viewer: Viewer | null
  subscriptions: number
  inFlight: number
  /** Messages that are not counted as one or the other yet. */
  arriving: number
  room: Set<() => void>
}
type PreparedOverWs = Prepared & {
  ws: { connection: Connection; id: string; counted: 'subscriptions' | 'inFlight' }
}

/** graphql-ws on `/graphql`, with the token in `connection_init` or the console's cookie. */
export function createWebSockets(
  app: App,
  engine: Engine,
  /** The milliseconds to wait, for a caller who sends too much; counts HTTP and WebSockets together. */
  rateLimit: (caller: string) => number | null,
) {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.messageIn,
    perMessageDeflate: false,
    handleProtocols,
  })

  const connections = new Set<Connection>()
  const server = makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: 10_000,
    async onConnect(ctx) {
      const { token, api } = ctx.connectionParams ?? {}
      const refusal = checkVersion(api == null ? null : typeof api === 'object' ? '' : String(api))
      if (refusal) {
        ctx.extra.socket.close(CloseCode.BadRequest, refusal.code)
        return
      }
      const headers = new Headers()
      if (typeof token === 'string') {
        // What no header can carry is no token.
        headers.set('authorization', `Bearer ${/^[\x21-\x7e]*$/.test(token) ? token : ''}`)
      } else if (sameOrigin(app, ctx.extra.request) && ctx.extra.request.headers.cookie) {
        headers.set('cookie', ctx.extra.request.headers.cookie)
      }
      ctx.extra.viewer = await app.authenticate(headers)
      if (!ctx.extra.viewer) ctx.extra.socket.close(CloseCode.Forbidden, 'UNAUTHENTICATED')
    },
    async onSubscribe(ctx, id, payload) {
      const connection = ctx.extra
      // Every delivery repeats it.
      if (id.length > limits.id) connection.socket.close(CloseCode.BadRequest, 'The id is too long')
      const most = limits.subscriptions + limits.inFlight
      // Before anything is read for it: what waits for its turn is bounded too.
      if (connection.arriving >= most) return [tooMany(most)]
      connection.arriving += 1
      try {
        const viewer = await current(app, connection)
        const retryAfterMs = viewer && rateLimit(viewer.tokenId ?? viewer.principalId)
        if (retryAfterMs !== null)
          return [
            errorOf(new Refusal('RATE_LIMITED', 'Too many requests from this token.', { retryAfterMs })),
          ]
        const prepared = await prepare(engine, viewer, payload)
        if (!('document' in prepared)) return prepared
        const operation = getOperationAST(prepared.document, prepared.operationName)
        if (!operation) return [unnamed()]
        const counted = operation.operation === OperationTypeNode.SUBSCRIPTION ? 'subscriptions' : 'inFlight'
        if (connection[counted] >= limits[counted]) return [tooMany(limits[counted])]
        connection[counted] += 1
        return Object.assign(prepared, { ws: { connection, id, counted } }) as never
      } finally {
        connection.arriving -= 1
      }
    },
    execute: (async (args: PreparedOverWs) => {
      try {
        return await args.execute(args)
      } finally {
        args.ws.connection.inFlight -= 1
      }
    }) as never,
    subscribe: ((args: PreparedOverWs) => subscribe(app, args)) as never,
  })

  sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const connection: Connection = {
      socket,
      request,
      viewer: null,
      subscriptions: 0,
      inFlight: 0,
      arriving: 0,
      room: new Set(),
    }
    connections.add(connection)
    let alive = true
    socket.on('pong', () => {
      alive = true
    })
    const ping = setInterval(() => {
      if (!alive) return socket.terminate()
      alive = false
      socket.ping()
    }, pingEveryMs)
    const closed = server.opened(
      {
        protocol: socket.protocol,
        send: (data) =>
          new Promise((resolve, reject) => {
            if (socket.readyState !== socket.OPEN) return resolve()
            if (Buffer.byteLength(data) > limits.messageOut)
              return resolve(socket.close(CloseCode.BadResponse, 'The answer is too large'))
            socket.send(data, (error) => (error ? reject(error) : resolve()))
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) => {
          socket.on('message', (data) => {
            handle(String(data)).catch((error: unknown) => {
              if (socket.readyState !== socket.OPEN) return
              app.log.error({ err: error }, 'a WebSocket message could not be handled')
              socket.close(CloseCode.InternalServerError, 'Internal error')
            })
          })
        },
      },
      connection,
    )
    socket.on('error', () => socket.terminate())
    socket.once('close', (code, reason) => {
      clearInterval(ping)
      connections.delete(connection)
      void closed(code, String(reason))
    })
  })

  return {
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
      sockets.handleUpgrade(request, socket, head, (ws) => sockets.emit('connection', ws, request))
    },
    get connections() {
      return sockets.clients.size
    },
    async close(graceMs: number) {
      // Every subscription has been ended by now; its last item is still on its way.
      const told = Date.now() + lastItemMs
      while ([...connections].some((each) => each.subscriptions > 0) && Date.now() < told)
        await new Promise((resolve) => setTimeout(resolve, 5))
      for (const client of sockets.clients) client.close(1001, 'SHUTTING_DOWN')
      const deadline = Date.now() + graceMs
      while (sockets.clients.size > 0 && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 25))
      for (const client of sockets.clients) client.terminate()
      sockets.close()
    },
  }
}

const tooMany = (most: number) =>
  errorOf(new Refusal('RATE_LIMITED', `One connection carries at most ${most} of these at once.`))

/** Rights are read for each operation, not once per connection: a connection may live for days. */
async function current(app: App, connection: Connection): Promise<Viewer | null> {
  if (!connection.viewer) return null
  const [viewer] = await app.refreshViewers([connection.viewer])
  connection.viewer = viewer ?? null
  return connection.viewer
}

/** A cookie counts only on a connection that our own pages opened. */
function sameOrigin(app: App, request: IncomingMessage): boolean {
  const { origin, host } = request.headers
  if (!origin) return false
  try {
    return new URL(origin).host === host || origin === app.config.publicUrl
  } catch {
    return false
  }
}

async function subscribe(app: App, args: PreparedOverWs): Promise<unknown> {
  const { connection, id } = args.ws
  const release = () => {
    connection.subscriptions -= 1
  }
  const gone = () => connection.socket.readyState !== connection.socket.OPEN
  const selection = sessionEventsField(args)
  if (!selection) {
    const stream = releasing(await args.subscribe(args), release)
    // Nobody would end what was opened for a connection that has closed meanwhile.
    if (gone() && isStream(stream)) await stream.return?.()
    return stream
  }
  try {
    const delivery = await deliverSession(app, args, selection, sinkOf(connection, id))
    if (gone()) delivery.leave()
    return until(delivery, release)
  } catch (error) {
    release()
    if (error instanceof Refusal) return { errors: [errorOf(error)] }
    if (error instanceof GraphQLError) return { errors: [error] }
    throw error
  }
}

/** Frames of the protocol, written straight to the socket: several of one turn of the event loop leave in one write. */
function sinkOf(connection: Connection, id: string): Sink {
  const { socket } = connection
  const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`
  const sent = () => {
    if (connection.room.size === 0 || socket.bufferedAmount >= socketBuffer) return
    const waiting = [...connection.room]
    connection.room.clear()
    for (const each of waiting) each()
  }
  return {
    hasRoom: () => socket.readyState === socket.OPEN && socket.bufferedAmount < socketBuffer,
    onRoom: (call) => {
      connection.room.add(call)
    },
    next: (text) => {
      if (socket.readyState !== socket.OPEN) return
      cork(socket)
      socket.send(`${head}${text}}`, sent)
    },
  }
}

interface Corkable {
  _socket: { cork(): void; uncork(): void; destroyed: boolean; writableCorked: number } | null
}
function cork(socket: WebSocket): void {
  const raw = (socket as unknown as Corkable)._socket
  if (!raw || raw.writableCorked > 0) return
  raw.cork()
  process.nextTick(() => raw.uncork())
}

/** What graphql-ws waits on: nothing is yielded, the frames are out already; it ends when the delivery ends. */
function until(delivery: { done: Promise<void>; leave(): void }, release: () => void) {
  let released = false
  const finish = () => {
    if (!released) release()
    released = true
    return { value: undefined, done: true as const }
  }
  return {
    next: () => delivery.done.then(finish),
    return: async () => {
      delivery.leave()
      return finish()
    },
    throw: async (error: unknown) => {
      delivery.leave()
      finish()
      throw error
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

const isStream = (value: unknown): value is AsyncIterableIterator<unknown> =>
  typeof (value as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator] === 'function'

/** Counts a subscription out when its stream ends, however it ends. */
function releasing(result: unknown, release: () => void): unknown {
  const stream = result as AsyncIterator<unknown> & AsyncIterable<unknown>
  if (!isStream(result)) {
    release()
    return result
  }
  let released = false
  const once = () => {
    if (!released) release()
    released = true
  }
  return {
    next: async () => {
      const step = await stream.next()
      if (step.done) once()
      return step
    },
    return: async (value: unknown) => {
      once()
      return stream.return?.(value) ?? { value, done: true }
    },
    throw: async (error: unknown) => {
      once()
      throw error
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
