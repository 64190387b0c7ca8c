import { Refusal } from '../../platform/refusal.ts'

/*
 * A run's life. Terminal states never change (a trigger holds that too).
 *
 *            start             ask                     ┌─ complete ─▶ COMPLETED
 *   OFFERED ───────▶ RUNNING ───────▶ WAITING_APPROVAL │
 *      │                ▲  ◀───────                    ├─ fail, lose ▶ FAILED
 *      │                │   resume (the last answer)   ├─ cancel ───▶ CANCELLED
 *      │                └── start again: a new token   └─ time out ─▶ TIMED_OUT   (only RUNNING)
 *      └─ expire ─▶ FAILED (OFFER_EXPIRED), cancel ─▶ CANCELLED
 *
 * A run that waits can be failed by its runtime and cancelled by an owner; it can't be completed over an open ask, its
 * clock stands still, and its runtime may be away until the answer.
 */

export const runStates = [
  'OFFERED',
  'RUNNING',
  'WAITING_APPROVAL',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'TIMED_OUT',
] as const
export type RunState = (typeof runStates)[number]
export const liveStates = ['OFFERED', 'RUNNING', 'WAITING_APPROVAL'] as const
export const isLive = (state: RunState) => (liveStates as readonly RunState[]).includes(state)

export type RunVerb =
  | 'start'
  | 'write'
  | 'ask'
  | 'resume'
  | 'complete'
  | 'fail'
  | 'cancel'
  | 'steer'
  | 'expireOffer'
  | 'timeOut'
  | 'loseRuntime'

const runTable: Record<RunState, Partial<Record<RunVerb, RunState>>> = {
  OFFERED: { start: 'RUNNING', cancel: 'CANCELLED', steer: 'OFFERED', expireOffer: 'FAILED' },
  RUNNING: {
    start: 'RUNNING',
    write: 'RUNNING',
    ask: 'WAITING_APPROVAL',
    complete: 'COMPLETED',
    fail: 'FAILED',
    cancel: 'CANCELLED',
    steer: 'RUNNING',
    timeOut: 'TIMED_OUT',
    loseRuntime: 'FAILED',
  },
  WAITING_APPROVAL: {
    start: 'WAITING_APPROVAL',
    write: 'WAITING_APPROVAL',
    ask: 'WAITING_APPROVAL',
    resume: 'RUNNING',
    fail: 'FAILED',
    cancel: 'CANCELLED',
    steer: 'WAITING_APPROVAL',
  },
  COMPLETED: {},
  FAILED: {},
  CANCELLED: {},
  TIMED_OUT: {},
}

/** The state a verb leads to, or CONFLICT with the reason. */
export function decideRun(state: RunState, verb: RunVerb): RunState | Refusal {
  const next = runTable[state][verb]
  if (next) return next
  return new Refusal('CONFLICT', isLive(state) ? waitsMessage(state, verb) : `The run has ended (${state}).`)
}

/** The states in which a verb is taken. */
export const statesThatTake = (verb: RunVerb): RunState[] =>
  runStates.filter((state) => runTable[state][verb])

const waitsMessage = (state: RunState, verb: RunVerb) =>
  state === 'WAITING_APPROVAL'
    ? 'The run waits for an answer.'
    : state === 'OFFERED'
      ? 'The run has not started.'
      : `A run in state ${state} can't ${verb}.`

export const effectStates = ['NONE', 'KNOWN', 'UNKNOWN'] as const
export type EffectState = (typeof effectStates)[number]

/** What a run began: tool calls that it told of, asks and actions that were allowed; and what has a result. */
export interface Effects {
  calls: number
  allowed: number
  results: number
  /** Of the ledger: the actions that were allowed, and those of them that have a result. */
  actions?: number
  actionResults?: number
}

/**
 * What is known of a run's effects at its end: NONE when nothing was done or allowed, UNKNOWN when something that was
 * started or allowed has no result, else KNOWN.
 */
export function effectsAtEnd(counts: Effects): EffectState {
  const { calls, allowed, results, actions = 0, actionResults = 0 } = counts
  const begun = Math.max(calls, allowed)
  if (begun + actions === 0) return 'NONE'
  return results < begun || actionResults < actions ? 'UNKNOWN' : 'KNOWN'
}

// --- Runtimes ---------------------------------------------------------------------------------------------------------
//
//   CONNECTED ── silent for 30 s ──▶ DISCONNECTED ── any sign of life ──▶ CONNECTED

export const runtimeStates = ['CONNECTED', 'DISCONNECTED'] as const
export type RuntimeState = (typeof runtimeStates)[number]
/** A runtime that gave no sign of life for this long is DISCONNECTED. */
export const runtimeSilenceMs = 30_000

// --- Approvals --------------------------------------------------------------------------------------------------------
//
//   OPEN ── answer ──▶ ANSWERED      OPEN ── its deadline ──▶ EXPIRED (the default decides)
//   OPEN ── its run ends ──▶ WITHDRAWN

export const approvalKinds = ['TOOL', 'PLAN', 'QUESTION', 'HANDOFF'] as const
export type ApprovalKind = (typeof approvalKinds)[number]
export const approvalStates = ['OPEN', 'ANSWERED', 'EXPIRED', 'WITHDRAWN'] as const
export type ApprovalState = (typeof approvalStates)[number]
export type ApprovalVerb = 'answer' | 'expire' | 'withdraw'

const approvalTable: Record<ApprovalVerb, ApprovalState> = {
  answer: 'ANSWERED',
  expire: 'EXPIRED',
  withdraw: 'WITHDRAWN',
}

/**
 * One answer wins. Whatever comes later is a CONFLICT that tells the first decision; so is an answer past the deadline,
 * from which on only the default decides, even while nobody has come to apply it.
 */
export function decideApproval(
  approval: { state: ApprovalState; decision: string | null; expiresAt: Date; defaultDecision: string },
  verb: ApprovalVerb,
  now: Date,
): ApprovalState | Refusal {
  const late = approval.expiresAt <= now
  if (approval.state === 'OPEN' && verb === 'answer' && late) {
    return new Refusal('CONFLICT', `The deadline of this ask has passed: ${approval.defaultDecision}.`)
  }
  if (approval.state === 'OPEN' && verb === 'expire' && !late) {
    return new Refusal('CONFLICT', 'The deadline of this ask has not passed.')
  }
  if (approval.state === 'OPEN') return approvalTable[verb]
  const what = { ANSWERED: 'was answered', EXPIRED: 'has expired', WITHDRAWN: 'was withdrawn' }[
    approval.state
  ]
  return new Refusal('CONFLICT', `This ask ${what}${approval.decision ? `: ${approval.decision}` : ''}.`)
}

const yesNo = ['allow', 'deny']
/** A deadline can be at most this far off. */
export const maxApprovalMs = 30 * 24 * 3_600_000

export interface Ask {
  kind: ApprovalKind
  options?: string[] | undefined
  defaultDecision?: string | undefined
  expiresAt?: Date | undefined
}

/**
 * Completes an ask: TOOL and PLAN offer `allow` and `deny`, default `deny`; a QUESTION brings 1–8 options of its own and
 * names its default; HANDOFF is the server's own. The deadline is the asker's (in the future, at most 30 days) or the
 * project's.
 */
export function completeAsk(
  ask: Ask,
  now: Date,
  ttlMs: number,
): { options: string[]; defaultDecision: string; expiresAt: Date } | Refusal {
  const wrong = (path: string, message: string) =>
    new Refusal('INVALID_INPUT', 'The ask is not valid.', { issues: [{ path: [path], message }] })
  if (ask.kind === 'HANDOFF') return wrong('kind', 'HANDOFF asks are made by the server only')
  const question = ask.kind === 'QUESTION'
  const options = question ? (ask.options ?? []) : (ask.options ?? yesNo)
  if (question && (options.length < 1 || options.length > 8))
    return wrong('options', 'a QUESTION has 1 to 8 options')
  if (new Set(options).size !== options.length) return wrong('options', 'an option is named twice')
  if (!question && (options.length !== 2 || !yesNo.every((option) => options.includes(option)))) {
    return wrong('options', `a ${ask.kind} offers allow and deny`)
  }
  const defaultDecision = ask.defaultDecision ?? (question ? undefined : 'deny')
  if (defaultDecision === undefined) return wrong('defaultDecision', 'a QUESTION names its default')
  if (!options.includes(defaultDecision)) return wrong('defaultDecision', 'is not one of the options')
  const expiresAt = ask.expiresAt ?? new Date(now.getTime() + ttlMs)
  if (expiresAt <= now) return wrong('expiresAt', 'is not in the future')
  if (expiresAt.getTime() > now.getTime() + maxApprovalMs)
    return wrong('expiresAt', 'is more than 30 days off')
  return { options: question ? options : yesNo, defaultDecision, expiresAt }
}

// --- Submitting -------------------------------------------------------------------------------------------------------

export interface TurnFacts {
  liveRunsOfSession: number
  maxLiveRunsPerSession: number
  liveRunsOfProject: number
  maxConcurrentRuns: number
}

/** Whether a session has room for another run. */
export const admitSession = (
  facts: Pick<TurnFacts, 'liveRunsOfSession' | 'maxLiveRunsPerSession'>,
): Refusal | null =>
  facts.liveRunsOfSession < facts.maxLiveRunsPerSession
    ? null
    : new Refusal(
        'SESSION_BUSY',
        'A run is alive in this session. Steer it, cancel it, or wait for its end.',
        {
          retryAfterMs: 1_000,
        },
      )

/** Whether a turn may take a slot. Back-pressure, never a queue: the sender is told when to try again. */
export const admitTurn = (facts: TurnFacts): Refusal | null =>
  admitSession(facts) ?? (facts.liveRunsOfProject >= facts.maxConcurrentRuns ? atCapacity() : null)

export const atCapacity = () =>
  new Refusal('CAPACITY', 'The project has as many runs alive as its limit allows.', { retryAfterMs: 1_000 })
export const noRuntime = () =>
  new Refusal('RUNTIME_UNAVAILABLE', 'No agent runtime with a free slot is connected to this project.', {
    retryAfterMs: 5_000,
  })

// --- Usage ------------------------------------------------------------------------------------------------------------

export const usageFields = [
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'modelCalls',
  'toolCalls',
  'milliseconds',
] as const
export type UsageField = (typeof usageFields)[number]
export type Usage = Partial<Record<UsageField, number>>
export const maxCount = 2_147_483_647

/** Reads the free-form usage that a run ends with. Unknown names and anything but whole numbers 0…2³¹−1 are refused. */
export function readUsage(value: unknown): Usage | Refusal {
  if (value === undefined || value === null) return {}
  const wrong = (path: string[], message: string) =>
    new Refusal('INVALID_INPUT', 'The usage is not valid.', {
      issues: [{ path: ['usage', ...path], message }],
    })
  if (typeof value !== 'object' || Array.isArray(value)) return wrong([], 'must be an object of counts')
  for (const [name, count] of Object.entries(value)) {
    if (!(usageFields as readonly string[]).includes(name))
      return wrong([], `knows only ${usageFields.join(', ')}`)
    if (!Number.isInteger(count) || (count as number) < 0 || (count as number) > maxCount) {
      return wrong([name], `must be a whole number, 0 to ${maxCount}`)
    }
  }
  return value as Usage
}

// --- Events that a runtime may write ---------------------------------------------------------------------------------

export const runtimeEventTypes = [
  'TOOL_CALL',
  'TOOL_RESULT',
  'ANSWER_DELTA',
  'REASONING_DELTA',
  'INFO',
] as const
export type RuntimeEventType = (typeof runtimeEventTypes)[number]
export const isRuntimeEventType = (type: string): type is RuntimeEventType =>
  (runtimeEventTypes as readonly string[]).includes(type)

/** Deltas are the text that people see grow: they carry `text`. */
export function checkRuntimeEvent(type: string, payload: unknown, index: number): Refusal | null {
  const wrong = (path: string[], message: string) =>
    new Refusal('INVALID_INPUT', 'An event is not valid.', {
      issues: [{ path: ['events', String(index), ...path], message }],
    })
  if (!isRuntimeEventType(type)) return wrong(['type'], `a runtime writes ${runtimeEventTypes.join(', ')}`)
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload))
    return wrong(['payload'], 'must be an object')
  if (type.endsWith('_DELTA') && typeof (payload as { text?: unknown }).text !== 'string') {
    return wrong(['payload', 'text'], 'a delta carries its text')
  }
  return null
}

// --- Answers ----------------------------------------------------------------------------------------------------------

/** Characters (code points) of an answer, given or streamed. */
export const maxAnswerCharacters = 1_000_000

/** A run's answer: the text, null when there is none, and whether its deltas hold it already. */
export interface Answer {
  text: string | null
  streamed: boolean
}

/** The answer is what was given, or else the joined deltas (null: nothing was streamed); both and unequal is refused. */
export function answerOf(
  given: string | undefined,
  deltas: { characters: number; text: string } | null,
): Answer | Refusal {
  if (deltas && deltas.characters > maxAnswerCharacters) {
    const message = `what was streamed must be at most ${maxAnswerCharacters} characters`
    return new Refusal('EVENT_TOO_LARGE', 'The answer is too long. The run can only be failed.', {
      issues: [{ path: ['answer'], message }],
    })
  }
  if (given !== undefined && deltas && deltas.text !== given) {
    const message = 'must equal the joined ANSWER_DELTA texts, or be left out'
    return new Refusal('INVALID_INPUT', 'The answer is not what was streamed.', {
      issues: [{ path: ['answer'], message }],
    })
  }
  const text = given ?? deltas?.text ?? ''
  return { text: text === '' ? null : text, streamed: deltas !== null }
}

/** The families of tools, in the order in which plans list them. */
export const toolGroups = [
  'DATA',
  'FILE',
  'KNOWLEDGE',
  'TASK',
  'COLLABORATION',
  'WORKSPACE',
  'SKILL',
  'MCP',
] as const
