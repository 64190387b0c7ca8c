import type { Ref } from '../../../platform/ids.ts'
import { Refusal } from '../../../platform/refusal.ts'
import type { Unit } from '../../../platform/transaction.ts'
import { revisionIn } from '../../intents/operations.ts'
import type { ProtocolsOfProject } from '../../protocols/operations.ts'
import { nameOf, type Protocol } from '../../protocols/rules.ts'
import type { Leaving } from './handoff/rules.ts'
import * as store from './store.ts'

/** The definition that a segment runs under. Versions are never taken back, so it is there. */
export function definitionOf(protocols: ProtocolsOfProject, name: string): Protocol {
  const found = protocols.all.find((protocol) => nameOf(protocol) === name)
  if (!found) throw new Error('a segment runs under a protocol that is not there')
  return found
}

/** Where a locked, live run stands; RUN_INTENT_BINDING_REQUIRED where it is bound to nothing. */
export async function standOf(unit: Unit, run: Ref, protocols: ProtocolsOfProject) {
  const standing = await boundStanding(unit, run)
  return { ...standing, definition: definitionOf(protocols, standing.protocol) }
}
export type Stand = Awaited<ReturnType<typeof standOf>>

/** The same without its protocol's definition. */
export async function boundStanding(unit: Unit, run: Ref) {
  const standing = await store.standingOf(unit.tx, run)
  if (!standing) throw new Error('a live run is in no segment')
  if (standing.relation === null) {
    throw new Refusal(
      'RUN_INTENT_BINDING_REQUIRED',
      'The run is bound to no revision of the task. An owner can bind it with `rebindRun`.',
      { current: { type: 'Run', projectId: run.projectId, id: run.id } },
    )
  }
  return { ...standing, relation: standing.relation }
}

/** What a segment would be left by. The requirements are those of the task that its run acts under. */
export async function leaving(unit: Unit, session: Ref, at: Stand): Promise<Leaving> {
  const own = at.relation === 'SIDE_CHAT' ? null : at.activeId
  const task = own && (await revisionIn(unit.tx, session, own))
  return { from: at.definition, facts: at.facts, requirements: task ? task.requirements : [] }
}
