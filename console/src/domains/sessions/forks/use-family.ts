import { useCallback, useEffect, useRef, useState } from 'react'
import { useClient } from 'urql'
import { onReconnected } from '../../../data/live.ts'
import { type Problem, problemOf } from '../../../data/outcome.ts'
import { watch } from '../../../data/watch.ts'
import { throttled } from '../session-query.ts'
import { type Family, readFamily } from './family.ts'
import { BranchChanges, BranchSession } from './fork-queries.ts'

/** The family of a session, read again when an event says that it changed, or after a reconnect. */
export function useFamily(projectId: string, sessionId: string) {
  const client = useClient()
  const [family, setFamily] = useState<Family>()
  const [problem, setProblem] = useState<Problem>()
  const latest = useRef(0)
  const shown = useRef<Family>(undefined)
  const reread = useCallback(async () => {
    latest.current += 1
    const mine = latest.current
    try {
      const read = await readFamily(sessionId, async (id) => {
        const { data, error } = await client
          .query(BranchSession, { id }, { requestPolicy: 'network-only' })
          .toPromise()
        if (data?.session) return data.session
        const problem = error && problemOf(error)
        if (problem && problem.code !== 'NOT_FOUND') throw problem
        return null
      })
      if (mine !== latest.current) return
      shown.current = read
      setFamily(read)
      setProblem(undefined)
    } catch (refusal) {
      if (mine === latest.current) setProblem(refusal as Problem)
    }
  }, [client, sessionId])

  useEffect(() => {
    void reread()
    const again = throttled(() => void reread(), 600)
    const stop = watch(BranchChanges, () => ({ projectId }), {
      next: ({ projectEvents: event }) => {
        if (event.__typename !== 'ProjectEvent') return
        const parent = (event.payload as { parentId?: unknown }).parentId
        const concerns = shown.current?.sessions.some(({ id }) => id === event.sessionId || id === parent)
        if (concerns) again.call()
      },
    })
    const forget = onReconnected(() => void reread())
    return () => {
      latest.current += 1
      stop()
      forget()
      again.cancel()
    }
  }, [reread, projectId])
  return { family, problem, reread }
}
