import type { Call } from '../../../platform/idempotency.ts'
import type { Ref } from '../../../platform/ids.ts'
import { accept, Refusal } from '../../../platform/refusal.ts'
import type { Platform, Unit } from '../../../platform/transaction.ts'
import { fencedWrite } from '../../runs/fenced.ts'
import { succeededAction } from '../../runs/operations.ts'
import { bind, bindingOf, commitRevision, headOf, revisionIn, setRequirements } from '../operations.ts'
import * as rules from '../rules.ts'

export const maxCommitted = 20

/** The task that a run works on, as it is in its session; CONFLICT for a run that works on none. */
async function taskOf(unit: Unit, session: Ref, run: Ref) {
  const binding = await bindingOf(unit, run)
  const task = binding.activeId && (await revisionIn(unit.tx, session, binding.activeId))
  if (!task || binding.relation === 'SIDE_CHAT') {
    throw new Refusal(
      'CONFLICT',
      'The run is a side chat: it has no task of its own. Propose a handoff first.',
      {
        current: { type: 'Run', projectId: run.projectId, id: run.id },
      },
    )
  }
  return { binding, task }
}

/**
 * The agent adds requirements to the task of its run, at most 20 a call: a REFINE revision to which the run is bound. Those
 * that the task lists already are left as they are. A task that has moved under the run is
 * SESSION_INTENT_REVISION_CONFLICT; beyond 100 open ones INTENT_FULL.
 */
export function commitRequirements(
  platform: Platform,
  call: Call,
  input: { runId: Ref; runToken: string; requirements: string[] },
) {
  return fencedWrite(platform, call, input, 'write', async (unit, { session, run }) => {
    const { binding, task } = await taskOf(unit, session, run)
    const head = await headOf(unit.tx, session)
    if (head?.id !== task.id) throw rules.headConflict()
    const known = new Map(task.requirements.map((each) => [each.text, each.id]))
    const added = [...new Set(input.requirements)]
      .filter((text) => !known.has(text))
      .map((text) => ({ id: unit.ids.next(), text, messageId: run.messageId }))
    let revisionId = task.id
    if (added.length > 0) {
      const by = call.viewer.principalId
      revisionId = await commitRevision(unit, session, head, accept(rules.refine(head, added)), {
        authorId: by,
        runId: run.id,
        messageId: run.messageId,
      })
      await bind(unit, session, {
        runId: run.id,
        baseId: binding.baseId,
        activeId: revisionId,
        relation: binding.relation as rules.Relation,
        reason: 'REFINEMENT',
        byId: by,
      })
    }
    const ids = new Map([...known, ...added.map((each) => [each.text, each.id] as const)])
    return {
      projectId: run.projectId,
      sessionId: session.id,
      revisionId,
      requirementIds: [...new Set(input.requirements)].map((text) => ids.get(text) ?? ''),
    }
  })
}

/**
 * The agent says that a requirement of its task is met, with the action that is its evidence: one of this run that was
 * allowed and succeeded. What is met or dropped already is CONFLICT.
 */
export function meetRequirement(
  platform: Platform,
  call: Call,
  input: { runId: Ref; runToken: string; requirementId: Ref; actionId: Ref },
) {
  return fencedWrite(platform, call, input, 'write', async (unit, { session, run }) => {
    const { task } = await taskOf(unit, session, run)
    const requirement = task.requirements.find(({ id }) => id === input.requirementId.id)
    const state = accept(rules.decideRequirement(requirement, 'MET'))
    if (!(await succeededAction(unit.tx, run, input.actionId))) {
      throw new Refusal(
        'CONFLICT',
        'The evidence must be an action of this run that was allowed and succeeded.',
        {
          current: { type: 'Run', projectId: run.projectId, id: run.id },
        },
      )
    }
    await setRequirements(unit, session, [
      {
        requirementId: input.requirementId.id,
        state,
        runId: run.id,
        actionId: input.actionId.id,
        byId: call.viewer.principalId,
      },
    ])
    return {
      projectId: run.projectId,
      sessionId: session.id,
      requirementId: input.requirementId.id,
      revisionId: task.id,
    }
  })
}
