import type { NodeRef } from './ids.ts'

/** The closed set of refusal codes of what is built. Anything else that goes wrong is masked and logged. */
export const refusalCodes = {
  INVALID_INPUT: 'InvalidInput',
  INVALID_EVENT_PAYLOAD: 'InvalidInput',
  EVENT_TOO_LARGE: 'InvalidInput',
  PERMISSION_DENIED: 'PermissionDenied',
  NOT_FOUND: 'NotFound',
  CONFLICT: 'Conflict',
  IDEMPOTENCY_CONFLICT: 'Conflict',
  RUN_FENCED: 'Conflict',
  SESSION_INTENT_REVISION_CONFLICT: 'Conflict',
  SEGMENT_REVISION_CONFLICT: 'Conflict',
  RUN_INTENT_BINDING_REQUIRED: 'Conflict',
  UNAUTHENTICATED: 'Refused',
  UNSUPPORTED_VERSION: 'Refused',
  INVALID_CURSOR: 'Refused',
  RATE_LIMITED: 'Refused',
  TOO_COMPLEX: 'Refused',
  SESSION_CLOSED: 'Refused',
  SESSION_BUSY: 'Refused',
  CAPACITY: 'Refused',
  RUNTIME_UNAVAILABLE: 'Refused',
  PROTOCOL_UNKNOWN: 'Refused',
  PROTOCOL_NOT_AUTHORIZED: 'Refused',
  INTENT_FULL: 'Refused',
  TOOL_UNKNOWN: 'Refused',
  ACTION_NOT_ALLOWED_IN_PHASE: 'Refused',
  INTENT_STALE: 'Refused',
  STRICT_GOALS_OPEN: 'Refused',
  HANDOFF_TARGET_NOT_ALLOWED: 'Refused',
  ROUTE_CORRECTION_NOT_ALLOWED: 'Refused',
  COMPLETION_GOALS_OPEN: 'Refused',
} as const

export type RefusalCode = keyof typeof refusalCodes
export type ProblemType = (typeof refusalCodes)[RefusalCode]

const retryable = new Set<RefusalCode>([
  'CAPACITY',
  'RATE_LIMITED',
  'SESSION_BUSY',
  'RUNTIME_UNAVAILABLE',
  'SESSION_INTENT_REVISION_CONFLICT',
])

export interface InputIssue {
  /** Field names and list positions from the input down. */
  path: string[]
  message: string
}

export interface RefusalDetail {
  issues?: InputIssue[]
  /** What the caller lacks, where it may know. */
  capability?: string
  /** What is true now, for a lost race. */
  current?: NodeRef
  retryAfterMs?: number
  open?: string[]
}

/**
 * A refusal as data: a code of the closed set, words for a person, and what helps to do better. Rules return it;
 * operations throw it, so that the transaction around them writes nothing.
 */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly detail: RefusalDetail
  constructor(code: RefusalCode, message: string, detail: RefusalDetail = {}) {
    super(message)
    this.code = code
    this.detail = detail
  }
  get retryable() {
    return retryable.has(this.code)
  }
  get problem(): ProblemType {
    return refusalCodes[this.code]
  }
}

/** What is missing and what the caller may not see are the same answer. */
export const notFound = () => new Refusal('NOT_FOUND', 'There is nothing here that you can see.')

/** `INVALID_INPUT` about one field. The message never repeats the value. */
export const invalid = (path: string | string[], message: string) =>
  new Refusal('INVALID_INPUT', message, { issues: [{ path: Array.isArray(path) ? path : [path], message }] })

/** Hands a rule's result on, or throws its refusal. */
export function accept<T>(result: T | Refusal): T {
  if (result instanceof Refusal) throw result
  return result
}
