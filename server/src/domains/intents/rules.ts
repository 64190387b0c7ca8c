import { Refusal } from '../../platform/refusal.ts'

/*
 * A session's task. Revisions never change; the session points to one of them, its head, and moves by compare-and-set:
 *
 *   (none) ── REPLACE ──▶ r1 INITIAL ── REFINE ──▶ r2 REFINE ── correct ──▶ r3 CORRECTION ── REPLACE ──▶ r4 REPLACE
 *                          └─ the same task ───────────────────────────────────────────┘      └─ another task
 *
 * A run is bound to the revision before its routing and to the one after it. A new binding is appended; what a run acted
 * under at any time stays known.
 */

export const changeKinds = ['INITIAL', 'REFINE', 'REPLACE', 'ROUTE_SWITCH', 'HANDOFF', 'CORRECTION'] as const
export type ChangeKind = (typeof changeKinds)[number]
export const relations = ['CONTINUE', 'REFINE', 'REPLACE', 'SIDE_CHAT'] as const
export type Relation = (typeof relations)[number]
export const requirementStates = ['OPEN', 'MET', 'DROPPED'] as const
export type RequirementState = (typeof requirementStates)[number]
export type BindingReason = 'TURN' | 'REFINEMENT' | 'HANDOFF' | 'CORRECTION' | 'REBIND' | 'REROUTE'

/** A requirement as a revision lists it. */
export interface Requirement {
  id: string
  text: string
  /** The message that said it; null when it was written by hand. */
  messageId: string | null
}
/** The same with what has become of it. */
export interface RequirementNow extends Requirement {
  state: RequirementState
}

/** What a revision says of the task. */
export interface Task {
  taskId: string
  protocol: string
  text: string
  requirements: Requirement[]
}
export interface Head extends Omit<Task, 'requirements'> {
  id: string
  requirements: RequirementNow[]
}
/** A revision to be written: what it says, and the kind of change it is. */
export interface Change extends Task {
  kind: ChangeKind
}

export const maxRequirements = 100
export const maxText = 2_000

/** Cut to so many characters, never inside one. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const kept = text.slice(0, most - 1)
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`
}

const listed = ({ id, text, messageId }: Requirement): Requirement => ({ id, text, messageId })
export const openOf = <Each extends RequirementNow>(requirements: readonly Each[]): Each[] =>
  requirements.filter((requirement) => requirement.state === 'OPEN')

/** Adds requirements to a task; INTENT_FULL beyond 100 open ones. */
export function refine(head: Head, added: readonly Requirement[]): Change | Refusal {
  if (openOf(head.requirements).length + added.length > maxRequirements) {
    return new Refusal(
      'INTENT_FULL',
      `The task has as many open requirements as it can have: ${maxRequirements}. Meet or drop some first.`,
    )
  }
  return {
    kind: 'REFINE',
    taskId: head.taskId,
    protocol: head.protocol,
    text: head.text,
    requirements: [...head.requirements.map(listed), ...added],
  }
}

/**
 * What a turn does to the task, by the relation of its message to it; null where it leaves the head alone. A message is
 * a task of its own (REPLACE), or one requirement more (REFINE), cut at 2 000 characters, its message linked.
 */
export function changeOfTurn(
  head: Head | null,
  turn: { relation: Relation; protocol: string; text: string; messageId: string },
  ids: { task: string; requirement: string },
): Change | null | Refusal {
  const text = cut(turn.text, maxText)
  switch (turn.relation) {
    case 'SIDE_CHAT':
      return null
    case 'CONTINUE':
      if (!head || head.protocol === turn.protocol) return null
      return switchProtocol(head, turn.protocol, 'ROUTE_SWITCH')
    case 'REFINE': {
      if (!head) break
      const change = refine(head, [{ id: ids.requirement, text, messageId: turn.messageId }])
      return change instanceof Refusal ? change : { ...change, protocol: turn.protocol }
    }
    case 'REPLACE':
      break
    default:
      return turn.relation satisfies never
  }
  return {
    kind: head ? 'REPLACE' : 'INITIAL',
    taskId: ids.task,
    protocol: turn.protocol,
    text,
    requirements: [],
  }
}

/** The same task and text under another protocol. */
export const switchProtocol = (head: Head, protocol: string, kind: 'ROUTE_SWITCH' | 'HANDOFF'): Change => ({
  kind,
  taskId: head.taskId,
  protocol,
  text: head.text,
  requirements: head.requirements.map(listed),
})

export interface Correction {
  text?: string | undefined
  /** Replaces the list; a requirement whose text is unchanged keeps its id, and so its state. */
  requirements?: readonly string[] | undefined
  protocol: string
  newTask: boolean
}

/** An owner's correction. Without a task before it, it makes the first one, which needs words. */
export function correct(head: Head | null, correction: Correction, newId: () => string): Change | Refusal {
  const wrong = (path: string, message: string) =>
    new Refusal('INVALID_INPUT', 'The correction is not valid.', { issues: [{ path: [path], message }] })
  const text = correction.text ?? (correction.newTask ? undefined : head?.text)
  if (text === undefined)
    return wrong('text', head ? 'a new task needs its words' : 'the session has no task yet: say it')
  const given = correction.requirements
  if (given && new Set(given).size !== given.length)
    return wrong('requirements', 'a requirement is named twice')
  if (given && given.length > maxRequirements) return wrong('requirements', `at most ${maxRequirements}`)
  const before = correction.newTask ? [] : (head?.requirements ?? [])
  const known = new Map(before.map((requirement) => [requirement.text, requirement]))
  const requirements = given
    ? given.map((each) => {
        const same = known.get(each)
        return same ? listed(same) : { id: newId(), text: each, messageId: null }
      })
    : before.map(listed)
  return {
    kind: 'CORRECTION',
    taskId: head && !correction.newTask ? head.taskId : newId(),
    protocol: correction.protocol,
    text,
    requirements,
  }
}

/** Back to what an earlier revision of the session said, as a new one. */
export const revertTo = (revision: Task): Change => ({
  kind: 'CORRECTION',
  taskId: revision.taskId,
  protocol: revision.protocol,
  text: revision.text,
  requirements: revision.requirements.map(listed),
})

/** Only an open requirement can be met or dropped; what was met stays met. */
export function decideRequirement(
  requirement: RequirementNow | undefined,
  next: 'MET' | 'DROPPED',
): RequirementState | Refusal {
  if (!requirement)
    return new Refusal('CONFLICT', 'The task that the run is bound to has no such requirement.')
  if (requirement.state === 'OPEN') return next
  return new Refusal('CONFLICT', `The requirement is ${requirement.state} already.`)
}

const fold = (count: number) => `… and ${count} more`

/**
 * The task in words, for a model or a title: its text, then each requirement that is not dropped, at most `budget`
 * characters. What does not fit is counted, never left out silently.
 */
export function render(
  task: { text: string; requirements: readonly RequirementNow[] },
  budget = maxText,
): string {
  const lines = task.requirements
    .filter((requirement) => requirement.state !== 'DROPPED')
    .map(
      (requirement) =>
        `- ${requirement.state === 'MET' ? '[met] ' : ''}${requirement.text.replaceAll('\n', ' ')}`,
    )
  const whole = [task.text, ...lines].join('\n')
  if (whole.length <= budget) return whole
  const reserve = fold(lines.length).length + 1
  let rendered = cut(task.text, Math.max(1, budget - (lines.length > 0 ? reserve : 0)))
  for (const [index, line] of lines.entries()) {
    if (rendered.length + 1 + line.length + reserve > budget)
      return `${rendered}\n${fold(lines.length - index)}`
    rendered += `\n${line}`
  }
  return rendered
}

export const headConflict = () =>
  new Refusal(
    'SESSION_INTENT_REVISION_CONFLICT',
    'The session’s task has changed meanwhile. Nothing was written; look at it and try again.',
  )
