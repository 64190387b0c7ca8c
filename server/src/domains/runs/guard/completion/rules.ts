import { Refusal } from '../../../../platform/refusal.ts'
import { governs, openGoals } from '../../../protocols/rules.ts'
import type { Leaving, LedgerEntry } from '../handoff/rules.ts'

/*
 * What a run that says it is done may end as. The ledger is asked first; a closing sentence proves nothing.
 *
 *   refused for phase what another protocol governs, and never done since ──▶ FAILED, ACTIONS_REJECTED_BY_PROTOCOL
 *   goals of a strict protocol are open, and the answer is not partial ─────▶ not ended: COMPLETION_GOALS_OPEN
 *   real work is governed, and none of it has succeeded ────────────────────▶ COMPLETED, UNSUPPORTED
 *   otherwise ──────────────────────────────────────────────────────────────▶ COMPLETED, FULL or PARTIAL
 */

export type Outcome =
  | { state: 'COMPLETED'; completion: 'FULL' | 'PARTIAL' | 'UNSUPPORTED' }
  | { state: 'FAILED'; failureCode: 'ACTIONS_REJECTED_BY_PROTOCOL'; failureMessage: string }

export interface CompletionFacts extends Leaving {
  relation: string
  partial: boolean
  ledger: readonly LedgerEntry[]
}

/** Actions that another protocol governs, refused for phase in a segment that does not, and nothing governed done since. */
function rejectedSince(ledger: readonly LedgerEntry[]): string[] {
  const lastDone = ledger.findLast((entry) => entry.ok === true && entry.governedBy !== null)?.number ?? 0
  const idOf = (name: string) => name.split('@')[0]
  const refused = ledger.filter(
    (entry) =>
      entry.number > lastDone &&
      entry.code === 'ACTION_NOT_ALLOWED_IN_PHASE' &&
      entry.governedBy !== null &&
      idOf(entry.governedBy) !== idOf(entry.protocol),
  )
  return [...new Set(refused.map(({ action }) => action))]
}

/** Decides the end of a run by its ledger, its facts and its requirements. */
export function decideCompletion(facts: CompletionFacts): Outcome | Refusal {
  const rejected = rejectedSince(facts.ledger)
  if (rejected.length > 0) {
    return {
      state: 'FAILED',
      failureCode: 'ACTIONS_REJECTED_BY_PROTOCOL',
      failureMessage: `The protocol refused what the task needed, and it was not done under another: ${rejected.slice(0, 10).join(', ')}.`,
    }
  }
  const { from } = facts
  const open = openGoals(from, facts.facts, facts.requirements)
  if (from.completion.strict && open.length > 0 && !facts.partial) {
    return new Refusal(
      'COMPLETION_GOALS_OPEN',
      'The protocol is strict, and goals are open. Meet them, complete partially, or fail.',
      { open },
    )
  }
  const supported = facts.ledger.some((entry) => entry.ok === true && governs(from, entry.action))
  if (from.governs.length > 0 && facts.relation !== 'SIDE_CHAT' && !supported)
    return { state: 'COMPLETED', completion: 'UNSUPPORTED' }
  return { state: 'COMPLETED', completion: facts.partial ? 'PARTIAL' : 'FULL' }
}
