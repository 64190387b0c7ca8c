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
] as const
export type InboxKind = (typeof inboxKinds)[number]
export const inboxStates = ['OPEN', 'ACKNOWLEDGED', 'HANDLED'] as const
export type InboxState = (typeof inboxStates)[number]
