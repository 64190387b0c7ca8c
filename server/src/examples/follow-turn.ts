import { randomUUID } from 'node:crypto'
import type { Client } from './client.ts'
import { Problem, persistently } from './persistently.ts'

export interface FollowedEvent {
  __typename: 'SessionEvent'
  sequence: number
  type: string
  payload: Record<string, unknown>
}
interface WatchEnd {
  __typename: 'WatchEnd'
  reason: string
  resumeAfter: number
  earliest: number | null
}

const watch = `subscription($sessionId:ID!,$after:Int!,$runIds:[ID!]){
  sessionEvents(sessionId:$sessionId,after:$after,filter:{runIds:$runIds}){__typename
    ...on SessionEvent{sequence type payload} ...on WatchEnd{reason resumeAfter earliest}}}`
const reconcile = `query($sessionId:ID!,$runId:ID!){
  session(id:$sessionId){recovery(probeRunIds:[$runId]){status run{state answer{text}}}}}`
/** Ends of a watch after which there is nothing to come back to. */
const final = ['SESSION_CLOSED', 'SESSION_DELETED', 'REVOKED']

export interface TurnResult {
  runId: string
  state: string
  answer: string | null
}

/**
 * Submits a turn and follows its run to its end, through whatever happens to the connection: `onEvent` sees each of the
 * run's events once and in order. Nothing is guessed: what became of the run is asked when a connection was lost, and
 * at the end.
 *
 * @throws Problem for a refused turn (SESSION_BUSY, CAPACITY, RUNTIME_UNAVAILABLE, …: send it again later), and when the
 *   session was closed or deleted, or the rights to it were taken away
 */
export async function followTurn(
  client: Client,
  sessionId: string,
  text: string,
  onEvent: (event: FollowedEvent) => void,
  signal?: AbortSignal,
): Promise<TurnResult> {
  const { run, cursor } = await client.mutate<{ run: { id: string }; cursor: number }>(
    'submitTurn',
    { sessionId, text, idempotencyKey: randomUUID() },
    'run{id} cursor',
    signal,
  )
  const runId = run.id
  const over = new AbortController()
  const stop = signal ? AbortSignal.any([signal, over.signal]) : over.signal

  const ask = async () => {
    const { session } = await client.request<{
      session: { recovery: { status: string; run: { state: string; answer: { text: string } | null } }[] }
    }>(reconcile, { sessionId, runId }, signal)
    const [now] = session.recovery
    return {
      ended: now?.status !== 'ALIVE',
      state: now?.run.state ?? '',
      answer: now?.run.answer?.text ?? null,
    }
  }

  // The cursor: everything up to here was seen. It is all that a client has to keep.
  let after = cursor
  const connect = () =>
    client.subscribe<FollowedEvent | WatchEnd>(watch, { sessionId, after, runIds: [runId] }, stop)
  try {
    for await (const item of persistently(connect, stop)) {
      if (item.__typename === 'SessionEvent') {
        after = item.sequence
        onEvent(item)
        if (!/^RUN_(COMPLETED|FAILED|CANCELLED|TIMED_OUT)$/.test(item.type)) continue
        break
      }
      if (final.includes(item.reason))
        throw new Problem(item.reason, 'The session can’t be watched any longer.', false)
      // REPLAY_GAP: retention took events, perhaps the end. Else (OVERFLOW, SHUTTING_DOWN) nothing is lost.
      if (item.earliest !== null && (await ask()).ended) break
      after = item.earliest === null ? item.resumeAfter : item.earliest - 1
    }
  } finally {
    over.abort()
  }
  signal?.throwIfAborted()
  const { state, answer } = await ask()
  return { runId, state, answer }
}
