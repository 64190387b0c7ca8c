import { accept } from '../../../../platform/refusal.ts'
import type { Unit } from '../../../../platform/transaction.ts'
import type { ProtocolsOfProject } from '../../../protocols/operations.ts'
import type { LockedSession } from '../../../sessions/operations.ts'
import type { LockedRun } from '../../store.ts'
import { ledgerOf } from '../handoff/store.ts'
import { leaving, standOf } from '../standing.ts'
import { decideCompletion, type Outcome } from './rules.ts'

/** What a locked run that says it is done ends as; COMPLETION_GOALS_OPEN when it does not end. */
export async function outcomeOf(
  unit: Unit,
  session: LockedSession,
  run: LockedRun,
  protocols: ProtocolsOfProject,
  partial: boolean,
): Promise<Outcome> {
  const at = await standOf(unit, run, protocols)
  const ledger = at.actionCount > 0 ? await ledgerOf(unit.tx, run) : []
  return accept(
    decideCompletion({ ...(await leaving(unit, session, at)), relation: at.relation, partial, ledger }),
  )
}
