import { useEffect, useRef } from 'react'
import { useQuery } from 'urql'
import { onReconnected } from '../../data/live.ts'
import { problemOf } from '../../data/outcome.ts'
import { watch } from '../../data/watch.ts'
import { ProtocolChanges, ProtocolsQuery } from './queries.ts'

/** Every version of every protocol of a project; read again when one is registered, wherever that was. */
export function useProtocols(projectId: string) {
  const [{ data, error }, execute] = useQuery({
    query: ProtocolsQuery,
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
