import { existsSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import sirv from 'sirv'

const policy = [
  "default-src 'self'",
  "script-src 'self'",
  // Components set styles on their own elements.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self' ws: wss:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Where the built console is: beside the bundle of the server, or of its sources. */
const directories = [
  join(import.meta.dirname, '../../console/dist'),
  join(import.meta.dirname, '../../../console/dist'),
]

/** Serves the built console, and its start page for every path that is no file: the browser routes. */
export function serveConsole(): (request: IncomingMessage, response: ServerResponse) => void {
  const directory = directories.find((each) => existsSync(join(each, 'index.html')))
  const files = directory
    ? sirv(directory, {
        single: true,
        etag: true,
        setHeaders: (response, path) => {
          response.setHeader(
            'cache-control',
            path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
          )
        },
      })
    : null
  return (request, response) => {
    response.setHeader('content-security-policy', policy)
    response.setHeader('referrer-policy', 'no-referrer')
    response.setHeader('cross-origin-opener-policy', 'same-origin')
    const missing = () => {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' })
      response.end(directory ? 'Not found.\n' : 'The console is not built. `pnpm start` builds it.\n')
    }
    if (!files || (request.method !== 'GET' && request.method !== 'HEAD')) return missing()
    files(request, response, missing)
  }
}
