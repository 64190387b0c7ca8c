import type { App } from '../app.ts'
import { allows } from '../domains/access/rules.ts'
import { Refusal } from '../platform/refusal.ts'
import { refusalResponse } from './refusal-response.ts'

/**
 * `/healthz`: this process answers. `/readyz`: it can be sent requests (200), or why not (503). Both are open and tell
 * nothing else. `/metrics`: for Prometheus, with a token that holds `ops.read`. Null for every other path.
 */
export async function handleHealth(
  request: Request,
  app: Pick<App, 'authenticate' | 'health' | 'metrics'>,
): Promise<Response | null> {
  const { pathname } = new URL(request.url)
  if (request.method !== 'GET' && request.method !== 'HEAD') return null
  const headers = { 'cache-control': 'no-store' }
  if (pathname === '/healthz') return Response.json({ status: 'alive' }, { headers })
  if (pathname === '/readyz') {
    const readiness = await app.health.readiness()
    return Response.json(readiness, { status: readiness.ready ? 200 : 503, headers })
  }
  if (pathname !== '/metrics') return null
  const viewer = await app.authenticate(request.headers)
  if (!viewer) return refusalResponse(new Refusal('UNAUTHENTICATED', 'Send a token that holds `ops.read`.'))
  if (!allows(viewer, 'ops.read', {})) {
    return refusalResponse(new Refusal('PERMISSION_DENIED', 'This needs the capability ops.read.'))
  }
  await app.health.report()
  const { registry } = app.metrics
  return new Response(await registry.metrics(), {
    headers: { ...headers, 'content-type': registry.contentType },
  })
}
