import type { App } from '../app.ts'
import { exportSession, exportsPath } from '../domains/sessions/export/operations.ts'
import { exportFormats, isExportFormat } from '../domains/sessions/export/rules.ts'
import { refOf } from '../graphql/found.ts'
import { invalid, notFound, Refusal } from '../platform/refusal.ts'
import { refusalResponse } from './refusal-response.ts'

/** Serves `Session.exportPath`; null for every other path. Streams, at the pace of the reader. */
export async function handleSessionExport(
  request: Request,
  app: Pick<App, 'db' | 'clock' | 'ids' | 'wake' | 'secret' | 'log' | 'authenticate'>,
): Promise<Response | null> {
  const url = new URL(request.url)
  if (!url.pathname.startsWith(exportsPath)) return null
  try {
    if (request.method !== 'GET') throw notFound()
    const viewer = await app.authenticate(request.headers)
    if (!viewer) throw new Refusal('UNAUTHENTICATED', 'Sign in, or send a valid token.')
    const { projectId = '', id } = refOf('Session', url.pathname.slice(exportsPath.length))
    const format = url.searchParams.get('format')
    if (!isExportFormat(format)) throw invalid('format', `must be one of ${exportFormats.join(', ')}`)
    const { headers, pieces } = await exportSession(app, viewer, { projectId, id }, format)
    return new Response(
      streamOf(pieces, (error) => app.log.warn({ err: error }, 'an export was broken off')),
      {
        headers: { ...headers, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
      },
    )
  } catch (error) {
    if (error instanceof Refusal) return refusalResponse(error)
    throw error
  }
}

/** Pieces of text as a body; the next is made when the last was taken. An error breaks the answer off, visibly. */
function streamOf(
  pieces: AsyncGenerator<string, void>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        } catch (error) {
          onError(error)
          controller.error(error)
        }
      },
      async cancel() {
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 1 },
  )
}
