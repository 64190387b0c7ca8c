import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useClient } from 'urql'
import { type Problem, problemOf } from '../../data/outcome.ts'
import { isLive } from '../runs/run-state.ts'
import { MessagesQuery, messageOf, runOf, runsOf } from './messages-query.ts'
import { readAnswer } from './read-journal.ts'
import type { SessionJournal } from './session-journal.ts'
import type { SessionView } from './session-query.ts'
import {
  emptyTranscript,
  type Transcript,
  withEvents,
  withMessages,
  withRun,
  withStream,
} from './transcript.ts'

const PAGE = 40

export interface TranscriptPages {
  transcript: Transcript
  total: number
  hasEarlier: boolean
  loading: boolean
  problem: Problem | undefined
  loadEarlier: () => void
}

/** The session's messages: the last page when it opens, earlier ones on request, new ones from the tail. */
export function useTranscript(journal: SessionJournal, session: SessionView): TranscriptPages {
  const client = useClient()
  const [transcript, setTranscript] = useState<Transcript>(emptyTranscript)
  const [page, setPage] = useState({ before: null as string | null, hasEarlier: false, total: 0 })
  const [loading, setLoading] = useState(true)
  const [problem, setProblem] = useState<Problem>()
  const { id, activeRun, lastRun, approvals } = session

  const load = useCallback(
    async (before: string | null) => {
      setLoading(true)
      const answer = await client
        .query(MessagesQuery, { id, last: PAGE, before }, { requestPolicy: 'network-only' })
        .toPromise()
      setLoading(false)
      setProblem(answer.error && problemOf(answer.error))
      const messages = answer.data?.session?.messages
      if (!messages) return
      const { startCursor, hasPreviousPage } = messages.pageInfo
      setPage({ before: startCursor, hasEarlier: hasPreviousPage, total: messages.totalCount ?? 0 })
      setTranscript((old) => withMessages(old, messages.nodes.map(messageOf), runsOf(messages.nodes)))
    },
    [client, id],
  )

  const start = useSyncExternalStore(journal.subscribe, journal.startedAfter)
  useEffect(() => {
    setTranscript(emptyTranscript)
    return journal.onEvents((events) => setTranscript((old) => withEvents(old, events)))
  }, [journal])
  useEffect(() => {
    // Read after the tail has begun: what is said in between arrives by one way or the other.
    if (start === undefined) return
    void load(null)
  }, [start, load])

  useEffect(() => {
    const run = activeRun ?? lastRun
    if (run)
      setTranscript((old) =>
        withRun(
          old,
          runOf(
            run,
            approvals.filter((each) => each.run.id === run.id),
          ),
        ),
      )
  }, [activeRun, lastRun, approvals])

  useEarlierStream(start, session, setTranscript)

  return {
    transcript,
    total: Math.max(page.total, session.messageCount, transcript.messages.length),
    hasEarlier: page.hasEarlier,
    loading,
    problem,
    loadEarlier: () => {
      if (!loading && page.hasEarlier) void load(page.before)
    },
  }
}

/** What a run that is alive had answered before this page opened; the tail brings what follows. */
function useEarlierStream(
  start: number | undefined,
  session: SessionView,
  setTranscript: (change: (old: Transcript) => Transcript) => void,
): void {
  const asked = useRef<string>(undefined)
  const { activeRun, id } = session
  const runId = activeRun && isLive(activeRun.state) ? activeRun.id : undefined
  const began = activeRun?.message.sequence ?? 0
  useEffect(() => {
    if (runId === undefined || start === undefined || asked.current === runId) return
    asked.current = runId
    readAnswer(id, runId, began, start).then(
      (before) => {
        if (before !== '') setTranscript((old) => withStream(old, runId, before))
      },
      () => {
        // The message that the run ends with is whole; only the streamed part stays incomplete.
        asked.current = undefined
      },
    )
  }, [id, runId, began, start, setTranscript])
}
