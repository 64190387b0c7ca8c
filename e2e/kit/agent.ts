import type { Client, Collected } from '../../test/kit/client.ts'
import { eventually } from '../../test/kit/eventually.ts'

interface Signal {
  __typename: 'RunOffer' | 'RunSteered' | 'RunCancelled' | 'ApprovalResolved'
  signalId: string
  run: { id: string; number: number }
  text?: string
  reason?: string
  decision?: string
}

const signalsOf = `subscription($id: ID!) { runtimeSignals(runtimeId: $id) { __typename
  ... on RunOffer { signalId run { id number } }
  ... on RunSteered { signalId run { id number } text }
  ... on RunCancelled { signalId run { id number } reason }
  ... on ApprovalResolved { signalId run { id number } decision } } }`

const tools = [
  { name: 'run_sql', group: 'DATA', action: 'run_sql_readonly' },
  { name: 'list_data_sources', group: 'DATA', action: 'list_data_sources' },
]

/** An agent that does what the test says, over the API that every agent uses. */
export class Agent {
  readonly client: Client
  readonly runtimeId: string
  readonly #signals: Collected<Signal>
  #taken = new Set<string>()

  private constructor(client: Client, runtimeId: string) {
    this.client = client
    this.runtimeId = runtimeId
    this.#signals = client.watch<Signal>(signalsOf, { id: runtimeId })
  }

  /** Registers and connects; turns can be sent once this resolves. */
  static async connect(client: Client, projectId: string, name = 'analyst agent'): Promise<Agent> {
    const { runtime } = await client.do<{ runtime: { id: string } }>(
      'registerRuntime',
      { projectId, name, maxConcurrentRuns: 8, tools },
      'runtime { id }',
    )
    return new Agent(client, runtime.id)
  }

  /** Takes the next offer. */
  async takes(): Promise<AgentRun> {
    const { run } = await this.next('RunOffer')
    return this.starts(run.id)
  }

  async starts(runId: string): Promise<AgentRun> {
    const { runToken } = await this.client.do<{ runToken: string }>(
      'startRun',
      { runId, runtimeId: this.runtimeId },
      'runToken',
    )
    return new AgentRun(this, runId, runToken)
  }

  /** The next signal of a kind that nobody took yet, of one run when it is given. */
  next(kind: Signal['__typename'], runId?: string): Promise<Signal> {
    return eventually(async () => {
      const signal = this.#signals.items.find(
        (each) =>
          each.__typename === kind && !this.#taken.has(each.signalId) && (!runId || each.run.id === runId),
      )
      if (!signal) throw new Error(`no ${kind} arrived: ${JSON.stringify(this.#signals.failure())}`)
      this.#taken.add(signal.signalId)
      const input = { runtimeId: this.runtimeId, signalIds: [signal.signalId] }
      await this.client.do('acknowledgeSignals', input, 'acknowledged')
      return signal
    })
  }

  leaves(): Promise<void> {
    return this.#signals.stop()
  }
}

/** One run as its agent works on it. */
export class AgentRun {
  readonly id: string
  readonly #agent: Agent
  readonly #key: { runId: string; runToken: string }
  #calls = 0

  constructor(agent: Agent, runId: string, runToken: string) {
    this.id = runId
    this.#agent = agent
    this.#key = { runId, runToken }
  }

  async writes(...events: { type: string; payload: object }[]): Promise<void> {
    await this.#agent.client.do('recordRunEvents', { ...this.#key, events }, 'cursor')
  }

  /** A tool called and answered. */
  async uses(tool: string, summary: string, ms = 41): Promise<void> {
    this.#calls += 1
    const callId = String(this.#calls)
    await this.writes(
      { type: 'TOOL_CALL', payload: { tool, callId } },
      { type: 'TOOL_RESULT', payload: { tool, callId, ok: true, summary, ms } },
    )
  }

  /** A piece of the answer as it is thought up. */
  streams(text: string): Promise<void> {
    return this.writes({ type: 'ANSWER_DELTA', payload: { text } })
  }

  async asks(title: string, more: object = {}): Promise<string> {
    const { approval } = await this.#agent.client.do<{ approval: { id: string } }>(
      'requestApproval',
      { ...this.#key, kind: 'TOOL', title, payload: {}, ...more },
      'approval { id }',
    )
    return approval.id
  }

  async isAnswered(): Promise<string | undefined> {
    return (await this.#agent.next('ApprovalResolved', this.id)).decision
  }

  async isSteered(): Promise<string | undefined> {
    return (await this.#agent.next('RunSteered', this.id)).text
  }

  async isCancelled(): Promise<string | undefined> {
    return (await this.#agent.next('RunCancelled', this.id)).reason
  }

  async completes(answer: string): Promise<void> {
    const usage = { inputTokens: 1_200, outputTokens: 340, modelCalls: 2, toolCalls: this.#calls }
    await this.#agent.client.do('recordUsage', { ...this.#key, ...usage }, 'run { id }')
    await this.#agent.client.do('completeRun', { ...this.#key, answer }, 'run { id }')
  }

  async fails(message: string, code = 'TOOL_ERROR'): Promise<void> {
    await this.#agent.client.do('failRun', { ...this.#key, code, message }, 'run { id }')
  }
}
