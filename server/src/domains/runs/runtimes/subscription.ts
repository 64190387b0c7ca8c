import { builder } from '../../../graphql/builder.ts'
import type { Context } from '../../../graphql/context.ts'
import { found } from '../../../graphql/found.ts'
import { encodeId } from '../../../platform/ids.ts'
import { iterate } from '../../../platform/watch.ts'
import { allows } from '../../access/rules.ts'
import { seenFrom } from '../../intents/graphql.ts'
import { MessageRef } from '../../sessions/graphql.ts'
import { windowBefore } from '../../sessions/operations.ts'
import { ApprovalRef } from '../approvals/graphql.ts'
import { IntentRevisionRef, RunRef } from '../graphql.ts'
import { ToolPlanRef, toolPlanOf } from '../guard/plan/graphql.ts'
import { ownRuntimeOf } from './graphql.ts'
import type { SignalRow } from './operations.ts'
import { watchSignals } from './signals.ts'

const signalId = (signal: SignalRow) =>
  encodeId({ type: 'RuntimeSignal', projectId: signal.projectId, id: signal.id })
const runOf = (signal: SignalRow, context: Context) =>
  found(context.loaders.run.load({ projectId: signal.projectId, id: signal.runId }))
const about = { description: 'The run that it is about.' }
const identity = { description: 'For `acknowledgeSignals`.' }
const when = { type: 'DateTime' as const, description: 'When it was sent first.' }

const RunOffer = builder.objectRef<SignalRow>('RunOffer').implement({
  description: 'A run to take with `startRun`, before it expires.',
  fields: (t) => ({
    signalId: t.id({ ...identity, resolve: signalId }),
    run: t.field({ ...about, type: RunRef, resolve: (s, _, context) => runOf(s, context) }),
    message: t.field({
      type: MessageRef,
      description: 'What is asked.',
      resolve: async (s, _, context) =>
        found(
          context.loaders.message.load({ projectId: s.projectId, id: (await runOf(s, context)).messageId }),
        ),
    }),
    window: t.field({
      type: [MessageRef],
      description: 'What was said before: at most 16 messages or 12 000 characters, oldest first.',
      resolve: async (s, _, context) => {
        const run = await runOf(s, context)
        const message = await found(
          context.loaders.message.load({ projectId: s.projectId, id: run.messageId }),
        )
        return windowBefore(context.app.db, { projectId: s.projectId, id: s.sessionId }, message.sequence)
      },
    }),
    intent: t.field({
      type: IntentRevisionRef,
      nullable: true,
      description: 'The task that it is bound to; null for a side chat without one.',
      resolve: async (signal, _args, context) => {
        const { projectId, runId: id } = signal
        const { activeId } = await found(context.loaders.binding.load({ projectId, id }))
        return seenFrom(signal, activeId, context)
      },
    }),
    toolPlan: t.field({
      type: ToolPlanRef,
      description: 'The tools as they stand for the run.',
      resolve: async (s, _, context) => toolPlanOf(await runOf(s, context), context),
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When the offer ends.',
      resolve: async (s, _, context) => (await runOf(s, context)).offerExpiresAt,
    }),
  }),
})
const RunSteered = builder.objectRef<SignalRow>('RunSteered').implement({
  description: 'Guidance for a run in progress.',
  fields: (t) => ({
    signalId: t.id({ ...identity, resolve: signalId }),
    run: t.field({ ...about, type: RunRef, resolve: (s, _, context) => runOf(s, context) }),
    text: t.string({ description: 'The guidance.', resolve: (s) => s.payload.text ?? '' }),
    at: t.expose('createdAt', when),
  }),
})
const RunCancelled = builder.objectRef<SignalRow>('RunCancelled').implement({
  description: 'The run has ended without you. Stop; its token is fenced.',
  fields: (t) => ({
    signalId: t.id({ ...identity, resolve: signalId }),
    run: t.field({ ...about, type: RunRef, resolve: (s, _, context) => runOf(s, context) }),
    reason: t.string({ description: 'Why.', resolve: (s) => s.payload.reason ?? '' }),
    at: t.expose('createdAt', when),
  }),
})
const ApprovalResolved = builder.objectRef<SignalRow>('ApprovalResolved').implement({
  description: 'An ask was decided.',
  fields: (t) => ({
    signalId: t.id({ ...identity, resolve: signalId }),
    run: t.field({ ...about, type: RunRef, resolve: (s, _, context) => runOf(s, context) }),
    approval: t.field({
      type: ApprovalRef,
      description: 'The ask.',
      resolve: (s, _, { loaders }) =>
        found(loaders.approval.load({ projectId: s.projectId, id: s.payload.approvalId ?? '' })),
    }),
    decision: t.string({
      description:
        'What it comes to for you. `deny` also where an action was allowed that phase or task don’t allow any more; then `code` says which.',
      resolve: (s) => s.payload.decision ?? '',
    }),
    code: t.string({
      nullable: true,
      description: 'Why an action was denied, as its line in the ledger says; null where none was.',
      resolve: (s) => s.payload.code ?? null,
    }),
    note: t.string({
      nullable: true,
      description: 'What the one who decided added.',
      resolve: (s) => s.payload.note ?? null,
    }),
    at: t.expose('createdAt', when),
  }),
})

const IntentCorrected = builder.objectRef<SignalRow>('IntentCorrected').implement({
  description: 'An owner has said what the task is: the run is bound to this revision from now on.',
  fields: (t) => ({
    signalId: t.id({ ...identity, resolve: signalId }),
    run: t.field({ ...about, type: RunRef, resolve: (s, _, context) => runOf(s, context) }),
    intent: t.field({
      type: IntentRevisionRef,
      description: 'The revision.',
      resolve: (s, _, context) => found(seenFrom(s, s.payload.revisionId ?? null, context)),
    }),
    note: t.string({ nullable: true, description: 'Why.', resolve: (s) => s.payload.note ?? null }),
    at: t.expose('createdAt', when),
  }),
})

const types = {
  RUN_OFFER: 'RunOffer',
  RUN_STEERED: 'RunSteered',
  RUN_CANCELLED: 'RunCancelled',
  APPROVAL_RESOLVED: 'ApprovalResolved',
  INTENT_CORRECTED: 'IntentCorrected',
} as const
const RuntimeSignal = builder.unionType('RuntimeSignal', {
  description: 'What a runtime must hear.',
  types: [RunOffer, RunSteered, RunCancelled, ApprovalResolved, IntentCorrected],
  resolveType: (signal) => types[(signal as SignalRow).kind],
})

builder.subscriptionField('runtimeSignals', (t) =>
  t.field({
    type: RuntimeSignal,
    description:
      'What your runtime must hear, in order: each signal is kept, and sent again at every reconnect, until it is acknowledged. While it is open it is your sign of life. Capability: `run.execute`.',
    args: { runtimeId: t.arg.id({ required: true, description: 'Your runtime.' }) },
    subscribe: async (_root: unknown, args: { runtimeId: string }, context: Context) => {
      const runtime = await ownRuntimeOf(context, args.runtimeId)
      const watch = await watchSignals(context.app, context.app.signals, runtime)
      const forget = context.app.openWatches.add({
        viewer: context.viewer as NonNullable<Context['viewer']>,
        permitted: (now) => allows(now, 'run.execute', { projectId: runtime.projectId }),
        revoke: () => watch.end('REVOKED'),
      })
      watch.onLeave(forget)
      return iterate(watch, (taken) => ('item' in taken ? taken.item : undefined))
    },
    resolve: (signal: SignalRow) => signal as never,
  } as never),
)
