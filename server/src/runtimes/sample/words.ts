import type { Figures } from './analysis.ts'
import type { Language, Plan } from './question.ts'
import { en } from './words.en.ts'
import { zh } from './words.zh.ts'

/** What the agent says, in one language. */
export interface Words {
  abilities: string
  thanks: string
  restarted: string
  denied: string
  /** Of a message that reached it beside the task. */
  sideChat(task: string): string
  /** Its ask is not needed any more, and still open. */
  stillAsked: string
  /** Before what guidance led to, and before what a correction led to. */
  asked: string
  corrected: string
  /** The guard refused a tool; there is another way. */
  refused(tool: string, ways: string[]): string
  /** There is none that it may take. */
  stuck(tool: string): string
  blocked(tool: string): string
  /** Another protocol can't be had. */
  rejected(protocol: string, code: string): string
  goalsFirst(goals: string[]): string
  /** Requirements of the task that it can't follow. */
  unmet(texts: string[]): string
  mismatch(parts: number, control: number): string
  /** What it holds itself to in every analysis: that there are figures, and that they were checked. */
  requirements: readonly [string, string]
  handoff: { analysis: string; document: string }
  ask(rows: number): string
  notUnderstood(guidance: string): string
  summary(plan: Plan, rows: Figures[]): string
  detail(plan: Plan, focus: string, rows: Figures[]): string
  document(answers: { question: string; answer: string }[]): string
}

export const words: Record<Language, Words> = { en, zh }
/** The requirements that are the agent's own, in whatever language. */
export const ownRequirements = new Set<string>(
  Object.values(words).flatMap(({ requirements }) => requirements),
)
