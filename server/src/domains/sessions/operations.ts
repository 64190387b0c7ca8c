import type { Ref } from '../../platform/ids.ts'
import { notFound } from '../../platform/refusal.ts'
import type { Unit } from '../../platform/transaction.ts'
import { allows, type Viewer } from '../access/rules.ts'
import * as store from './store.ts'
import { indexOf } from './words.ts'

export type { LockedSession, MessageRow, SessionRow } from './store.ts'
export { lockSessionOfRun } from './store.ts'

export const loadSessions = store.sessionsByRef
export const loadMessages = store.messagesByRef

/** Locks a session for the rest of the transaction; NOT_FOUND when it is gone. */
export async function lockSession(
  unit: Unit,
  ref: Ref,
  strength?: store.LockStrength,
): Promise<store.LockedSession> {
  const session = await store.lockSession(unit.tx, ref, strength)
  if (!session) throw notFound()
  return session
}

export type Authority = 'OWNER' | 'MEMBER' | 'AGENT' | 'CHANNEL' | 'SYSTEM'

/** Whose word a message is: an owner's, another member's, an agent's, or that of somebody on a channel. */
export function authorityOf(viewer: Viewer, session: Ref): Authority {
  if (viewer.principalKind === 'RUNTIME' || viewer.principalKind === 'WORKER') return 'AGENT'
  if (viewer.principalKind === 'CHANNEL') return 'CHANNEL'
  return allows(viewer, 'project.own', { projectId: session.projectId, sessionId: session.id })
    ? 'OWNER'
    : 'MEMBER'
}

/** Writes a message whose journal event has just been appended at `sequence`. */
export const addMessage = (unit: Unit, message: Omit<store.NewMessage, 'words' | 'at'>) =>
  store.insertMessage(unit.tx, { ...message, words: indexOf(message.text), at: unit.now })

const windowMessages = 16
const windowCharacters = 12_000

/**
 * The part of the transcript that every runtime gets with a message: at most 16 messages and 12 000 characters before
 * it, oldest first; the newest are kept whole, and the first that does not fit ends the window.
 */
export async function windowBefore(
  db: Parameters<typeof store.messagesBefore>[0],
  session: Ref,
  sequence: number,
) {
  const newest = await store.messagesBefore(db, session, sequence, windowMessages)
  const kept: store.MessageRow[] = []
  let characters = 0
  for (const message of newest) {
    characters += message.text.length
    if (characters > windowCharacters) break
    kept.unshift(message)
  }
  return kept
}

/** A page of a project's sessions, those of `visible` that pass the filter. */
export const listSessions = store.sessionPage
