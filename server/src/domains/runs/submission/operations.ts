import { type Call, replayed, transactOnce } from '../../../platform/idempotency.ts'
import { encodeId, type Ref } from '../../../platform/ids.ts'
import { type Entry, isInProjectFeed } from '../../../platform/journal.ts'
import { accept, Refusal } from '../../../platform/refusal.ts'
import { type Platform, transactSingle, type Unit } from '../../../platform/transaction.ts'
import { revisedEvent } from '../../intents/operations.ts'
import { changeOfTurn, headConflict } from '../../intents/rules.ts'
import { type Classifier, type RoutedTurn, routeTurn } from '../../routing/operations.ts'
import { authorityOf, lockSession } from '../../sessions/operations.ts'
import { decideSession, titleFrom, untitled } from '../../sessions/rules.ts'
import { indexOf } from '../../sessions/words.ts'
import { publicId } from '../operations.ts'
import * as rules from '../rules.ts'
import { startedEvent } from '../segments/operations.ts'
import * as store from './store.ts'

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

const maxTries = 5

/**
 * Routes a turn and takes it, or refuses it: the receipt comes only after the run holds a slot of its project and of a
 * connected runtime and all of it is committed. The routing comes before the transaction, which requires that the
 * session is still at the task that was routed on. When it has moved, what was decided by rules is decided again; what a
 * model decided is SESSION_INTENT_REVISION_CONFLICT. Refusals: SESSION_CLOSED, CONFLICT (generation), PROTOCOL_UNKNOWN,
 * PROTOCOL_NOT_AUTHORIZED, INTENT_FULL, SESSION_BUSY, CAPACITY, RUNTIME_UNAVAILABLE.
 */
export async function submitTurn(
  platform: Platform & { classifier: Classifier | null },
  call: Call,
  turn: SubmitTurn,
): Promise<TurnReceipt> {
  const before = await replayed<TurnReceipt>(platform, call)
  if (before) return before
  // What could not be taken anyway is refused before a model is asked.
  const beforeAsking = () =>
    transactSingle(platform, async (unit) => {
      const refusal = await refusalOf(unit, turn, null)
      if (refusal) throw refusal
    })
  for (let tries = 1; ; tries += 1) {
    const { sessionId: session, text, protocol } = turn
    const routed = await routeTurn(platform, { session, text, protocol }, beforeAsking)
    const work = (unit: Unit) => submit(unit, call, turn, routed)
    try {
      return await (call.key === null ? transactSingle(platform, work) : transactOnce(platform, call, work))
    } catch (error) {
      const moved = error instanceof Refusal && error.code === 'SESSION_INTENT_REVISION_CONFLICT'
      if (!moved || routed.source === 'CLASSIFIER' || tries >= maxTries) throw error
    }
  }
}

async function submit(unit: Unit, call: Call, turn: SubmitTurn, routed: RoutedTurn): Promise<TurnReceipt> {
  const offer = offerOf(unit, call, turn, routed)
  for (let tries = 1; ; tries += 1) {
    const written = await store.insertTurn(unit.tx, offer)
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
async function refusalOf(unit: Unit, turn: SubmitTurn, offer: store.NewTurn | null): Promise<Refusal | null> {
  const session = await lockSession(unit, turn.sessionId)
  const change = decideSession(session, 'submit', turn.expectedGeneration)
  if (change instanceof Refusal) return change
  const full = rules.admitTurn({
    liveRunsOfSession: session.liveRuns,
    maxLiveRunsPerSession: session.maxLiveRunsPerSession,
    liveRunsOfProject: session.projectLiveRuns,
    maxConcurrentRuns: session.maxConcurrentRuns,
  })
  if (full) return full
  if (offer && session.headId !== offer.baseId) return headConflict()
  const wanted = { session, runtimeId: turn.runtimeId?.id ?? null, seenSince: seenSince(unit) }
  return (await store.hasFreeRuntime(unit.tx, wanted)) ? null : rules.noRuntime()
}

const seenSince = (unit: Unit) => new Date(unit.now.getTime() - rules.runtimeSilenceMs)

function offerOf(unit: Unit, call: Call, turn: SubmitTurn, route: RoutedTurn): store.NewTurn {
  const { head } = route
  const phase = route.protocolNow.initialPhase
  const { sessionId: session } = turn
  const { projectId } = session
  const [runId, routeId, messageId] = [unit.ids.next(), unit.ids.next(), unit.ids.next()]
  const [revisionId, segmentId] = [unit.ids.next(), unit.ids.next()]
  const run = publicId('Run', projectId, runId)
  const authority = authorityOf(call.viewer, session)
  const authorId = call.viewer.principalId
  const change = accept(
    changeOfTurn(
      head,
      {
        relation: route.relation,
        protocol: route.protocol,
        ...(route.task ?? { text: turn.text, messageId }),
      },
      { task: unit.ids.next(), requirement: unit.ids.next() },
    ),
  )
  // A fork's first revision is its r1, whatever the number of the one that it continues from.
  const number = (head?.own ? head.number : 0) + 1
  const activeId = change ? revisionId : (head?.id ?? null)
  const taskMessageId = route.task?.messageId ?? messageId
  const revision = change && {
    id: revisionId,
    number,
    messageId: taskMessageId,
    change,
    title: titleFrom(change.text),
    untitled,
  }
  const task = (id: string | null) => id && publicId('IntentRevision', projectId, id)
  const events: Entry[] = [
    {
      type: 'MESSAGE',
      subjectId: messageId,
      payload: {
        messageId: publicId('Message', projectId, messageId),
        runId: run,
        authority,
        author: encodeId({ type: 'Principal', id: authorId }),
        text: turn.text,
      },
    },
    {
      type: 'ROUTE_DECIDED',
      subjectId: routeId,
      payload: {
        routeId: publicId('RouteDecision', projectId, routeId),
        target: route.target,
        relation: route.relation,
        protocol: route.protocol,
        source: route.source,
        reasons: route.reasons,
        warnings: route.warnings,
        base: task(head?.id ?? null),
        active: task(activeId),
      },
    },
    ...(change
      ? [
          revisedEvent(projectId, {
            id: revisionId,
            number,
            previousId: head?.id ?? null,
            change,
            runId,
            messageId: taskMessageId,
            authorId,
            note: null,
          }),
        ]
      : []),
    startedEvent({ projectId, id: segmentId, number: 1, protocol: route.protocol, phase, openedBy: 'ROUTE' }),
    { type: 'RUN_OFFERED', payload: { runId: run } },
  ]
  return {
    session,
    expectedGeneration: turn.expectedGeneration ?? null,
    baseId: head?.id ?? null,
    revision,
    route,
    segment: { id: segmentId, protocol: route.protocol, phase, openedBy: 'ROUTE' },
    runId,
    routeId,
    messageId,
    signalId: unit.ids.next(),
    authorId,
    authority,
    text: turn.text,
    words: indexOf(turn.text),
    // A runtime of another project is like none: no row of this one has its id.
    runtimeId: turn.runtimeId?.id ?? null,
    now: unit.now,
    seenSince: seenSince(unit),
    events: events.map((event) => ({ ...event, inFeed: isInProjectFeed(event.type) })),
  }
}
