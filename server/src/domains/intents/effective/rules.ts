import { cut, maxText, type Relation, type RequirementNow, render } from '../rules.ts'

/**
 * What a turn is about, in at most 2 000 characters: what goes on with the task or adds to it is about the task, never
 * about the few words that say so; a task of its own, and what leaves the task alone, is about its message. Requirements
 * are extracted from this, and context is looked for by it.
 */
export function effectiveText(
  relation: Relation,
  task: { text: string; requirements: readonly RequirementNow[] } | null,
  message: string,
): string {
  switch (relation) {
    case 'SIDE_CHAT':
      return cut(message, maxText)
    case 'CONTINUE':
    case 'REFINE':
    case 'REPLACE':
      return task ? render(task) : cut(message, maxText)
    default:
      return relation satisfies never
  }
}

/**
 * Whether the agent is to say what the task requires: its protocol has that extracted, and nothing is listed yet. So it
 * is asked for again where a handoff enters such a protocol with none.
 */
export const wantsRequirements = (
  relation: Relation,
  task: { requirements: readonly unknown[] } | null,
  protocol: { extraction: boolean } | undefined,
): boolean =>
  relation !== 'SIDE_CHAT' && task !== null && task.requirements.length === 0 && protocol?.extraction === true
