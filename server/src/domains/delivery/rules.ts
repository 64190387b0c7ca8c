import { invalid, Refusal } from '../../platform/refusal.ts'
import { allows, type Capability, type GrantFacts, sessionsWith, type Viewer } from '../access/rules.ts'

/*
 * An inbox item: OPEN ──▶ HANDLED (what it was about is settled) | ACKNOWLEDGED (an owner has seen it) ──reopen──▶ OPEN.
 * An open ask can't be acknowledged away: only its answer, its deadline or the end of its run handles it.
 */
export const inboxKinds = [
  'TOOL_APPROVAL',
  'PLAN_APPROVAL',
  'QUESTION',
  'RUN_FAILED',
  'EFFECTS_UNKNOWN',
  'RUN_UNSUPPORTED',
] as const
export type InboxKind = (typeof inboxKinds)[number]
export const inboxStates = ['OPEN', 'ACKNOWLEDGED', 'HANDLED'] as const
export type InboxState = (typeof inboxStates)[number]
export const inboxActions = ['ACKNOWLEDGE', 'REOPEN', 'ASSIGN', 'SNOOZE'] as const
export type InboxAction = (typeof inboxActions)[number]

const asks = new Set<InboxKind>(['TOOL_APPROVAL', 'PLAN_APPROVAL', 'QUESTION'])
/** Whether an item of this kind is an ask, which only an answer, a deadline or the end of its run settles. */
export const isAsk = (kind: InboxKind) => asks.has(kind)

/** An item can be put off for at most this long. */
export const maxSnoozeMs = 30 * 24 * 3_600_000

export interface ItemFacts {
  kind: InboxKind
  state: InboxState
  deadlineAt: Date | null
}

/** The state that an action leads to, or why not. `same`: nothing is left to do. */
const table: Record<InboxState, Record<InboxAction, InboxState | 'same' | string>> = {
  OPEN: { ACKNOWLEDGE: 'ACKNOWLEDGED', REOPEN: 'same', ASSIGN: 'OPEN', SNOOZE: 'OPEN' },
  ACKNOWLEDGED: {
    ACKNOWLEDGE: 'same',
    REOPEN: 'OPEN',
    ASSIGN: 'It was acknowledged. Reopen it first.',
    SNOOZE: 'It was acknowledged. Reopen it first.',
  },
  HANDLED: {
    ACKNOWLEDGE: 'What it was about is settled.',
    REOPEN: 'What it was about is settled.',
    ASSIGN: 'What it was about is settled.',
    SNOOZE: 'What it was about is settled.',
  },
}
const isState = (text: string): text is InboxState => (inboxStates as readonly string[]).includes(text)

/** Decides an action on an item: its next state, `same` when it changes nothing, or CONFLICT with the reason. */
export function decideItem(
  item: Omit<ItemFacts, 'deadlineAt'>,
  action: InboxAction,
): InboxState | 'same' | Refusal {
  if (action === 'ACKNOWLEDGE' && item.state === 'OPEN' && isAsk(item.kind)) {
    return new Refusal(
      'CONFLICT',
      'A run waits for this answer. Answer it: an open ask can’t be acknowledged away.',
    )
  }
  const next = table[item.state][action]
  return next === 'same' || isState(next) ? next : new Refusal('CONFLICT', next)
}

/** Whether an item may be put off until then: in the future, at most 30 days, and never beyond an ask's own deadline. */
export function checkSnooze(item: ItemFacts, until: Date, now: Date): Refusal | null {
  if (until <= now) return invalid('snoozeUntil', 'is not in the future')
  if (until.getTime() > now.getTime() + maxSnoozeMs) return invalid('snoozeUntil', 'is more than 30 days off')
  if (item.deadlineAt && until >= item.deadlineAt)
    return invalid('snoozeUntil', 'is not before the deadline of the ask')
  return null
}

/** What happens when nobody does anything, as one sentence for a person. */
export function ifIgnored(item: ItemFacts & { defaultDecision: string | null }): string {
  if (item.state === 'HANDLED') return 'Nothing: it is settled.'
  if (isAsk(item.kind) && item.deadlineAt) {
    return `At its deadline the declared default decides (${item.defaultDecision ?? 'deny'}), and the run goes on with that.`
  }
  if (item.kind === 'EFFECTS_UNKNOWN')
    return 'Nothing is repeated by itself, and what the run did last stays unknown until a person looks.'
  if (item.kind === 'RUN_UNSUPPORTED')
    return 'Nothing is repeated by itself: the answer stands as one that nothing supports.'
  return 'Nothing is repeated by itself: the run has ended, and its session takes the next turn.'
}

/** The sessions in which a caller holds a capability: all there are, or whole projects and single sessions. */
export type Sight = 'all' | { projects: string[]; sessions: { projectId: string; id: string }[] }

const projectsNamed = (grants: readonly GrantFacts[]) =>
  grants.flatMap((grant) => (grant.projectId === undefined ? [] : [grant.projectId]))

/** What a caller may see with a capability: in one project, or everywhere. Null when that is nothing at all. */
export function sightOf(viewer: Viewer, capability: Capability, projectId: string | null): Sight | null {
  if (projectId === null && allows(viewer, capability, {})) return 'all'
  const named =
    projectId === null
      ? [...projectsNamed(viewer.grants), ...projectsNamed(viewer.tokenGrants ?? [])]
      : [projectId]
  const sight: Exclude<Sight, 'all'> = { projects: [], sessions: [] }
  for (const id of new Set(named)) {
    const visible = sessionsWith(viewer, capability, id)
    if (visible === 'all') sight.projects.push(id)
    else sight.sessions.push(...visible.map((sessionId) => ({ projectId: id, id: sessionId })))
  }
  return sight.projects.length + sight.sessions.length > 0 ? sight : null
}
