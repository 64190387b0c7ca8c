import { createHash, randomUUID } from 'node:crypto'
import type { Job } from '../sample.ts'
import * as api from './documents.ts'
import { actionOf, type Tool, tools } from './tools.ts'

const seen = ({ binding }: api.Standing) => `${binding.relation} ${binding.active?.id}`
const digest = (value: object) => `sha256:${createHash('sha256').update(JSON.stringify(value)).digest('hex')}`

/** What an action found, as the timeline tells it, and what the protocol shall know of it. */
export interface Told {
  summary: string
  facts?: Record<string, boolean | number>
  rows?: unknown
}

/** A run under its protocol: each action is asked for before and told of afterwards, and the task is what it is bound to. */
export class Governed {
  #allowed = new Set<string>()
  #seen = ''

  constructor(readonly job: Job) {}

  /** Looks at how the run stands: its task, and what its protocol allows. */
  async look(): Promise<api.Standing> {
    const { job } = this
    job.corrected = false
    for (const id of job.unfinished.splice(0)) await this.#result(id, { ok: false })
    const { run } = await job.client.request<{ run: api.Standing }>(
      api.standing,
      { id: job.runId },
      job.signal,
    )
    const { entries } = run.toolPlan
    this.#allowed = new Set(
      entries.filter(({ status }) => status === 'AVAILABLE').map(({ action }) => action),
    )
    this.#seen = seen(run)
    return run
  }

  /** Whether the task is another one than when it was looked at. */
  async hasMoved(): Promise<boolean> {
    const before = this.#seen
    return seen(await this.look()) !== before
  }

  /** Whether the guard would allow a tool, by what it said last; `act` asks it. */
  may(tool: Tool): boolean {
    return this.#allowed.has(actionOf(tool))
  }

  /** The tools that it would allow. */
  get ways(): string[] {
    return tools.filter(({ action }) => this.#allowed.has(action)).map(({ name }) => name)
  }

  /**
   * Uses a tool if the guard allows it, tells what came of it, and gives that with the action's id, by which it can be
   * evidence; null when it was refused.
   */
  async act<T>(
    tool: Tool,
    detail: object,
    work: () => Promise<T>,
    told: (found: T) => Told,
  ): Promise<{ found: T; actionId: string } | null> {
    const { job } = this
    const request = { tool, argumentsDigest: digest(detail) }
    const asked = await job.write<api.Requested>('requestAction', request, api.requested)
    this.#allowed = new Set(asked.allowedActions)
    if (asked.decision === 'DENIED') return null
    if (asked.approval && (await job.answer(asked.approval.id, () => false)) !== 'allow') return null
    const callId = randomUUID().slice(0, 8)
    job.toolCalls += 1
    await job.record('TOOL_CALL', { tool, callId, ...detail })
    const since = performance.now()
    const result = async (ok: boolean, { facts, ...more }: Told) => {
      const ms = Math.round(performance.now() - since)
      await job.record('TOOL_RESULT', { tool, callId, ok, ms, ...more })
      await this.#result(asked.actionId, { ok, resultDigest: digest(more), ...(facts && { facts }) })
    }
    const found = await work().catch(async (error: unknown) => {
      await result(false, { summary: (error as Error).message })
      throw error
    })
    await result(true, told(found))
    return { found, actionId: asked.actionId }
  }

  async #result(actionId: string, result: object): Promise<void> {
    const { client, token, signal } = this.job
    const input = { actionId, runToken: token, ...result }
    const now = await client
      .mutate<{ allowedActions: string[] }>('recordActionResult', input, 'allowedActions', signal)
      // Told again because the answer was lost: the result is there, and the next look says what is allowed.
      .catch(api.unless('CONFLICT', () => null))
    if (now) this.#allowed = new Set(now.allowedActions)
    else await this.look()
  }

  /** Adds requirements to the task, and gives them; none where the task has moved meanwhile. */
  async commit(requirements: readonly string[]): Promise<api.Requirement[]> {
    const done = await this.job
      .write<api.Committed>('commitRequirements', { requirements }, api.committed)
      .catch(api.unless('SESSION_INTENT_REVISION_CONFLICT', () => null))
    if (done) this.#seen = this.#seen.replace(/ .*/, ` ${done.intent.id}`)
    return done?.requirements ?? []
  }

  /** Says that a requirement is met, by an action; where the task has it open no more, nothing happens. */
  async meet(requirementId: string, actionId: string): Promise<void> {
    const { client, runId, token, signal } = this.job
    const input = { runId, runToken: token, requirementId, actionId }
    await client
      .mutate('meetRequirement', input, 'requirement{state}', signal)
      .catch(api.unless('CONFLICT', () => null))
  }

  /** Proposes to go on under another protocol. Look again afterwards. */
  handOff(to: string, reason: string): Promise<api.HandedOff> {
    return this.job.write<api.HandedOff>('proposeHandoff', { to, reason }, api.handedOff)
  }
}
