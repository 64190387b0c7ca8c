import { Refusal } from '../../../platform/refusal.ts'
import {
  type Change,
  changeOfTurn,
  cut,
  type Head,
  maxText,
  type Relation,
  revertTo,
  switchProtocol,
} from '../rules.ts'

/*
 * An owner says that a message relates to the task otherwise than was decided. What the decision wrote is taken back by a
 * revision of its own, never deleted; then the new relation writes what it would have written.
 *
 *   from \ to    CONTINUE          REFINE            REPLACE       SIDE_CHAT
 *   CONTINUE     –                 requirement       new task      what it switched, back
 *   REFINE       requirement off   –                 new task      requirement off
 *   REPLACE      task before       task before, +    –             task before
 *   SIDE_CHAT    –                 requirement       new task      –
 *
 * Where there was no task before, there is none to go back to: CONFLICT. Under another protocol alone, the task is switched.
 */

export interface Rerouted {
  /** What was decided: the relation that the run is bound by, and the protocol that it is under. */
  former: { relation: Relation; protocol: string }
  /** The task before the message, and the one that run and session are at. */
  base: Head | null
  head: Head | null
  turn: { text: string; messageId: string }
}

/** The task as it would be without what the decision wrote; what others have added to it since stays. */
export function taskBefore({ former, base, head, turn }: Rerouted): Head | null {
  switch (former.relation) {
    case 'REPLACE':
      return base
    case 'SIDE_CHAT':
      return head
    case 'CONTINUE':
    case 'REFINE': {
      if (!head) return base
      const switched = base !== null && head.protocol === former.protocol
      const own = (each: { text: string; messageId: string | null }) =>
        former.relation === 'REFINE' &&
        each.messageId === turn.messageId &&
        each.text === cut(turn.text, maxText)
      return {
        ...head,
        protocol: switched ? base.protocol : head.protocol,
        requirements: head.requirements.filter((each) => !own(each)),
      }
    }
    default:
      return former.relation satisfies never
  }
}

const saysTheSame = (one: Head | null, other: Head, protocol: string): boolean =>
  one !== null &&
  one.taskId === other.taskId &&
  one.text === other.text &&
  one.protocol === protocol &&
  one.requirements.map(({ id }) => id).join() === other.requirements.map(({ id }) => id).join()

/**
 * The revisions that a re-route writes, in order: none, the compensating one, that of the new relation, or both. The same
 * relation under the same protocol, and a task before where there was none, are CONFLICT; INTENT_FULL as for any turn.
 */
export function reroute(
  rerouted: Rerouted,
  next: { relation: Relation; protocol: string },
  ids: { task: string; requirement: string },
): Change[] | Refusal {
  const { former, head, turn } = rerouted
  if (next.relation === former.relation) {
    if (next.protocol === former.protocol) return new Refusal('CONFLICT', 'It is routed so already.')
    const moves = next.relation !== 'SIDE_CHAT' && head !== null && head.protocol !== next.protocol
    return moves ? [switchProtocol(head, next.protocol, 'ROUTE_SWITCH')] : []
  }
  if (next.relation === 'REPLACE') return listed(changeOfTurn(head, { ...next, ...turn }, ids))
  const before = taskBefore(rerouted)
  if (!before) {
    return new Refusal(
      'CONFLICT',
      'The session had no task before this message: there is none to go back to. Correct the task instead.',
    )
  }
  // A side chat leaves the task under its own protocol, whatever the run goes on under.
  const protocol = next.relation === 'SIDE_CHAT' ? before.protocol : next.protocol
  const undoes = !saysTheSame(head, before, before.protocol)
  const undone = undoes ? [revertTo({ ...before, protocol })] : []
  const added = changeOfTurn(undoes ? { ...before, protocol } : before, { ...next, ...turn }, ids)
  const rest = listed(added)
  return rest instanceof Refusal ? rest : [...undone, ...rest]
}

const listed = (change: Change | null | Refusal): Change[] | Refusal =>
  change === null ? [] : change instanceof Refusal ? change : [change]
