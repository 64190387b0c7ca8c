import type { TadaDocumentNode } from 'gql.tada'
import { useEffect, useRef } from 'react'
import { useQuery } from 'urql'
import { onReconnected } from '../../data/live.ts'
import { problemOf } from '../../data/outcome.ts'
import { watch } from '../../data/watch.ts'
import { ProtocolChanges, ProtocolListQuery, ProtocolsQuery } from './queries.ts'

function useLive<Row>(
  projectId: string,
  query: TadaDocumentNode<{ protocols: Row[] }, { projectId: string }>,
) {
  const [{ data, error }, execute] = useQuery({
    query,
    variables: { projectId },
    requestPolicy: 'cache-and-network',
  })
  const reread = useRef(() => {})
  reread.current = () => execute({ requestPolicy: 'network-only' })
  useEffect(() => {
    const stop = watch(ProtocolChanges, () => ({ projectId }), { next: () => reread.current() })
    const forget = onReconnected(() => reread.current())
    return () => {
      stop()
      forget()
    }
  }, [projectId])
  return { protocols: data?.protocols, problem: error && problemOf(error), reread: () => reread.current() }
}

/** Every version of every protocol of a project, whole; read again when one is registered, wherever that was. */
export const useProtocols = (projectId: string) => useLive(projectId, ProtocolsQuery)

/** The same without what a list does not show. */
export const useProtocolList = (projectId: string) => useLive(projectId, ProtocolListQuery)
