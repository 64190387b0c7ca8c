import { builder } from '../../../graphql/builder.ts'
import type { Context } from '../../../graphql/context.ts'
import { found } from '../../../graphql/found.ts'
import type { Ref } from '../../../platform/ids.ts'
import { nameOf } from '../../protocols/rules.ts'
import { RunRef } from '../../runs/graphql.ts'
import type { RunRow } from '../../runs/operations.ts'
import { RequirementRef, requirementsOf, seenFrom } from '../graphql.ts'
import { openOf, type Relation } from '../rules.ts'
import { effectiveText, wantsRequirements } from './rules.ts'

/** The task that a run works on, its requirements as its session sees them; null for none, and for a side chat. */
async function taskOf(run: RunRow, context: Context) {
  const binding = await found(context.loaders.binding.load(run))
  const relation = binding.relation as Relation
  const row = relation === 'SIDE_CHAT' ? null : await seenFrom(run, binding.activeId, context)
  return { relation, row, requirements: row ? requirementsOf(row) : [] }
}

const statesOf = (requirements: ReturnType<typeof requirementsOf>, { loaders }: Context) =>
  Promise.all(
    requirements.map(async (each) => ({
      ...each,
      state: (await loaders.requirementState.load(each))?.state ?? ('OPEN' as const),
    })),
  )

/** Whether the agent of a run is to say what its task requires, as things stand. */
export async function requirementsWanted(ref: Ref, context: Context): Promise<boolean> {
  const { loaders } = context
  const run = await found(loaders.run.load(ref))
  const [{ relation, row, requirements }, segment, protocols] = await Promise.all([
    taskOf(run, context),
    loaders.lastSegment.load(ref),
    loaders.protocols.load(ref.projectId),
  ])
  const protocol = protocols.all.find((each) => nameOf(each) === segment?.protocol)
  return run.endedAt === null && wantsRequirements(relation, row && { requirements }, protocol)
}

const RunTask = builder.objectRef<RunRow>('RunTask').implement({
  description: 'What a run is about, as things stand.',
  fields: (t) => ({
    text: t.string({
      description:
        'In words, at most 2 000 characters: the task where the message goes on with it or adds to it, else the message.',
      resolve: async (run, _args, context) => {
        const [{ relation, row, requirements }, message] = await Promise.all([
          taskOf(run, context),
          found(context.loaders.message.load({ projectId: run.projectId, id: run.messageId })),
        ])
        const now = row && { text: row.text, requirements: await statesOf(requirements, context) }
        return effectiveText(relation, now, message.text)
      },
    }),
    openRequirements: t.field({
      type: [RequirementRef],
      description: 'What it requires and nobody has met or dropped yet. None for a side chat.',
      resolve: async (run, _args, context) => {
        const { requirements } = await taskOf(run, context)
        return openOf(await statesOf(requirements, context))
      },
    }),
    requirementsWanted: t.boolean({
      description:
        'Whether the agent is to say with `commitRequirements` what it requires: the protocol has that extracted, and nothing is listed.',
      resolve: (run, _args, context) => requirementsWanted(run, context),
    }),
  }),
})

builder.objectField(RunRef, 'task', (t) =>
  t.field({
    type: RunTask,
    description: 'What it is about: what its agent works on, and requirements are extracted from.',
    resolve: (run) => run,
  }),
)
