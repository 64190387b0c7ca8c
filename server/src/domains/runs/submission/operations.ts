import { type Call, transactOnce } from '../../../platform/idempotency.ts'
import { encodeId, type Ref } from '../../../platform/ids.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { type Platform, transactSingle, type Unit } from '../../../platform/transaction.ts'
import { authorityOf, lockSession } from '../../sessions/operations.ts'
import { decideSession, titleFrom, untitled } from '../../sessions/rules.ts'
import { indexOf } from '../../sessions/words.ts'
import { publicId } from '../operations.ts'
import * as rules from '../rules.ts'
import * as store from '../store.ts'

/** What is stored for a replay: keys and the cursor; nodes are read anew. */
export interface TurnReceipt {
  [key: string]: string | number
  projectId: string
  runId: string
  routeId: string
  cursor: number
}

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
export function submitTurn(platform: Platform, call: Call, turn: SubmitTurn): Promise<TurnReceipt> {
  const work = (unit: Unit) => submit(unit, call, turn)
  return call.key === null ? transactSingle(platform, work) : transactOnce(platform, call, work)
}

const maxTries = 5

async function submit(unit: Unit, call: Call, turn: SubmitTurn): Promise<TurnReceipt> {
  const offer = offerOf(unit, call, turn)
  const routed = !(rules.routeByDefault(turn.protocol) instanceof Refusal)
  for (let tries = 1; ; tries += 1) {
    const written = routed && (await store.insertTurn(unit.tx, offer))
    if (written) {
      const { projectId, id } = turn.sessionId
      unit.hint({ topic: 'session', projectId, id })
      unit.hint({ topic: 'project', id: projectId })
      unit.hint({ topic: 'runtime', projectId, id: written.runtimeId })
      return { projectId, runId: offer.runId, routeId: offer.routeId, cursor: written.cursor }
    }
    // Nothing was written. Whatever was not to be had may be free by now: then it is tried again.
    const refusal = await refusalOf(unit, turn, offer)
    if (refusal) throw refusal
    if (tries >= maxTries) throw rules.noRuntime()
  }
}

/** Why a turn can't be taken as things are now; null when it could be. */
async function refusalOf(unit: Unit, turn: SubmitTurn, offer: store.NewTurn): Promise<Refusal | null> {
  const session = await lockSession(unit, turn.sessionId)
  const route = rules.routeByDefault(turn.protocol)
  if (route instanceof Refusal) return route
  const change = decideSession(session, 'submit', turn.expectedGeneration)
  if (change instanceof Refusal) return change
  return (
    rules.admitTurn({
      liveRunsOfSession: session.liveRuns,
      maxLiveRunsPerSession: session.maxLiveRunsPerSession,
      liveRunsOfProject: session.projectLiveRuns,
      maxConcurrentRuns: session.maxConcurrentRuns,
    }) ?? ((await store.hasFreeRuntime(unit.tx, offer)) ? null : rules.noRuntime())
  )
}

function offerOf(unit: Unit, call: Call, turn: SubmitTurn): store.NewTurn {
  const { sessionId: session } = turn
  const [runId, routeId, messageId] = [unit.ids.next(), unit.ids.next(), unit.ids.next()]
  const run = publicId('Run', session.projectId, runId)
  const authority = authorityOf(call.viewer, session)
  return {
    session,
    expectedGeneration: turn.expectedGeneration ?? null,
    runId,
    routeId,
    messageId,
    signalId: unit.ids.next(),
    authorId: call.viewer.principalId,
    authority,
    text: turn.text,
    words: indexOf(turn.text),
    title: titleFrom(turn.text),
    untitled,
    protocol: rules.generalTask,
    // A runtime of another project is like none: no row of this one has its id.
    runtimeId: turn.runtimeId?.id ?? null,
    now: unit.now,
    seenSince: new Date(unit.now.getTime() - rules.runtimeSilenceMs),
    messagePayload: {
      messageId: publicId('Message', session.projectId, messageId),
      runId: run,
      authority,
      author: encodeId({ type: 'Principal', id: call.viewer.principalId }),
      text: turn.text,
    },
    routePayload: {
      routeId: publicId('RouteDecision', session.projectId, routeId),
      target: 'AGENT',
      relation: 'SIDE_CHAT',
      protocol: rules.generalTask,
      source: 'DEFAULT',
      reasons: [],
      warnings: [],
    },
    offerPayload: { runId: run },
  }
}
