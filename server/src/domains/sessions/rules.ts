import { Refusal } from '../../platform/refusal.ts'

/*
 * A session's life:
 *
 *            close                    open
 *   OPEN ───────────▶ CLOSED      CLOSED ───────────▶ OPEN        each raises the generation
 *   OPEN ──open──▶ OPEN           CLOSED ──close──▶ CLOSED        changes nothing
 *   any, without a live run ──delete──▶ (gone)
 */

export const sessionStates = ['OPEN', 'CLOSED'] as const
export type SessionState = (typeof sessionStates)[number]

export type SessionVerb = 'open' | 'close' | 'closeAndCancel' | 'rename' | 'configure' | 'delete' | 'submit'

export interface SessionFacts {
  state: SessionState
  generation: number
  liveRuns: number
}

/** What a verb does to a session: its next state, nothing at all, or its end. */
export type SessionChange =
  | { kind: 'become'; state: SessionState }
  | { kind: 'keep' }
  | { kind: 'update' }
  | { kind: 'purge' }

const conflict = (message: string) => new Refusal('CONFLICT', message)

/** The project has as many open sessions as it can have. */
export const noRoom = () =>
  new Refusal('CAPACITY', 'The project has as many open sessions as its limit allows. Close one first.', {
    retryAfterMs: 60_000,
  })

/**
 * Decides a verb on a session. An `expectedGeneration` that is not the present one is fenced with CONFLICT, whatever
 * the verb. (Generations fence commands that were meant for an earlier opening.)
 */
export function decideSession(
  session: SessionFacts,
  verb: SessionVerb,
  expectedGeneration?: number,
): SessionChange | Refusal {
  if (expectedGeneration !== undefined && expectedGeneration !== session.generation) {
    return conflict(`The session is at generation ${session.generation} by now.`)
  }
  switch (verb) {
    case 'open':
      return session.state === 'OPEN' ? { kind: 'keep' } : { kind: 'become', state: 'OPEN' }
    case 'close':
    case 'closeAndCancel':
      if (session.state === 'CLOSED') return { kind: 'keep' }
      if (session.liveRuns > 0 && verb === 'close') {
        return conflict('A run is alive in this session. Cancel it first, or close with `cancelActive`.')
      }
      return { kind: 'become', state: 'CLOSED' }
    case 'rename':
    case 'configure':
      return { kind: 'update' }
    case 'delete':
      return session.liveRuns > 0
        ? conflict('A run is alive in this session. Cancel it first.')
        : { kind: 'purge' }
    case 'submit':
      return session.state === 'OPEN'
        ? { kind: 'update' }
        : new Refusal('SESSION_CLOSED', 'This session is closed. Open it to go on.')
    default:
      return verb satisfies never
  }
}

/** A title for a session that got none: what its first turn says, else a neutral word. At most 120 characters. */
export const titleFrom = (text: string | undefined): string => {
  const line = (text ?? '').trim().split('\n')[0]?.trim() ?? ''
  const letters = [...line]
  if (letters.length === 0) return 'Untitled session'
  return letters.length <= 120 ? line : `${letters.slice(0, 119).join('')}…`
}

export const untitled = 'Untitled session'
