import { AllowedActionRef } from '../../graphql/allowed-action.ts'
import { builder, nodeKey, unspell } from '../../graphql/builder.ts'
import { connectionType, forwardArgs, ownPageCost } from '../../graphql/connection.ts'
import { type Context, viewerOf } from '../../graphql/context.ts'
import { found, refOf } from '../../graphql/found.ts'
import { connectionOf, isNumberKey, pageRequest } from '../../graphql/page.ts'
import type { NodeRef, Ref } from '../../platform/ids.ts'
import { Refusal } from '../../platform/refusal.ts'
import { PrincipalRef } from '../access/principals/graphql.ts'
import { allowedAction, allows, authorize, type Capability } from '../access/rules.ts'
import type { BindingRow, RevisionRow } from '../intents/operations.ts'
import type { ThinkingLevel } from '../projects/rules.ts'
import { ThinkingLevelRef } from '../projects/thinking-level.ts'
import { RouteDecisionRef } from '../routing/graphql.ts'
import { MessageRef, SessionRef, seesSession } from '../sessions/graphql.ts'
import { ToolPlanRef, toolPlanOf } from './guard/plan/graphql.ts'
import { probeRuns, type RunRow } from './operations.ts'
import {
  decideRun,
  type EffectState,
  effectStates,
  isLive,
  type RunState,
  type RunVerb,
  type Usage,
  usageFields,
} from './rules.ts'
import { RunStateRef } from './run-state.ts'
import { RuntimeRef } from './runtimes/graphql.ts'

export { RuntimeRef } from './runtimes/graphql.ts'

export const EffectStateRef = builder.enumType('EffectState', {
  description: 'What is known of what a run did outside: nothing was done, it is known, or it is not known.',
  values: effectStates,
})
export const CompletionKindRef = builder.enumType('CompletionKind', {
  description: 'How a run completed: with its answer, with a part of it, or with nothing to support it.',
  values: ['FULL', 'PARTIAL', 'UNSUPPORTED'] as const,
})
const ExecutionKind = builder.enumType('ExecutionKind', {
  description: 'What executes a turn.',
  values: ['NONE', 'RUN', 'WORK_ITEM'] as const,
})
export const UsageRef = builder.objectRef<Usage>('Usage').implement({
  description: 'What was used. Null where it was never reported, which is not 0.',
  fields: (t) =>
    Object.fromEntries(
      usageFields.map((name) => [
        name,
        t.int({ nullable: true, description: `Reported ${name}.`, resolve: (usage) => usage[name] ?? null }),
      ]),
    ) as never,
})
/** The counts of a row that has usage columns; null when none was ever reported. */
export const usageOf = (row: { [K in keyof Usage]-?: number | null }): Usage | null =>
  usageFields.every((name) => row[name] === null)
    ? null
    : (Object.fromEntries(
        usageFields.flatMap((name) => (row[name] === null ? [] : [[name, row[name]]])),
      ) as Usage)

export const RunRef = builder.objectRef<RunRow>('Run')
export const runOf = (row: { projectId: string; runId: string | null }, context: Context) =>
  row.runId ? context.loaders.run.load({ projectId: row.projectId, id: row.runId }) : null

/** A row of a session, for a caller that may see the session; else null. */
export async function visible<Row extends { projectId: string; sessionId: string }>(
  loader: { load(ref: Ref): Promise<Row | null> },
  ref: NodeRef,
  context: Context,
): Promise<Row | null> {
  const row = await loader.load({ projectId: ref.projectId ?? '', id: ref.id })
  return row && seesSession(context, { projectId: row.projectId, id: row.sessionId }) ? row : null
}

/** Both are described where the task is: in the domain of intents. */
export const RunIntentBindingRef = builder.objectRef<BindingRow>('RunIntentBinding')
export const IntentRevisionRef = builder.objectRef<RevisionRow & { viewedIn?: string }>('IntentRevision')

/** A run is routed anew only while its session is at the task that it acts under. */
async function staleRoute({ projectId, id, sessionId }: RunRow, { loaders }: Context) {
  const [binding, session] = await Promise.all([
    loaders.binding.load({ projectId, id }),
    loaders.session.load({ projectId, id: sessionId }),
  ])
  return (binding?.activeId ?? null) === (session?.intentHeadId ?? session?.forkRevisionId ?? null)
    ? null
    : new Refusal('SESSION_INTENT_REVISION_CONFLICT', 'The session’s task has moved on since this run.')
}

const verbs: [mutation: string, capability: Capability, verb: RunVerb][] = [
  ['steerRun', 'turn.steer', 'steer'],
  ['cancelRun', 'turn.cancel', 'cancel'],
]

builder.node(RunRef, {
  description: 'One execution of one turn by one runtime. Never silently run again.',
  id: { resolve: (run) => nodeKey(run) },
  loadWithoutCache: (key, context) => found(visible(context.loaders.run, unspell('Run', key), context)),
  fields: (t) => ({
    session: t.field({
      type: SessionRef,
      description: 'Its session.',
      resolve: (run, _, { loaders }) =>
        found(loaders.session.load({ projectId: run.projectId, id: run.sessionId })),
    }),
    number: t.exposeInt('number', { description: 'Its number in the session, from 1.' }),
    state: t.field({
      type: RunStateRef,
      description: 'Where it is.',
      resolve: (run) => run.state as RunState,
    }),
    completion: t.field({
      type: CompletionKindRef,
      nullable: true,
      description: 'How it completed, when it did. What an agent says of itself; never a proof.',
      resolve: (run) => run.completion as 'FULL' | null,
    }),
    failureCode: t.exposeString('failureCode', {
      nullable: true,
      description: 'Why it failed: OFFER_EXPIRED, RUNTIME_LOST, or a code of the agent’s own.',
    }),
    failureMessage: t.exposeString('failureMessage', {
      nullable: true,
      description: 'The same in words. Untrusted when the agent said it.',
    }),
    effects: t.field({
      type: EffectStateRef,
      description: 'What is known of its effects; frozen at its end.',
      resolve: (run) => run.effects as EffectState,
    }),
    execution: t.field({
      type: ExecutionKind,
      description: 'What executes the turn.',
      resolve: (run) => run.execution as 'RUN',
    }),
    escalatedTo: t.field({
      type: RunRef,
      nullable: true,
      description: 'The run that took the turn over.',
      resolve: () => null,
    }),
    route: t.field({
      type: RouteDecisionRef,
      description: 'Why it was routed so.',
      resolve: (run, _, { loaders }) =>
        found(loaders.route.load({ projectId: run.projectId, id: run.routeId })),
    }),
    usage: t.field({
      type: UsageRef,
      nullable: true,
      description: 'What it used, as reported; null when nothing was.',
      resolve: usageOf,
    }),
    runtime: t.field({
      type: RuntimeRef,
      nullable: true,
      description: 'The runtime that it was given to.',
      resolve: (run, _, { loaders }) => loaders.runtime.load({ projectId: run.projectId, id: run.runtimeId }),
    }),
    message: t.field({
      type: MessageRef,
      description: 'The message that it is about.',
      resolve: (run, _, { loaders }) =>
        found(loaders.message.load({ projectId: run.projectId, id: run.messageId })),
    }),
    answer: t.field({
      type: MessageRef,
      nullable: true,
      description: 'Its answer.',
      resolve: (run, _, { loaders }) =>
        run.answerId ? loaders.message.load({ projectId: run.projectId, id: run.answerId }) : null,
    }),
    toolPlan: t.field({
      type: ToolPlanRef,
      description: 'The tools of its runtime as they stand for it now. It informs; it authorises nothing.',
      resolve: (run, _args, context) => toolPlanOf(run, context),
    }),
    model: t.exposeString('model', {
      nullable: true,
      description: 'The model that was set when it was submitted.',
    }),
    thinkingLevel: t.field({
      type: ThinkingLevelRef,
      nullable: true,
      description: 'The thinking level that was set when it was submitted.',
      resolve: (run) => run.thinkingLevel as ThinkingLevel | null,
    }),
    offeredAt: t.expose('offeredAt', {
      type: 'DateTime',
      description: 'When it was offered to its runtime.',
    }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was first started.',
    }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
    offerExpiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the offer ends, while it stands.',
      resolve: (run) => (run.state === 'OFFERED' ? run.offerExpiresAt : null),
    }),
    deadlineAt: t.expose('deadlineAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it times out; null while its clock stands still.',
    }),
    endedBy: t.field({
      type: PrincipalRef,
      nullable: true,
      description: 'Who ended it, when a person or service did.',
      resolve: (run, _, { loaders }) => (run.endedBy ? loaders.principal.load(run.endedBy) : null),
    }),
    endReason: t.exposeString('endReason', {
      nullable: true,
      description: 'The reason that was given for its end.',
    }),
    allowedActions: t.field({
      type: [AllowedActionRef],
      description: 'What the caller may do with it now.',
      resolve: async (run, _args, context) => {
        const scope = { projectId: run.projectId, sessionId: run.sessionId }
        const allowed = (mutation: string, capability: Capability, refusal: Refusal | null) =>
          allowedAction(mutation, authorize(viewerOf(context), capability, scope) ?? refusal)
        const ofState = verbs.map(([mutation, capability, verb]) => {
          const state = decideRun(run.state as RunState, verb)
          return allowed(mutation, capability, state instanceof Refusal ? state : null)
        })
        const ended = isLive(run.state as RunState)
          ? null
          : new Refusal('CONFLICT', `The run has ended (${run.state}).`)
        return [
          ...ofState,
          allowed('rebindRun', 'intent.correct', ended),
          allowed('rerouteRun', 'intent.correct', await staleRoute(run, context)),
        ]
      },
    }),
  }),
})

builder.objectField(MessageRef, 'run', (t) =>
  t.field({
    type: RunRef,
    nullable: true,
    description: 'The run that it belongs to.',
    resolve: (message, _args, context) => runOf(message, context),
  }),
)

const RunConnection = connectionType('Run', RunRef)

const RunRecovery = builder
  .objectRef<{ runId: string; status: 'ALIVE' | 'ENDED' | 'LOST' | 'UNKNOWN'; run: RunRow | null }>(
    'RunRecovery',
  )
  .implement({
    description: 'What has become of a run that a client knew.',
    fields: (t) => ({
      runId: t.exposeID('runId', { description: 'The id that was asked about.' }),
      status: t.field({
        type: builder.enumType('RunRecoveryStatus', {
          description:
            'Whether a run is alive, has ended, was lost with its runtime, or is not of this session.',
          values: ['ALIVE', 'ENDED', 'LOST', 'UNKNOWN'] as const,
        }),
        description: 'What has become of it.',
        resolve: (probe) => probe.status,
      }),
      run: t.field({ type: RunRef, nullable: true, description: 'The run.', resolve: (probe) => probe.run }),
    }),
  })

const ref = (projectId: string, id: string | null) => (id ? { projectId, id } : null)

builder.objectFields(SessionRef, (t) => ({
  usage: t.field({
    type: UsageRef,
    nullable: true,
    description: 'What all its runs used, as reported.',
    resolve: usageOf,
  }),
  lastRun: t.field({
    type: RunRef,
    nullable: true,
    description: 'Its newest run.',
    resolve: (s, _, { loaders }) =>
      s.lastRunId ? loaders.run.load({ projectId: s.projectId, id: s.lastRunId }) : null,
  }),
  activeRun: t.field({
    type: RunRef,
    nullable: true,
    description: 'Its newest run, while that is alive.',
    resolve: async (s, _, { loaders }) => {
      const last = ref(s.projectId, s.liveRuns > 0 ? s.lastRunId : null)
      const run = last && (await loaders.run.load(last))
      return run && run.endedAt === null ? run : null
    },
  }),
  runs: t.field({
    type: RunConnection,
    description: 'Its runs, newest first.',
    args: forwardArgs,
    complexity: ownPageCost,
    resolve: async (session, args, context) => {
      const request = pageRequest(args, isNumberKey)
      const rows = await context.loaders.runPage.load({
        session: { projectId: session.projectId, id: session.id },
        first: request.first,
        below: request.after?.[0] ?? null,
      })
      return connectionOf(rows, request, (row) => [row.number])
    },
  }),
  recovery: t.field({
    type: [RunRecovery],
    description:
      'What has become of runs that a client knew, so that it need not guess after a reconnect. At most 32.',
    args: { probeRunIds: t.arg.idList({ required: true, description: 'The runs to ask about, 0 to 32.' }) },
    resolve: (session, { probeRunIds }, context) => probeRuns(context.app, session, probeRunIds),
  }),
}))

builder.queryField('run', (t) =>
  t.field({
    type: RunRef,
    nullable: true,
    description: 'One run.',
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_root, { id }, context) => found(visible(context.loaders.run, refOf('Run', id), context)),
  }),
)

/** Whether the caller may act on a run; loads the run's session for callers whose grants name sessions. */
export async function runScope(runId: Ref, context: Context) {
  const run = await context.loaders.run.load({ projectId: runId.projectId, id: runId.id })
  const scope = { projectId: runId.projectId, sessionId: run?.sessionId }
  // A run that is not there is refused like one that can't be seen.
  return run && allows(viewerOf(context), 'session.read', scope) ? scope : { projectId: 'none' }
}
