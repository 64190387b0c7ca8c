import type { RevisionView } from './task-queries.ts'

/** A run whose place in the task somebody decides. */
export interface TaskRun {
  id: string
  number: number
  route: { id: string; protocol: string; relation: string }
}

/** What somebody is about to do with a task. */
export type TaskDialog =
  | { kind: 'correct' }
  | { kind: 'handoff' }
  | { kind: 'revert'; to: RevisionView }
  | { kind: 'reroute'; run: TaskRun }
  | { kind: 'rebind'; run: { id: string; number: number } }

interface Action {
  action: string
  allowed: boolean
  reason: string | null
}
/** A session as far as its task is concerned. */
export interface TaskSession {
  id: string
  intent: RevisionView | null
  activeRun: {
    id: string
    number: number
    segment: { id: string; protocol: string; phase: string; revision: number } | null
    binding: { active: { id: string; number: number } | null }
    allowedActions: readonly Action[]
  } | null
  lastRun: { id: string; number: number } | null
  allowedActions: readonly Action[]
}
