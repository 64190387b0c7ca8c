import type { TadaDocumentNode } from 'gql.tada'
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { type Client, type OperationResult, useClient } from 'urql'
import { onReconnected } from './live.ts'
import { type Problem, problemOf } from './outcome.ts'

type Connection<Node> = {
  nodes: readonly Node[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
  totalCount?: number | null
}
type Snapshot<Node> = {
  rows: readonly Node[]
  /** Where the server counts cheaply; null otherwise. */
  total: number | null
  hasMore: boolean
  /** The first page is on its way and nothing can be shown yet. */
  loading: boolean
  loadingMore: boolean
  problem: Problem | undefined
}
export type Pages<Node> = Snapshot<Node> & {
  /** `rows` belong to the variables before; the new ones are on their way. */
  outdated: boolean
  loadMore: () => void
  /** Reads every loaded page again, in order, so that nothing falls between two pages. */
  refresh: () => Promise<void>
}

const nothing = {
  rows: [],
  total: null,
  hasMore: false,
  loading: true,
  loadingMore: false,
  problem: undefined,
}

/**
 * The pages loaded so far of one connection. Each page stays subscribed to the cache, so a row that a
 * mutation or a watch changed is patched in place; the order only changes on `refresh`.
 */
function createPages<Data, Variables extends object, Node extends { id: string }>(
  client: Client,
  document: TadaDocumentNode<Data, Variables>,
  variables: Variables,
  pick: (data: Data) => Connection<Node> | null | undefined,
) {
  type Page = { after: string | null; connection?: Connection<Node> | undefined; stop?: () => void }
  let pages: Page[] = []
  let snapshot: Snapshot<Node> = nothing
  let problem: Problem | undefined
  let waiting = true
  let generation = 0
  const listeners = new Set<() => void>()

  const publish = () => {
    const rows = new Map<string, Node>()
    for (const { connection } of pages) for (const node of connection?.nodes ?? []) rows.set(node.id, node)
    const last = pages.at(-1)?.connection
    snapshot = {
      rows: [...rows.values()],
      total: pages[0]?.connection?.totalCount ?? null,
      hasMore: last?.pageInfo.hasNextPage ?? false,
      loading: waiting && !pages[0]?.connection,
      loadingMore: waiting && pages.length > 1,
      problem,
    }
    for (const listener of listeners) listener()
  }
  const request = (
    after: string | null,
    requestPolicy: 'cache-and-network' | 'network-only' | 'cache-first',
  ) => client.query<Data, Variables>(document, { ...variables, after }, { requestPolicy })
  const receive = (page: Page, result: OperationResult<Data, Variables>) => {
    const connection = result.data && pick(result.data)
    if (connection) page.connection = connection
    problem = result.error && !connection ? problemOf(result.error) : undefined
    waiting = result.stale && !connection
    publish()
  }
  const open = (after: string | null, policy: 'cache-and-network' | 'cache-first') => {
    const page: Page = { after }
    pages.push(page)
    const { unsubscribe } = request(after, policy).subscribe((result) => receive(page, result))
    page.stop = unsubscribe
  }
  const start = () => {
    // A cached answer arrives before `open` returns: the page has to be listed before it is asked for.
    pages = []
    open(null, 'cache-and-network')
  }
  const stop = () => {
    generation += 1
    for (const page of pages) page.stop?.()
  }
  return {
    snapshot: () => snapshot,
    subscribe: (listener: () => void) => {
      if (listeners.size === 0) start()
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) stop()
      }
    },
    loadMore: () => {
      const end = pages.at(-1)?.connection?.pageInfo
      if (waiting || !end?.hasNextPage || !end.endCursor) return
      waiting = true
      open(end.endCursor, 'cache-and-network')
      publish()
    },
    refresh: async () => {
      generation += 1
      const mine = generation
      const count = pages.length
      const fresh: (string | null)[] = []
      let after: string | null = null
      for (let index = 0; index < count; index += 1) {
        const result: OperationResult<Data, Variables> = await request(after, 'network-only').toPromise()
        if (mine !== generation) return
        const connection = result.data && pick(result.data)
        if (!connection) {
          problem = result.error && problemOf(result.error)
          return publish()
        }
        fresh.push(after)
        if (!connection.pageInfo.hasNextPage) break
        after = connection.pageInfo.endCursor
      }
      const old = pages
      pages = []
      for (const cursor of fresh) open(cursor, 'cache-first')
      for (const page of old) page.stop?.()
      publish()
    },
  }
}

/**
 * A list read in cursor pages: `usePages(SessionsQuery, { projectId, filter }, (data) => data.sessions)`.
 * The document takes `$after: String`. Reads itself again after a reconnect.
 */
export function usePages<Data, Variables extends object, Node extends { id: string }>(
  document: TadaDocumentNode<Data, Variables>,
  variables: Omit<Variables, 'after'>,
  pick: (data: Data) => Connection<Node> | null | undefined,
): Pages<Node> {
  const client = useClient()
  const key = JSON.stringify(variables)
  const picked = useRef(pick)
  picked.current = pick
  const pages = useMemo(
    () => createPages(client, document, JSON.parse(key) as Variables, (data: Data) => picked.current(data)),
    [client, document, key],
  )
  const snapshot = useSyncExternalStore(pages.subscribe, pages.snapshot)
  const shown = useRef<Snapshot<Node>>(snapshot)
  if (!snapshot.loading) shown.current = snapshot
  useEffect(() => onReconnected(() => void pages.refresh()), [pages])
  const outdated = snapshot.loading && !shown.current.loading
  const { loadMore, refresh } = pages
  return { ...(outdated ? shown.current : snapshot), outdated, loadMore, refresh }
}
