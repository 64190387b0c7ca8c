import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServerAdapter } from '@whatwg-node/server'
import type { App } from '../app.ts'
import { Refusal } from '../platform/refusal.ts'
import { serveConsole } from './console.ts'
import { checkVersion, createEngine, type OperationParams } from './engine.ts'
import { createWebSockets } from './graphql-ws.ts'
import { answerPlainly } from './plain.ts'
import { createRateLimit } from './rate-limit.ts'
import { refusalResponse } from './refusal-response.ts'
import { serveEventStream } from './sse.ts'

export interface Server {
  listen(port: number, host: string): Promise<string>
  close(): Promise<void>
}

const maxBody = 8_388_608
/** Of what is no GraphQL: credentials. */
const maxSmallBody = 65_536
const graceMs = 10_000

/** Everything that listens: GraphQL over HTTP, server-sent events and WebSockets, sign-in, exports, health, console. */
export async function openServer(app: App): Promise<Server> {
  const engine = createEngine(app)
  const rateLimit = createRateLimit(app.clock, { window: 60, max: app.config.rateLimit })
  const sockets = createWebSockets(app, engine, rateLimit)
  const serveStatic = serveConsole()
  let stopping = false
  const streams = new Set<ServerResponse>()

  /** Endpoints outside GraphQL, in the order in which they are asked; null: not mine. */
  const rest = createServerAdapter<{ address: string }>(async (request, server) => {
    try {
      for (const endpoint of app.endpoints) {
        const response = await endpoint(request, server.address)
        if (response) return response
      }
      return refusalResponse(new Refusal('NOT_FOUND', 'There is nothing here.'))
    } catch (error) {
      // The adapter would answer with the stack.
      app.log.error({ err: error, path: new URL(request.url).pathname }, 'an endpoint failed')
      return Response.json({ code: 'INTERNAL', message: 'Something went wrong here.' }, { status: 500 })
    }
  })

  async function graphql(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refuse = (status: number, refusal: Refusal) => answerErrors(response, status, refusal)
    if (hasLargeBody(request, maxBody)) return refuseBody(request, response, maxBody)
    if (request.method !== 'GET' && request.method !== 'POST') {
      response.setHeader('allow', 'GET, POST')
      return refuse(405, new Refusal('INVALID_INPUT', 'An operation comes by GET or POST.'))
    }
    const form = answerFormOf(request)
    if (!form) {
      return refuse(406, new Refusal('INVALID_INPUT', 'Answers are application/json or text/event-stream.'))
    }
    if (request.method === 'POST' && !/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
      return refuse(415, new Refusal('INVALID_INPUT', 'An operation comes as application/json.'))
    }
    const headers = new Headers(request.headers as Record<string, string>)
    const version = checkVersion(headers.get('x-wheelhouse-api'))
    if (version) return refuse(400, version)
    const viewer = await app.authenticate(headers)
    if (headers.has('authorization') && !viewer) {
      return refuse(401, new Refusal('UNAUTHENTICATED', 'This token is not valid (any more).'))
    }
    // A page of another origin can make a browser send our cookie, but never this header.
    if (viewer && viewer.tokenId === null && !headers.has('x-wheelhouse-api')) {
      return refuse(
        403,
        new Refusal('UNAUTHENTICATED', 'Requests with a cookie carry the header `x-wheelhouse-api`.'),
      )
    }
    const wait = rateLimit(viewer?.tokenId ?? viewer?.principalId ?? addressOf(request))
    if (wait !== null) {
      response.setHeader('retry-after', Math.ceil(wait / 1_000))
      response.setHeader(
        'ratelimit',
        `limit=${app.config.rateLimit}, remaining=0, reset=${Math.ceil(wait / 1_000)}`,
      )
      return refuse(
        429,
        new Refusal('RATE_LIMITED', 'Too many requests from this token.', { retryAfterMs: wait }),
      )
    }
    if (form === 'stream') {
      streams.add(response)
      response.once('close', () => streams.delete(response))
      const params = await readParams(request)
      if (params instanceof Refusal) return refuse(400, params)
      return serveEventStream(app, engine, viewer, params, request, response)
    }
    if (request.method === 'GET') {
      const params = await readParams(request)
      if (params instanceof Refusal) return refuse(400, params)
    }
    if (await answerPlainly(engine, viewer, request, response)) return
    await engine.handle(request, response, { viewer } as never)
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
    response.setHeader('x-content-type-options', 'nosniff')
    if (!hasReadableAddress(request)) {
      return answerErrors(response, 400, new Refusal('INVALID_INPUT', 'The Host header is no host.'))
    }
    if (stopping) {
      response.setHeader('connection', 'close')
    }
    if (path === '/graphql') return graphql(request, response)
    if (/^\/(auth|api|exports|healthz|readyz|metrics)(\/|$)/.test(path)) {
      if (hasLargeBody(request, maxSmallBody)) return refuseBody(request, response, maxSmallBody)
      await rest.handle(request, response, { address: addressOf(request) })
      return
    }
    serveStatic(request, response)
  }

  const http = createServer(
    { requestTimeout: 60_000, headersTimeout: 20_000, keepAliveTimeout: 65_000 },
    (request, response) => {
      route(request, response).catch((error: unknown) => {
        app.log.error(
          { err: error, path: request.url?.split('?', 1)[0] },
          'a request failed in a way that nobody foresaw',
        )
        if (!response.headersSent) answerErrors(response, 500, null)
        else response.destroy()
      })
    },
  )
  http.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    if (stopping || (request.url ?? '').split('?', 1)[0] !== '/graphql') {
      socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n')
      return
    }
    sockets.upgrade(request, socket, head)
  })
  http.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
  })

  return {
    async listen(port, host) {
      await new Promise<void>((resolve, reject) => {
        http.once('error', reject)
        http.listen(port, host, () => {
          http.off('error', reject)
          resolve()
        })
      })
      const { address, port: bound, family } = http.address() as AddressInfo
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
    },
    async close() {
      stopping = true
      const closed = new Promise<void>((resolve) => http.close(() => resolve()))
      // A connection kept alive is idle only once its last answer is out.
      const idle = setInterval(() => http.closeIdleConnections(), 50)
      await sockets.close(graceMs / 4)
      const deadline = setTimeout(() => http.closeAllConnections(), graceMs)
      await closed
      clearInterval(idle)
      clearTimeout(deadline)
    },
  }
}

/** Only a body that says its length, and a small enough one, is read. */
const hasLargeBody = ({ headers }: IncomingMessage, most: number) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > most

/** Answers before the body has come; what does come is thrown away until the connection closes. */
function refuseBody(request: IncomingMessage, response: ServerResponse, most: number): void {
  request.resume()
  response.setHeader('connection', 'close')
  answerErrors(
    response,
    413,
    new Refusal('INVALID_INPUT', `A body has a content-length of at most ${most} bytes.`),
  )
}

/** Sign-in and exports read a request's whole address, and the console's origin from it. */
function hasReadableAddress({ url, headers }: IncomingMessage): boolean {
  return URL.canParse(url?.startsWith('/') ? url : '/', `http://${headers.host || 'localhost'}`)
}

/** What a client takes, told before anything is done for it; null: nothing that is made here. */
function answerFormOf({ headers }: IncomingMessage): 'json' | 'stream' | null {
  const accept = headers.accept?.toLowerCase() ?? '*/*'
  if (accept.includes('text/event-stream')) return 'stream'
  return /(^|[,\s])(\*\/\*|application\/(\*|json|graphql-response\+json))\s*($|[;,])/.test(accept)
    ? 'json'
    : null
}

const addressOf = (request: IncomingMessage) => request.socket.remoteAddress ?? ''

function answerErrors(response: ServerResponse, status: number, refusal: Refusal | null): void {
  const error = refusal
    ? { message: refusal.message, extensions: { code: refusal.code, retryable: refusal.retryable } }
    : { message: 'Something went wrong here.', extensions: { code: 'INTERNAL' } }
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  })
  response.end(JSON.stringify({ errors: [error] }))
}

/** The operation of a request whose body is read here: JSON, or the query string of a GET. */
async function readParams(request: IncomingMessage): Promise<OperationParams | Refusal> {
  try {
    if (request.method === 'GET') {
      const query = new URL(request.url ?? '/', 'http://localhost').searchParams
      const json = (name: string) => {
        const text = query.get(name)
        return text ? (JSON.parse(text) as unknown) : undefined
      }
      return {
        query: query.get('query') ?? undefined,
        operationName: query.get('operationName') ?? undefined,
        variables: json('variables'),
        extensions: json('extensions'),
      }
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    if (body !== null && typeof body === 'object' && !Array.isArray(body)) return body as OperationParams
  } catch {}
  return new Refusal('INVALID_INPUT', 'The request carries no GraphQL operation as JSON.')
}
