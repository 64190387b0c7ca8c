import { builder } from '../../../graphql/builder.ts'
import { permit, viewerOf } from '../../../graphql/context.ts'
import { refOf } from '../../../graphql/found.ts'
import { encodeId } from '../../../platform/ids.ts'
import { allows, sessionsWith } from '../../access/rules.ts'
import { listWaits } from './operations.ts'
import { type Wait, waitWords } from './rules.ts'

const WaitEdgeRef = builder.objectRef<Wait>('WaitEdge').implement({
  description: 'One thing that waits for another.',
  fields: (t) => ({
    waiter: t.string({
      description: 'Who waits, in words. Untrusted text.',
      resolve: (wait) => waitWords(wait).waiter,
    }),
    waiterNode: t.node({
      description: 'Who waits: the run.',
      id: ({ projectId, runId }) => encodeId({ type: 'Run', projectId, id: runId }),
    }),
    waitsFor: t.string({
      description: 'For whom, in words. Untrusted text.',
      resolve: (wait) => waitWords(wait).waitsFor,
    }),
    waitsForNode: t.node({
      description: 'What it waits for: the open ask, or the runtime where you can see runtimes.',
      id: (wait, _args, context) => {
        const { projectId, runtimeId } = wait
        if (wait.kind === 'ANSWER') return encodeId({ type: 'Approval', projectId, id: wait.approvalId })
        return allows(viewerOf(context), 'project.read', { projectId })
          ? encodeId({ type: 'Runtime', projectId, id: runtimeId })
          : null
      },
    }),
    since: t.expose('since', { type: 'DateTime', description: 'Since when.' }),
    until: t.expose('until', {
      type: 'DateTime',
      nullable: true,
      description:
        'Until when at most: the deadline of the ask or the offer, the end of the runtime’s grace.',
    }),
    reason: t.string({
      description: 'What about. Untrusted text.',
      resolve: (wait) => waitWords(wait).reason,
    }),
  }),
})

builder.queryField('waits', (t) =>
  t.field({
    type: [WaitEdgeRef],
    description:
      'Who waits for whom, the longest first, at most 500: runs for answers, offers for their runtimes, running runs for a runtime that is away. Capability: `session.read`.',
    args: { projectId: t.arg.id({ required: true, description: 'The project.' }) },
    complexity: { field: 1, multiplier: 50 },
    resolve: (_root, args, context) => {
      const { id: projectId } = refOf('Project', args.projectId)
      const visible = sessionsWith(viewerOf(context), 'session.read', projectId)
      if (visible !== 'all' && visible.length === 0) permit(context, 'session.read', { projectId })
      return listWaits(context.app, projectId, visible, context.app.startedAt)
    },
  }),
)
