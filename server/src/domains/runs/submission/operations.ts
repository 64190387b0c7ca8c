import { type Call, transactOnce } from '../../../platform/idempotency.ts'
import { encodeId, type Ref } from '../../../platform/ids.ts'
import { accept } from '../../../platform/refusal.ts'
import type { Platform } from '../../../platform/transaction.ts'
import { authorityOf, lockSession } from '../../sessions/operations.ts'
import { decideSession, titleFrom, untitled } from '../../sessions/rules.ts'
import { wordsOf } from '../../sessions/words.ts'
import { publicId } from '../operations.ts'
import * as rules from '../rules.ts'
import * as store from '../store.ts'

export interface SubmitTurn {
  sessionId: Ref
  text: string
  protocol?: string | undefined
  runtimeId?: Ref | undefined
  expectedGeneration?: number | undefined
}

/**
 * Takes a turn, or refuses it: the receipt comes only after the run holds a slot of its project and of a connected
 * runtime and all of it is committed. Refusals: SESSION_CLOSED, CONFLICT (generation), PROTOCOL_UNKNOWN, SESSION_BUSY,
 * CAPACITY, RUNTIME_UNAVAILABLE.
 */
export function submitTurn(platform: Platform, call: Call, turn: SubmitTurn) {
  return transactOnce(platform, call, async (unit) => {
    const session = await lockSession(unit, turn.sessionId)
    accept(rules.routeByDefault(turn.protocol))
    accept(decideSession(session, 'submit', turn.expectedGeneration))
    const refusal = rules.admitTurn({
      liveRunsOfSession: session.liveRuns,
      maxLiveRunsPerSession: session.maxLiveRunsPerSession,
      liveRunsOfProject: session.projectLiveRuns,
      maxConcurrentRuns: session.maxConcurrentRuns,
    })
    if (refusal) throw refusal
    if (turn.runtimeId && turn.runtimeId.projectId !== session.projectId) throw rules.noRuntime()

    const { projectId } = session
    const [runId, routeId, messageId] = [unit.ids.next(), unit.ids.next(), unit.ids.next()]
    const authority = authorityOf(call.viewer, session)
    const ids = {
      run: publicId('Run', projectId, runId),
      route: publicId('RouteDecision', projectId, routeId),
      message: publicId('Message', projectId, messageId),
    }
    const offerExpiresAt = new Date(unit.now.getTime() + session.offerTimeoutMs)
    const offer = {
      session,
      runId,
      routeId,
      messageId,
      signalId: unit.ids.next(),
      authorId: call.viewer.principalId,
      authority,
      text: turn.text,
      words: wordsOf(turn.text).join(' '),
      title: session.title === untitled ? titleFrom(turn.text) : null,
      protocol: rules.generalTask,
      model: session.model,
      thinkingLevel: session.thinkingLevel,
      runtimeId: turn.runtimeId?.id ?? null,
      now: unit.now,
      seenSince: new Date(unit.now.getTime() - rules.runtimeSilenceMs),
      offerExpiresAt,
      maxConcurrentRuns: session.maxConcurrentRuns,
      messagePayload: {
        messageId: ids.message,
        runId: ids.run,
        authority,
        author: encodeId({ type: 'Principal', id: call.viewer.principalId }),
        text: turn.text,
      },
      routePayload: {
        routeId: ids.route,
        target: 'AGENT',
        relation: 'SIDE_CHAT',
        protocol: rules.generalTask,
        source: 'DEFAULT',
        reasons: [],
        warnings: [],
      },
      offerPayload: { runId: ids.run, expiresAt: offerExpiresAt.toISOString() },
    }
    let result = await store.insertTurn(unit.tx, offer)
    // The runtime that was chosen may have been filled while we waited for its row; there may be another one.
    while (!result.tookRuntime && (await store.hasFreeRuntime(unit.tx, offer)))
      result = await store.insertTurn(unit.tx, offer)
    if (!result.tookRuntime) throw rules.noRuntime()
    if (!result.tookSlot || result.cursor === null || result.runtimeId === null) throw rules.atCapacity()
    unit.hint({ topic: 'session', projectId, id: session.id })
    unit.hint({ topic: 'project', id: projectId })
    unit.hint({ topic: 'runtime', projectId, id: result.runtimeId })
    return { projectId, runId, routeId, cursor: result.cursor }
  })
}
