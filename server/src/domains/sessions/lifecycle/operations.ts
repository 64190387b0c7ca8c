import { type Call, transactOnce } from '../../../platform/idempotency.ts'
import { encodeId, type Ref } from '../../../platform/ids.ts'
import { append, appendToProject, type Json } from '../../../platform/journal.ts'
import { accept, Refusal } from '../../../platform/refusal.ts'
import { type Platform, transact, type Unit } from '../../../platform/transaction.ts'
import { audit } from '../../access/operations.ts'
import type { ThinkingLevel } from '../../projects/rules.ts'
import { cancelRunsOf } from '../../runs/steering/operations.ts'
import { type LockedSession, lockSession } from '../operations.ts'
import { decideSession, noRoom, type SessionVerb, untitled } from '../rules.ts'
import * as store from '../store.ts'

const by = (call: Call) => encodeId({ type: 'Principal', id: call.viewer.principalId })

/** Creates an OPEN session of generation 1 with the project's defaults. CAPACITY at the project's limit. */
export function createSession(
  platform: Platform,
  call: Call,
  input: { projectId: string; title?: string | undefined },
) {
  return transactOnce(platform, call, async (unit) => {
    const session = { projectId: input.projectId, id: unit.ids.next() }
    const title = input.title ?? untitled
    const inserted = await store.insertSession(unit.tx, {
      ...session,
      title,
      createdBy: call.viewer.principalId,
      now: unit.now,
    })
    if (!inserted) throw noRoom()
    await append(unit, session, null, [
      { type: 'SESSION_CREATED', payload: { state: 'OPEN', generation: 1, title, by: by(call) } },
    ])
    return { projectId: session.projectId, sessionId: session.id }
  })
}

interface Target {
  sessionId: Ref
  expectedGeneration?: number | undefined
}

/** Locks a session and decides a verb on it; a lost race carries the session as it is. */
async function decide(unit: Unit, input: Target, verb: SessionVerb): Promise<LockedSession> {
  const session = await lockSession(unit, input.sessionId, verb === 'delete' ? 'DELETE' : 'WRITE')
  const change = decideSession(session, verb, input.expectedGeneration)
  if (change instanceof Refusal && change.code === 'CONFLICT') {
    throw new Refusal('CONFLICT', change.message, {
      current: { type: 'Session', projectId: session.projectId, id: session.id },
    })
  }
  accept(change)
  return session
}

/** Opens a closed session, one generation on. An open one is left as it is. */
export function openSession(platform: Platform, call: Call, input: Target) {
  return transact(platform, async (unit) => {
    const session = await decide(unit, input, 'open')
    if (session.state === 'CLOSED') {
      if (!(await store.setState(unit.tx, session, 'OPEN', unit.now))) throw noRoom()
      await append(unit, session, null, [
        {
          type: 'SESSION_OPENED',
          payload: { state: 'OPEN', generation: session.generation + 1, by: by(call) },
        },
      ])
    }
    return { projectId: session.projectId, sessionId: session.id }
  })
}

/** Closes a session, one generation on, its live runs cancelled first when the caller says so. */
export function closeSession(
  platform: Platform,
  call: Call,
  input: Target & { cancelActive?: boolean | undefined },
) {
  return transact(platform, async (unit) => {
    const session = await decide(unit, input, input.cancelActive ? 'closeAndCancel' : 'close')
    let cancelledRunIds: string[] = []
    if (session.state === 'OPEN') {
      cancelledRunIds = await cancelRunsOf(unit, session, call.viewer.principalId, 'The session was closed.')
      await store.setState(unit.tx, session, 'CLOSED', unit.now)
      await append(unit, session, null, [
        {
          type: 'SESSION_CLOSED',
          payload: { state: 'CLOSED', generation: session.generation + 1, by: by(call) },
        },
      ])
      await audit(unit, call, {
        action: 'session.close',
        subject: { type: 'Session', projectId: session.projectId, id: session.id },
        detail: { cancelledRuns: cancelledRunIds.length },
      })
    }
    return { projectId: session.projectId, sessionId: session.id, cancelledRunIds }
  })
}

export function renameSession(platform: Platform, call: Call, input: Target & { title: string }) {
  return transact(platform, async (unit) => {
    const session = await decide(unit, input, 'rename')
    if (session.title !== input.title) {
      await store.setTitle(unit.tx, session, input.title)
      await append(unit, session, null, [
        {
          type: 'SESSION_RENAMED',
          payload: {
            state: session.state,
            generation: session.generation,
            title: input.title,
            before: session.title,
            by: by(call),
          },
        },
      ])
    }
    return { projectId: session.projectId, sessionId: session.id }
  })
}

/** Model and thinking level of later turns; a turn in progress keeps what it started with. */
export function updateSessionSettings(
  platform: Platform,
  call: Call,
  input: Target & { model?: string | undefined; thinkingLevel?: ThinkingLevel | undefined },
) {
  return transact(platform, async (unit) => {
    const session = await decide(unit, input, 'configure')
    const model = input.model ?? session.model
    const thinkingLevel = input.thinkingLevel ?? session.thinkingLevel
    if (model !== session.model || thinkingLevel !== session.thinkingLevel) {
      await store.setModel(unit.tx, session, model, thinkingLevel)
      const payload: { [key: string]: Json } = {
        state: session.state,
        generation: session.generation,
        model,
        thinkingLevel,
        before: { model: session.model, thinkingLevel: session.thinkingLevel },
        by: by(call),
      }
      await append(unit, session, null, [{ type: 'SESSION_SETTINGS_CHANGED', payload }])
    }
    return { projectId: session.projectId, sessionId: session.id }
  })
}

/**
 * Deletes a session with all its history in one transaction. Only the audit entry and one line in the project's feed,
 * which name the id, stay. CONFLICT while a run is alive.
 */
export function deleteSession(
  platform: Platform,
  call: Call,
  input: Target & { reason?: string | undefined },
) {
  return transact(platform, async (unit) => {
    const session = await decide(unit, input, 'delete')
    const subject = { type: 'Session' as const, projectId: session.projectId, id: session.id }
    await store.purgeSession(unit.tx, session, session.state)
    await appendToProject(unit, session.projectId, {
      type: 'SESSION_DELETED',
      subjectId: session.id,
      payload: { sessionId: encodeId(subject), by: by(call) },
    })
    await audit(unit, call, { action: 'session.delete', subject, reason: input.reason })
    unit.hint({ topic: 'session', projectId: session.projectId, id: session.id })
    return { deletedId: encodeId(subject), retainedHistory: false, purgeFailures: [] as string[] }
  })
}
