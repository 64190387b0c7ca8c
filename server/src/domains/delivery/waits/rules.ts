/** One thing that waits for another. */
export type Wait = {
  projectId: string
  runId: string
  runNumber: number
  sessionTitle: string
  runtimeId: string
  runtimeName: string
  since: Date
  until: Date | null
} & (
  | { kind: 'ANSWER'; approvalId: string; title: string; defaultDecision: string }
  | { kind: 'START' | 'RETURN' }
)

/** Who waits, for whom, and why, in words. */
export function waitWords(wait: Wait): { waiter: string; waitsFor: string; reason: string } {
  const run = `Run ${wait.runNumber} of “${wait.sessionTitle}”`
  switch (wait.kind) {
    case 'ANSWER':
      return {
        waiter: `${run} on ${wait.runtimeName}`,
        waitsFor: 'an owner',
        reason: `${wait.title} (${wait.defaultDecision}, when nobody answers in time)`,
      }
    case 'START':
      return {
        waiter: run,
        waitsFor: wait.runtimeName,
        reason: 'The run is offered, and its runtime has not started it yet.',
      }
    case 'RETURN':
      return {
        waiter: run,
        waitsFor: wait.runtimeName,
        reason:
          'Its runtime is disconnected. Back in time, it carries on; else the run fails and what it did last is unknown.',
      }
    default:
      return wait satisfies never
  }
}
