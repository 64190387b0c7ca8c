import type { TadaDocumentNode } from 'gql.tada'
import { stringifyDocument } from 'urql'
import { socket } from './live.ts'

/**
 * Watches a subscription without React or the cache in between.
 *
 * `variables` is asked again at each (re)connection: return the cursor of the last item that was
 * delivered and the watch goes on there, with nothing missing and nothing twice.
 * `ended` is called once, when the server completes or refuses the watch; a lost connection is
 * not an end, it is retried (live.ts) and shown by the shell.
 * Returns the function that stops it.
 */
export function watch<Data, Variables extends object>(
  document: TadaDocumentNode<Data, Variables>,
  variables: () => Variables,
  on: { next: (data: Data) => void; ended?: (error: unknown) => void },
): () => void {
  return socket().subscribe<Data>(
    {
      query: stringifyDocument(document),
      // Read by JSON.stringify whenever the socket sends the subscription, also after a reconnect.
      get variables() {
        return variables() as Record<string, unknown>
      },
    },
    {
      next: (result) => {
        if (result.data) on.next(result.data)
        else on.ended?.(result.errors)
      },
      error: (error) => on.ended?.(error),
      complete: () => on.ended?.(undefined),
    },
  )
}
