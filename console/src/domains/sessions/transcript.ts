import type { MessageAuthority } from './messages-query.ts'
import type { SessionEvent } from './session-event.ts'
import type { RunView } from './session-query.ts'

export interface TranscriptMessage {
  id: string
  sequence: number
  text: string
  at: string
  authority: MessageAuthority
  author: { id: string; name: string }
  runId: string | null
}

export type TranscriptRun = Pick<
  RunView,
  'id' | 'number' | 'state' | 'failureCode' | 'failureMessage' | 'effects' | 'endReason' | 'completion'
> & {
  runtimeName: string | null
  /** Where the run acted under another revision than the task was at. */
  behind: { acted: number; head: number } | null
  /** Null until it is known. */
  route: { id: string; protocol: string; relation: string } | null
  at: string
  asks: readonly { id: string; title: string }[]
}

export interface Transcript {
  /** Rising by sequence; everything from the first on is there. */
  messages: readonly TranscriptMessage[]
  runs: ReadonlyMap<string, TranscriptRun>
  /** The answer of a live run as far as it has been streamed. */
  streams: ReadonlyMap<string, string>
}

export const emptyTranscript: Transcript = {
  messages: [],
  runs: new Map(),
  streams: new Map(),
}

export function withMessages(
  transcript: Transcript,
  messages: readonly TranscriptMessage[],
  runs: readonly TranscriptRun[],
): Transcript {
  const all = new Map<string, TranscriptMessage>()
  for (const message of [...transcript.messages, ...messages]) all.set(message.id, message)
  const known = new Map(runs.map((run) => [run.id, run]))
  // What the tail has told about a run is newer than a page that was read before.
  for (const [id, run] of transcript.runs) known.set(id, run)
  return {
    ...transcript,
    messages: [...all.values()].sort((a, b) => a.sequence - b.sequence),
    runs: known,
  }
}

/** The record of a run as it was just read; it is at least as new as the events before it. */
export function withRun(transcript: Transcript, run: TranscriptRun): Transcript {
  const runs = new Map(transcript.runs).set(run.id, run)
  return { ...transcript, runs, streams: withoutEnded(transcript.streams, runs) }
}

/** The part of a stream that was there before the tail began. */
export function withStream(transcript: Transcript, runId: string, before: string): Transcript {
  const streams = new Map(transcript.streams)
  streams.set(runId, before + (streams.get(runId) ?? ''))
  return { ...transcript, streams }
}

export function withEvents(transcript: Transcript, events: readonly SessionEvent[]): Transcript {
  const messages: TranscriptMessage[] = []
  const runs = new Map(transcript.runs)
  const streams = new Map(transcript.streams)
  for (const event of events) {
    const { detail, runId } = event
    switch (detail?.__typename) {
      case 'MessageDetail':
        if (detail.message) messages.push(messageOf(event, detail.message))
        if (runId !== null && detail.message?.authority === 'AGENT') streams.delete(runId)
        break
      case 'TextDetail':
        if (event.type === 'ANSWER_DELTA' && runId !== null)
          streams.set(runId, (streams.get(runId) ?? '') + detail.text)
        break
      case 'RunStateDetail':
        if (event.run) runs.set(event.run.id, runAfter(runs.get(event.run.id), event, event.run, detail))
        break
      case 'RouteDetail': {
        const run = event.run && runs.get(event.run.id)
        if (run && detail.route) runs.set(run.id, { ...run, route: detail.route })
        break
      }
      case 'ApprovalDetail':
        if (event.run && detail.approval)
          runs.set(event.run.id, asking(runs.get(event.run.id), event, event.run, detail.approval))
        break
    }
  }
  const known = new Set(transcript.messages.map((message) => message.id))
  const fresh = messages.filter((message) => !known.has(message.id))
  return {
    messages: fresh.length === 0 ? transcript.messages : [...transcript.messages, ...fresh],
    runs,
    streams: withoutEnded(streams, runs),
  }
}

type Detail<Name> = Extract<SessionEvent['detail'], { __typename: Name }>
type Message = NonNullable<Detail<'MessageDetail'>['message']>

function messageOf(event: SessionEvent, message: Message): TranscriptMessage {
  const { id, text, at, authority, author } = message
  return { id, sequence: event.sequence, text, at, authority, author, runId: event.runId }
}

function runAfter(
  before: TranscriptRun | undefined,
  event: SessionEvent,
  { id, number }: { id: string; number: number },
  detail: Detail<'RunStateDetail'>,
): TranscriptRun {
  return {
    id,
    number,
    state: detail.runState,
    behind: before?.behind ?? null,
    route: before?.route ?? null,
    completion: detail.completion ?? before?.completion ?? null,
    failureCode: detail.failureCode ?? before?.failureCode ?? null,
    failureMessage: detail.failureMessage ?? before?.failureMessage ?? null,
    effects: detail.effects ?? before?.effects ?? 'NONE',
    endReason: detail.reason ?? before?.endReason ?? null,
    runtimeName: detail.runtime?.name ?? before?.runtimeName ?? null,
    at: event.at,
    asks: before?.asks ?? [],
  }
}

function asking(
  before: TranscriptRun | undefined,
  event: SessionEvent,
  { id, number }: { id: string; number: number },
  approval: NonNullable<Detail<'ApprovalDetail'>['approval']>,
): TranscriptRun {
  const others = (before?.asks ?? []).filter((ask) => ask.id !== approval.id)
  const asks = approval.state === 'OPEN' ? [...others, { id: approval.id, title: approval.title }] : others
  const run = before ?? {
    id,
    number,
    state: approval.run.state,
    behind: null,
    route: null,
    completion: null,
    failureCode: null,
    failureMessage: null,
    effects: 'NONE' as const,
    endReason: null,
    runtimeName: null,
    at: event.at,
  }
  return { ...run, asks }
}

function withoutEnded(
  streams: ReadonlyMap<string, string>,
  runs: ReadonlyMap<string, TranscriptRun>,
): ReadonlyMap<string, string> {
  // An answer that was cut off stays readable; one that was finished is a message.
  return new Map([...streams].filter(([id]) => runs.get(id)?.state !== 'COMPLETED'))
}

export type TranscriptEntry =
  | { kind: 'said'; key: string; message: TranscriptMessage }
  | { kind: 'guidance'; key: string; message: TranscriptMessage; number: number }
  | { kind: 'run'; key: string; run: TranscriptRun; answer: TranscriptMessage | null; stream: string | null }

/**
 * What the transcript shows, in order: each message of a person, the guidance given to its run, and the
 * run's answer, so that an answer always stands under what it answers.
 */
export function transcriptEntries(transcript: Transcript): TranscriptEntry[] {
  const { messages, runs, streams } = transcript
  const byRun = new Map<string, TranscriptMessage[]>()
  for (const message of messages)
    if (message.runId !== null && runs.has(message.runId))
      byRun.set(message.runId, [...(byRun.get(message.runId) ?? []), message])
  const entries: TranscriptEntry[] = []
  const shown = new Set<string>()
  for (const message of messages) {
    const run = message.runId === null ? undefined : runs.get(message.runId)
    if (run === undefined) {
      entries.push({ kind: 'said', key: message.id, message })
      continue
    }
    // All of a run stands where its first message stands; the rest of its messages are in there.
    if (shown.has(run.id)) continue
    shown.add(run.id)
    let answer: TranscriptMessage | null = null
    let asked = false
    for (const own of byRun.get(run.id) ?? []) {
      if (own.authority === 'AGENT') answer = own
      else if (asked) entries.push({ kind: 'guidance', key: own.id, message: own, number: run.number })
      else entries.push({ kind: 'said', key: own.id, message: own })
      asked = true
    }
    entries.push({ kind: 'run', key: run.id, run, answer, stream: streams.get(run.id) ?? null })
  }
  return entries
}
