import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import type { Client } from '../examples/client.ts'
import { Problem, persistently } from '../examples/persistently.ts'
import { speak } from './sample/speech.ts'

/*
 * An agent runtime, and the guide for writing one. It uses the public API alone, as one on another machine would; what
 * it answers, and from which data, is in the folder `sample`.
 *
 *   registerRuntime ─▶ runtimeSignals ─▶ RunOffer ─▶ startRun ─▶ recordRunEvents … requestApproval … ─▶ completeRun
 *                                    └─▶ RunSteered, ApprovalResolved, RunCancelled while the run lasts
 *
 * - The open subscription is its sign of life. Signals are kept until they are acknowledged; those of a run are
 *   acknowledged when the run is over. So after any interruption they all come again, in order, and the run is taken
 *   up again from them; an ask that is open or answered is not asked again.
 * - `startRun` gives a token that every later write carries. Starting again fences the token before; a write that is
 *   refused with RUN_FENCED means: the run is no longer yours, stop.
 * - Writes carry an idempotency key, so that trying again after a lost answer writes once.
 */

const names = ['list_data_sources', 'inspect_schema', 'run_sql_readonly'] as const
export type Tool = (typeof names)[number]
const registration = {
  name: 'sample agent',
  kinds: ['sample'],
  maxConcurrentRuns: 4,
  tools: names.map((name) => ({ name, group: 'DATA', action: name })),
}
const signalsQuery = `subscription($runtimeId:ID!){runtimeSignals(runtimeId:$runtimeId){__typename
  ...on RunOffer{signalId run{id state} message{text}} ...on RunSteered{signalId run{id state} text}
  ...on ApprovalResolved{signalId run{id state} approval{id} decision} ...on RunCancelled{signalId run{id state}}}}`

type Node = { id: string }
type Started = { runToken: string; run: { approvals: { id: string; decision: string | null }[] } }
type Signal = { signalId: string; run: { id: string; state: string } } & (
  | { __typename: 'RunOffer'; message: { text: string } }
  | { __typename: 'RunSteered'; text: string }
  | { __typename: 'ApprovalResolved'; approval: { id: string }; decision: string }
  | { __typename: 'RunCancelled' }
)

/** Does what a message asks for. Gives whether all of it was done. */
export type Work = (job: Job) => Promise<boolean>

/** Serves one project until `stopped`: registers, listens, and takes what is offered. Throws what it can't get over. */
export async function attend(
  client: Client,
  projectId: string,
  work: Work,
  stopped: AbortSignal,
): Promise<void> {
  const input = { projectId, ...registration }
  const { runtime } = await client.mutate<{ runtime: Node }>('registerRuntime', input, 'runtime{id}', stopped)
  const runtimeId = runtime.id
  const over = new AbortController()
  const stop = AbortSignal.any([stopped, over.signal])
  const jobs = new Map<string, Job>()
  const finish = async (job: Job | null, signalIds: string[]) => {
    await client
      .mutate('acknowledgeSignals', { runtimeId, signalIds }, 'acknowledged', stop)
      .catch(() => undefined)
    if (job) jobs.delete(job.runId)
  }
  try {
    const listen = () => client.subscribe<Signal>(signalsQuery, { runtimeId }, stop)
    for await (const signal of persistently(listen, stop)) {
      const { id, state } = signal.run
      const alive = ['OFFERED', 'RUNNING', 'WAITING_APPROVAL'].includes(state)
      let job = jobs.get(id)
      if (signal.__typename === 'RunOffer' && !job && alive) {
        const taken = new Job(client, runtimeId, id, signal.message.text, state !== 'OFFERED', stop)
        jobs.set(id, taken)
        job = taken
        void taken.conduct(work).then((ended) => (ended ? finish(taken, [...taken.heard]) : undefined))
      }
      job?.hear(signal)
      // Nothing is left to do about a run that ended, whether here or, while this runtime was away, without it.
      if (!job) await finish(null, [signal.signalId])
      else if (signal.__typename === 'RunCancelled') void finish(job, [...job.heard])
    }
  } finally {
    over.abort()
  }
}

/** One run, from its offer to its end. */
export class Job {
  readonly heard = new Set<string>()
  readonly guidance: string[] = []
  readonly #answers = new Map<string, string>()
  readonly #news = new EventEmitter()
  readonly #cancelled = new AbortController()
  readonly #signal: AbortSignal
  readonly #began = performance.now()
  #token = ''
  #askId: string | null = null
  #toolCalls = 0
  #said: boolean

  constructor(
    readonly client: Client,
    readonly runtimeId: string,
    readonly runId: string,
    readonly text: string,
    /** It had been started before, and some of the answer may be there. */
    readonly again: boolean,
    readonly stopped: AbortSignal,
  ) {
    this.#said = again
    this.#signal = AbortSignal.any([stopped, this.#cancelled.signal])
  }

  /** A signal about this run; one that comes again after a reconnect counts once. */
  hear(signal: Signal): void {
    if (this.heard.has(signal.signalId)) return
    this.heard.add(signal.signalId)
    if (signal.__typename === 'RunSteered') this.guidance.push(signal.text)
    if (signal.__typename === 'ApprovalResolved') this.#answers.set(signal.approval.id, signal.decision)
    if (signal.__typename === 'RunCancelled') this.#cancelled.abort()
    this.#news.emit('news')
  }

  /** Takes the run, does the work, ends the run. Gives whether it is over: else it will be taken up again. */
  async conduct(work: Work): Promise<boolean> {
    try {
      const { runId, runtimeId } = this
      const selection = 'runToken run{approvals{id decision}}'
      const { runToken, run } = await this.client.mutate<Started>('startRun', { runId, runtimeId }, selection)
      this.#token = runToken
      for (const { id, decision } of run.approvals) {
        this.#askId = id
        if (decision !== null) this.#answers.set(id, decision)
      }
      const whole = await work(this)
      const milliseconds = Math.round(performance.now() - this.#began)
      const usage = { modelCalls: 0, toolCalls: this.#toolCalls, milliseconds }
      await this.#write('completeRun', { partial: !whole, usage }, 'run{state}')
    } catch (error) {
      if (this.stopped.aborted) return false
      const code = error instanceof Problem ? error.code : 'SAMPLE_FAILED'
      if (this.#cancelled.signal.aborted || ['RUN_FENCED', 'CONFLICT', 'NOT_FOUND'].includes(code))
        return code !== 'RUN_FENCED'
      const message = (error as Error).message.slice(0, 2_000) || code
      return (await this.#write('failRun', { code, message }, 'run{state}').catch(() => null)) !== null
    }
    return true
  }

  /** Says something, piece by piece; breaks off where guidance comes in, unless `toTheEnd`. */
  async say(text: string, { toTheEnd = false } = {}): Promise<void> {
    const paragraph = this.#said ? `\n\n${text}` : text
    this.#said = true
    await speak(paragraph, {
      write: (piece) => this.#record('ANSWER_DELTA', { text: piece }),
      interrupted: () => !toTheEnd && this.guidance.length > 0,
      signal: this.#signal,
    })
  }

  /** Uses a tool, with an event before it and one after. */
  async use<T>(tool: Tool, detail: object, work: () => Promise<T>, told: (found: T) => object): Promise<T> {
    const callId = randomUUID().slice(0, 8)
    this.#toolCalls += 1
    await this.#record('TOOL_CALL', { tool, callId, ...detail })
    const since = performance.now()
    const result = (ok: boolean, found: object) =>
      this.#record('TOOL_RESULT', { tool, callId, ok, ms: Math.round(performance.now() - since), ...found })
    const found = await work().catch(async (error: unknown) => {
      await result(false, { summary: (error as Error).message })
      throw error
    })
    await result(true, told(found))
    return found
  }

  /** Asks once and waits for the answer; null when guidance came first. Denied where nobody answers in time. */
  async ask(title: string, payload: object): Promise<string | null> {
    if (this.#askId === null) {
      const ask = { kind: 'TOOL', title, payload, defaultDecision: 'deny' }
      const { approval } = await this.#write<{ approval: Node }>('requestApproval', ask, 'approval{id}')
      this.#askId = approval.id
    }
    while (!this.#answers.has(this.#askId)) {
      if (this.guidance.length > 0) return null
      await once(this.#news, 'news', { signal: this.#signal })
    }
    return this.#answers.get(this.#askId) ?? null
  }

  #record(type: string, payload: object): Promise<unknown> {
    return this.#write('recordRunEvents', { events: [{ type, payload }] }, 'cursor')
  }
  #write<T>(name: string, input: object, selection: string): Promise<T> {
    this.#signal.throwIfAborted()
    const fenced = { runId: this.runId, runToken: this.#token, idempotencyKey: randomUUID() }
    return this.client.mutate<T>(name, { ...fenced, ...input }, selection, this.#signal)
  }
}
