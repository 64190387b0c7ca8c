import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import type { Client } from '../examples/client.ts'
import { Problem, persistently } from '../examples/persistently.ts'
import * as api from './sample/documents.ts'
import { speak } from './sample/speech.ts'
import { tools } from './sample/tools.ts'

/*
 * An agent runtime, and the guide for writing one. It uses the public API alone; what it answers, and from which data, is in
 * the folder `sample`.
 *
 *   registerRuntime ─▶ runtimeSignals ─▶ RunOffer ─▶ startRun ─▶ requestAction, recordActionResult … ─▶ completeRun
 *                                    └─▶ RunSteered, IntentCorrected, ApprovalResolved, RunCancelled meanwhile
 *
 * - The open subscription is its sign of life. Signals are kept until they are acknowledged, which is when their run is over:
 *   after any interruption they come again, in order, and the run is taken up from them. What was asked is not asked again.
 * - `startRun` gives a token that every later write carries, and fences the one before: RUN_FENCED means, stop.
 * - `requestAction` comes before each action, and its answer is obeyed. What the agent works on is the task that the run is
 *   bound to, not its message; after IntentCorrected, and before it says that it is done, it looks at it again.
 * - Writes carry an idempotency key, so that trying again after a lost answer writes once.
 */

const registration = { name: 'sample agent', kinds: ['sample'], maxConcurrentRuns: 4, tools }

/** Does what a run is about. Gives whether all of it was done. */
export type Work = (job: Job) => Promise<boolean>

/** Serves one project until `stopped`: registers, listens, and takes what is offered. Throws what it can't get over. */
export async function attend(
  client: Client,
  projectId: string,
  work: Work,
  stopped: AbortSignal,
): Promise<void> {
  const input = { projectId, ...registration }
  const { runtime } = await client.mutate<api.Registered>('registerRuntime', input, 'runtime{id}', stopped)
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
    const listen = () => client.subscribe<api.Signal>(api.signals, { runtimeId }, stop)
    for await (const signal of persistently(listen, stop)) {
      const { id, state } = signal.run
      const alive = ['OFFERED', 'RUNNING', 'WAITING_APPROVAL'].includes(state)
      let job = jobs.get(id)
      if (signal.__typename === 'RunOffer' && !job && alive) {
        const taken = new Job(client, runtimeId, signal, stop)
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

/** One run, from its offer to its end; what its protocol says of it is in `sample/governed.ts`. */
export class Job {
  readonly runId: string
  /** What was asked, and what was said before. */
  readonly text: string
  readonly window: api.Said[]
  /** It had been started before, and some of the answer may be there. */
  readonly again: boolean
  readonly heard = new Set<string>()
  readonly guidance: string[] = []
  /** Its task may be another one by now. */
  corrected = false
  /** Actions that were allowed, and of which nobody knows what came of them: it was interrupted meanwhile. */
  readonly unfinished: string[] = []
  toolCalls = 0
  readonly #answers = new Map<string, string>()
  readonly #news = new EventEmitter()
  readonly #cancelled = new AbortController()
  readonly signal: AbortSignal
  readonly #began = performance.now()
  token = ''
  #askId: string | null = null
  #said: boolean

  constructor(
    readonly client: Client,
    readonly runtimeId: string,
    offer: Extract<api.Signal, { __typename: 'RunOffer' }>,
    readonly stopped: AbortSignal,
  ) {
    this.runId = offer.run.id
    this.text = offer.message.text
    this.window = offer.window
    this.again = offer.run.state !== 'OFFERED'
    this.#said = this.again
    this.signal = AbortSignal.any([stopped, this.#cancelled.signal])
  }

  /** A signal about this run; one that comes again after a reconnect counts once. */
  hear(signal: api.Signal): void {
    if (this.heard.has(signal.signalId)) return
    this.heard.add(signal.signalId)
    if (signal.__typename === 'RunSteered') this.guidance.push(signal.text)
    if (signal.__typename === 'IntentCorrected') this.corrected = true
    if (signal.__typename === 'ApprovalResolved') this.#answers.set(signal.approval.id, signal.decision)
    if (signal.__typename === 'RunCancelled') this.#cancelled.abort()
    this.#news.emit('news')
  }

  /** Takes the run, does the work, ends the run. Gives whether it is over: else it will be taken up again. */
  async conduct(work: Work): Promise<boolean> {
    try {
      await this.#start()
      const whole = await work(this)
      const milliseconds = Math.round(performance.now() - this.#began)
      const usage = { modelCalls: 0, toolCalls: this.toolCalls, milliseconds }
      const end = (partial: boolean) => this.write('completeRun', { partial, usage }, 'run{state}')
      // Goals that are open whatever this agent can do: then a part of the task is what it has done.
      await end(!whole).catch(api.unless('COMPLETION_GOALS_OPEN', () => end(true)))
    } catch (error) {
      if (this.stopped.aborted) return false
      const code = error instanceof Problem ? error.code : 'SAMPLE_FAILED'
      if (this.#cancelled.signal.aborted || ['RUN_FENCED', 'CONFLICT', 'NOT_FOUND'].includes(code))
        return code !== 'RUN_FENCED'
      const message = (error as Error).message.slice(0, 2_000) || code
      return (await this.write('failRun', { code, message }, 'run{state}').catch(() => null)) !== null
    }
    return true
  }

  async #start(): Promise<void> {
    const input = { runId: this.runId, runtimeId: this.runtimeId }
    const { runToken, run } = await this.client.mutate<api.Started>('startRun', input, api.started)
    this.token = runToken
    const ofGuard = new Set(run.actions.nodes.map(({ approval }) => approval?.id))
    for (const { id, decision } of run.approvals) {
      if (!ofGuard.has(id)) this.#askId = id
      if (decision !== null) this.#answers.set(id, decision)
    }
    for (const { id, decision, ok } of run.actions.nodes)
      if (decision === 'ALLOWED' && ok === null) this.unfinished.push(id)
  }

  get interrupted(): boolean {
    return this.corrected || this.guidance.length > 0
  }

  /** Says something, piece by piece; breaks off where guidance comes in, unless `toTheEnd`. */
  async say(text: string, { toTheEnd = false } = {}): Promise<void> {
    const paragraph = this.#said ? `\n\n${text}` : text
    this.#said = true
    await speak(paragraph, {
      write: (piece) => this.record('ANSWER_DELTA', { text: piece }),
      interrupted: () => !toTheEnd && this.interrupted,
      signal: this.signal,
    })
  }

  /** Asks once and waits for the answer, as `answer` does. Denied where nobody answers in time. */
  async ask(title: string, payload: object): Promise<string | null> {
    if (this.#askId === null) {
      const ask = { kind: 'TOOL', title, payload, defaultDecision: 'deny' }
      const { approval } = await this.write<api.Asked>('requestApproval', ask, 'approval{id}')
      this.#askId = approval.id
    }
    return this.answer(this.#askId)
  }

  /** Its ask, while that waits: nobody can take it back, and the run can't end before. */
  get openAsk(): string | null {
    return this.#askId !== null && !this.#answers.has(this.#askId) ? this.#askId : null
  }

  /** The answer to an ask; null when something interrupted it first. */
  async answer(approvalId: string, interrupted = () => this.interrupted): Promise<string | null> {
    while (!this.#answers.has(approvalId)) {
      if (interrupted()) return null
      await once(this.#news, 'news', { signal: this.signal })
    }
    return this.#answers.get(approvalId) ?? null
  }

  record(type: string, payload: object): Promise<unknown> {
    return this.write('recordRunEvents', { events: [{ type, payload }] }, 'cursor')
  }
  /** A write of the run: fenced by its token, and done once however often it is sent. */
  write<T>(name: string, input: object, selection: string): Promise<T> {
    this.signal.throwIfAborted()
    const fenced = { runId: this.runId, runToken: this.token, idempotencyKey: randomUUID() }
    return this.client.mutate<T>(name, { ...fenced, ...input }, selection, this.signal)
  }
}
