import { type Call, transactOnce } from '../../../../platform/idempotency.ts'
import { encodeId, type Ref } from '../../../../platform/ids.ts'
import { append, type Entry } from '../../../../platform/journal.ts'
import { accept, invalid, notFound, Refusal } from '../../../../platform/refusal.ts'
import type { Platform, Unit } from '../../../../platform/transaction.ts'
import { audit } from '../../../access/operations.ts'
import {
  bind,
  bindingOf,
  commitRevision,
  headOf,
  loadBindings,
  revisionIn,
} from '../../../intents/operations.ts'
import { type Rerouted, reroute, taskBefore } from '../../../intents/rerouting/rules.ts'
import { type Change, headConflict, type Relation } from '../../../intents/rules.ts'
import { type ProtocolsOfProject, protocolsOf } from '../../../protocols/operations.ts'
import { nameOf, type Protocol, resolve } from '../../../protocols/rules.ts'
import { type LockedSession, loadMessages } from '../../../sessions/operations.ts'
import { lockRun } from '../../locks.ts'
import { liveRunsOf, lockRuntimesOf, publicId, signal } from '../../operations.ts'
import { isLive } from '../../rules.ts'
import { endedEvent, startedEvent } from '../../segments/operations.ts'
import type { LockedRun, RouteRow } from '../../store.ts'
import * as store from '../decisions/store.ts'
import { nextSegment } from '../handoff/transition.ts'
import { type Stand, standOf } from '../standing.ts'

export interface RerouteRun {
  runId: Ref
  relation?: Relation | undefined
  protocol?: string | undefined
  /** The decision that the caller saw; another one by now is CONFLICT. */
  expectedRouteId?: Ref | undefined
  reason: string
}
/** What is stored for a replay. `revisionId` is null where the task was left as it was. */
export interface RoutedAnew {
  projectId: string
  sessionId: string
  runId: string
  routeId: string
  revisionId: string | null
}

/** All that a re-route looks at, locked. `at` is where a live run stands; null for one that has ended. */
interface Seen extends Rerouted {
  session: LockedSession
  run: LockedRun
  decision: RouteRow
  at: Stand | null
}

/**
 * An owner says how a message relates to the task, or which protocol it belongs under, in place of what was decided: a
 * new decision that corrects the former one. What that one wrote is undone by a compensating revision, and the run is
 * bound anew. A live run under another protocol gets its next segment; what it had begun under the former one is ABORTED,
 * its goals with it. Live runs that acted under the task as it was are bound to what it is now, and told. Only while the
 * session's task is the one that the run acts under: else SESSION_INTENT_REVISION_CONFLICT. Nothing to change, another
 * decision than the one that was seen, and no task to go back to are CONFLICT. Audited.
 */
export async function rerouteRun(platform: Platform, call: Call, input: RerouteRun): Promise<RoutedAnew> {
  if (input.relation === undefined && input.protocol === undefined)
    throw invalid('relation', 'say what changes: this, or `protocol`')
  const protocols = await protocolsOf(platform.db, input.runId.projectId)
  return transactOnce(platform, call, async (unit) => {
    const seen = await look(unit, input, protocols)
    const { session, run, former } = seen
    const relation = input.relation ?? former.relation
    const target = targetOf(seen, relation, input.protocol, protocols)
    const next = { relation, protocol: target ? nameOf(target) : former.protocol }
    const ids = { task: unit.ids.next(), requirement: unit.ids.next() }
    const changes = accept(reroute(seen, next, ids))
    // All runtimes before whatever a signal takes: another order would be a deadlock.
    await lockRuntimesOf(unit.tx, session)
    const routeId = await decide(unit, call, input, seen, next)
    if (seen.at && target) {
      const { ended, segment } = await nextSegment(unit, session, run, seen.at, { target, by: 'REROUTE' })
      await append(unit, session, run.id, [endedEvent(ended), startedEvent(segment)])
    }
    const revisionId = await commit(unit, call, input, seen, changes)
    await bindAnew(unit, call, input, seen, { relation, revisionId })
    await audit(unit, call, {
      action: 'run.reroute',
      subject: { type: 'Run', projectId: run.projectId, id: run.id },
      reason: input.reason,
      detail: { from: { ...former }, to: next, routeId: publicId('RouteDecision', run.projectId, routeId) },
    })
    return { projectId: run.projectId, sessionId: session.id, runId: run.id, routeId, revisionId }
  })
}

async function look(unit: Unit, input: RerouteRun, protocols: ProtocolsOfProject): Promise<Seen> {
  const locked = await lockRun(unit.tx, input.runId)
  if (!locked) throw notFound()
  const { session, run } = locked
  const { projectId } = run
  const binding = await bindingOf(unit, run)
  if (binding.activeId !== session.headId) {
    const { code, message } = headConflict()
    const current = session.headId
      ? ({ type: 'IntentRevision', projectId, id: session.headId } as const)
      : ({ type: 'Session', projectId, id: session.id } as const)
    throw new Refusal(code, message, { current })
  }
  const decision = await store.decisionOf(unit.tx, run)
  if (input.expectedRouteId && input.expectedRouteId.id !== decision.id) {
    const current = { type: 'Run', projectId, id: run.id } as const
    throw new Refusal('CONFLICT', 'The run has been routed anew meanwhile.', { current })
  }
  const [message] = await loadMessages(unit.tx, [{ projectId, id: run.messageId }])
  if (!message) throw new Error('the message of a run is not there')
  const at = isLive(run.state) ? await standOf(unit, run, protocols) : null
  return {
    session,
    run,
    decision,
    at,
    former: { relation: binding.relation as Relation, protocol: at?.protocol ?? decision.protocol },
    base: binding.baseId === null ? null : await revisionIn(unit.tx, session, binding.baseId),
    head: await headOf(unit.tx, session),
    turn: { text: message.text, messageId: message.id },
  }
}

/**
 * The protocol that the run is to be under; null where it stays under the one that it is under. What goes on with the task
 * or adds to it is under the task's protocol, unless another one was named.
 */
function targetOf(
  seen: Seen,
  relation: Relation,
  named: string | undefined,
  protocols: ProtocolsOfProject,
): Protocol | null {
  const ofTask = relation === 'CONTINUE' || relation === 'REFINE' ? taskBefore(seen)?.protocol : undefined
  const name = named ?? (relation === seen.former.relation ? undefined : ofTask)
  if (name === undefined || name === seen.former.protocol) return null
  const target = accept(resolve(protocols.all, name, protocols.allowed))
  return nameOf(target) === seen.former.protocol ? null : target
}

/** The decision, with its event. */
async function decide(
  unit: Unit,
  call: Call,
  input: RerouteRun,
  seen: Seen,
  next: { relation: Relation; protocol: string },
): Promise<string> {
  const { session, run, decision, former, at } = seen
  const { projectId } = run
  const id = unit.ids.next()
  const byId = call.viewer.principalId
  const priority = 0
  await store.insertDecision(unit.tx, {
    projectId,
    id,
    sessionId: session.id,
    runId: run.id,
    target: decision.target,
    ...next,
    source: 'OWNER',
    reasons: ['OWNER_REROUTED'],
    candidates: [
      { ...next, priority, reason: 'OWNER_REROUTED', chosen: true },
      { ...former, priority, reason: decision.reasons[0] ?? decision.source, chosen: false },
    ],
    evidence: { reason: input.reason },
    correctsId: decision.id,
    byId,
    now: unit.now,
  })
  const event: Entry = {
    type: 'ROUTE_DECIDED',
    subjectId: id,
    ofRun: false,
    payload: {
      routeId: publicId('RouteDecision', projectId, id),
      runId: publicId('Run', projectId, run.id),
      target: decision.target,
      ...next,
      source: 'OWNER',
      reasons: ['OWNER_REROUTED'],
      warnings: [],
      corrects: publicId('RouteDecision', projectId, decision.id),
      reason: input.reason,
      by: encodeId({ type: 'Principal', id: byId }),
    },
  }
  await append(unit, session, at ? run.id : null, [event])
  return id
}

/** Writes the revisions, one after the other; the last one's id, or null where there is none. */
async function commit(
  unit: Unit,
  call: Call,
  input: RerouteRun,
  { session, run, head }: Seen,
  changes: readonly Change[],
): Promise<string | null> {
  let last: { id: string } | null = head
  for (const change of changes) {
    const undoes = change.kind === 'CORRECTION' || change.kind === 'ROUTE_SWITCH'
    const id = await commitRevision(unit, session, last, change, {
      authorId: call.viewer.principalId,
      messageId: undoes ? null : run.messageId,
      note: input.reason,
    })
    last = { id }
  }
  return changes.length > 0 ? (last?.id ?? null) : null
}

/** Binds the run by its new relation, and with it whoever else acts under the task that has moved; the live ones are told. */
async function bindAnew(
  unit: Unit,
  call: Call,
  input: RerouteRun,
  { session, run, head, at }: Seen,
  next: { relation: Relation; revisionId: string | null },
): Promise<void> {
  const { projectId } = run
  const activeId = next.revisionId ?? head?.id ?? null
  const by = { reason: 'REROUTE', byId: call.viewer.principalId } as const
  const { baseId } = await bindingOf(unit, run)
  await bind(unit, session, { runId: run.id, baseId, activeId, relation: next.relation, ...by }, at !== null)
  const told = at ? [run] : []
  const others = next.revisionId ? (await liveRunsOf(unit.tx, session)).filter((id) => id !== run.id) : []
  for (const id of others) {
    const locked = await lockRun(unit.tx, { projectId, id })
    const [binding] = await loadBindings(unit.tx, [{ projectId, id }])
    if (!locked || !binding || binding.activeId !== (head?.id ?? null)) continue
    const relation = binding.relation as Relation
    await bind(unit, session, { runId: id, baseId: binding.baseId, activeId, relation, ...by })
    told.push(locked.run)
  }
  if (activeId === null) return
  for (const each of told)
    await signal(unit, each, 'INTENT_CORRECTED', { revisionId: activeId, note: input.reason })
}
