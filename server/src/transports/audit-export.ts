import { auditExportPath, auditFilterOf } from '../domains/access/audit/graphql.ts'
import { exportAudit } from '../domains/access/audit/operations.ts'
import type { Viewer } from '../domains/access/rules.ts'
import { refOf } from '../graphql/found.ts'
import { invalid, notFound, Refusal } from '../platform/refusal.ts'
import type { Platform } from '../platform/transaction.ts'
import { refusalResponse } from './refusal-response.ts'

/** Serves `auditExportPath`; null for every other path. Streams, so that a log of any length costs one page of memory. */
export async function handleAuditExport(
  platform: Platform,
  viewer: Viewer | null,
  request: Request,
): Promise<Response | null> {
  const url = new URL(request.url)
  if (url.pathname !== auditExportPath) return null
  if (request.method !== 'GET') return refusalResponse(notFound())
  try {
    if (!viewer) throw new Refusal('UNAUTHENTICATED', 'Sign in, or send a valid token.')
    const project = url.searchParams.get('project')
    const projectId = project === null ? null : refOf('Project', project).id
    const pieces = await exportAudit(platform, viewer, projectId, auditFilterOf(readFilter(url.searchParams)))
    const encoder = new TextEncoder()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      async cancel() {
        await pieces.return(undefined)
      },
    })
    return new Response(body, {
      headers: {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="audit.csv"',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
    })
  } catch (error) {
    if (error instanceof Refusal) return refusalResponse(error)
    throw error
  }
}

/** The filter as GraphQL would have read it: JSON, its instants as dates. */
function readFilter(query: URLSearchParams): unknown {
  const text = query.get('filter')
  if (text === null) return {}
  try {
    const filter = JSON.parse(text) as Record<string, unknown>
    for (const name of ['from', 'to']) {
      if (typeof filter[name] === 'string') filter[name] = new Date(filter[name])
    }
    return filter
  } catch {
    throw invalid('filter', 'is not JSON')
  }
}
