import type { GraphQLResolveInfo } from 'graphql'
import { builder } from '../../graphql/builder.ts'
import { command, type Permission } from '../../graphql/command.ts'
import { input, inputObject } from '../../graphql/fields.ts'
import { asksForIdOnly, found } from '../../graphql/found.ts'
import type { Ref } from '../../platform/ids.ts'
import type { Capability } from '../access/rules.ts'
import { RouteDecisionRef } from '../routing/graphql.ts'
import * as execution from './execution/operations.ts'
import { RunRef, runScope } from './graphql.ts'
import { ToolPlanRef, toolPlanOf } from './guard/plan/graphql.ts'
import type { RunRow } from './operations.ts'
import { maxAnswerCharacters, maxCount, type Usage } from './rules.ts'
import { RunStateRef } from './run-state.ts'
import * as steering from './steering/operations.ts'
import { submitTurn } from './submission/operations.ts'

interface RunResult {
  projectId: string
  runId: string
}

const run = {
  type: RunRef,
  description: 'The run, read after the change.',
} as const
const readRun = (
  { projectId, runId: id }: RunResult,
  _args: unknown,
  { loaders }: { loaders: { run: { clear(ref: Ref): { load(ref: Ref): Promise<RunRow | null> } } } },
) => found(loaders.run.clear({ projectId, id }).load({ projectId, id }))

/** Nearly every caller of `submitTurn` wants to know what to watch, and nothing else. */
const showRun = (
  result: RunResult,
  args: unknown,
  context: Parameters<typeof readRun>[2],
  info: GraphQLResolveInfo,
): RunRow | Promise<RunRow> =>
  asksForIdOnly(info)
    ? ({ projectId: result.projectId, id: result.runId } as RunRow)
    : readRun(result, args, context)

const runSuccess = (name: string, description: string) =>
  builder
    .objectRef<RunResult>(name)
    .implement({ description, fields: (t) => ({ run: t.field({ ...run, resolve: showRun }) }) })

const onRun = (capability: Capability): Permission<{ runId: Ref }> => ({
  capability,
  sight: 'session.read',
  scope: ({ runId }, context) => runScope(runId, context),
})
/** What a runtime does it does by its project-wide right; whose run it is, its operation checks. */
const asRuntime: Permission<{ runId: Ref }> = {
  capability: 'run.execute',
  scope: ({ runId }) => ({ projectId: runId.projectId }),
}

export const runId = input.id('Run', 'The run.', true)
export const runToken = input.secret(
  'The token that `startRun` gave. A stale one is RUN_FENCED, writes nothing, and is recorded.',
  true,
)

command('submitTurn', {
  description:
    'Submits a turn. The receipt comes only after the run holds a slot of its project and of a connected runtime and all is committed; otherwise SESSION_CLOSED, SESSION_BUSY, CAPACITY or RUNTIME_UNAVAILABLE. There is no queue behind it.',
  input: {
    sessionId: input.id('Session', 'The session.', true),
    text: input.text('What is asked.', { max: 32_000, trim: false }, true),
    protocol: input.text(
      'The protocol to run under, as `id` or `id@version`; an unknown one is PROTOCOL_UNKNOWN.',
      { max: 120 },
    ),
    runtimeId: input.id(
      'Runtime',
      'The runtime to give it to; when absent, the connected one with the fewest live runs.',
    ),
    expectedGeneration: input.int('The session’s generation that you saw; another one is CONFLICT.', [
      1,
      2 ** 31 - 1,
    ]),
    idempotencyKey: input.key(),
  },
  success: builder.objectRef<RunResult & { routeId: string; cursor: number }>('SubmitTurnSuccess').implement({
    description: 'The run was offered to its runtime.',
    fields: (t) => ({
      run: t.field({ ...run, resolve: showRun }),
      cursor: t.exposeInt('cursor', {
        description: 'The sequence of the last event of this call: watch after it for what follows.',
      }),
      route: t.field({
        type: RouteDecisionRef,
        description: 'Where the message went and why.',
        resolve: ({ projectId, routeId }, _args, { loaders }) =>
          found(loaders.route.load({ projectId, id: routeId })),
      }),
    }),
  }),
  permission: {
    capability: 'turn.submit',
    sight: 'session.read',
    scope: ({ sessionId }) => ({ projectId: sessionId.projectId, sessionId: sessionId.id }),
  },
  run: (call, args, { app }) => submitTurn(app, call, args),
})

command('steerRun', {
  description:
    'Gives guidance to a run in progress: a message of the transcript, delivered to the runtime in order. A run that has ended is CONFLICT.',
  input: {
    runId,
    text: input.text('The guidance.', { max: 32_000, trim: false }, true),
    idempotencyKey: input.key(),
  },
  success: builder.objectRef<RunResult & { cursor: number }>('SteerRunSuccess').implement({
    description: 'The guidance is recorded and on its way.',
    fields: (t) => ({
      run: t.field({ ...run, resolve: showRun }),
      cursor: t.exposeInt('cursor', { description: 'The sequence of its event.' }),
    }),
  }),
  permission: onRun('turn.steer'),
  run: (call, args, { app }) => steering.steerRun(app, call, args),
})

command('cancelRun', {
  description:
    'Cancels a run. Its record ends at once and its token is fenced, whether its runtime can be reached or not. A run that has ended is CONFLICT.',
  input: {
    runId,
    reason: input.text('Why.', { max: 2_000 }, true),
    expectedState: input.enum(RunStateRef, 'The state that you saw; another one is CONFLICT.'),
  },
  success: runSuccess('CancelRunSuccess', 'The run is cancelled.'),
  permission: onRun('turn.cancel'),
  run: (call, args, { app }) => steering.cancelRun(app, call, args),
})

command('startRun', {
  description: 'Takes an offer, as the runtime that got it. Again gives a new token and fences the old one.',
  input: { runId, runtimeId: input.id('Runtime', 'The runtime that got the offer.', true) },
  success: builder
    .objectRef<RunResult & { runToken: string; leaseUntil: Date }>('StartRunSuccess')
    .implement({
      description: 'The run is yours.',
      fields: (t) => ({
        run: t.field({ ...run, resolve: showRun }),
        runToken: t.exposeString('runToken', { description: 'Every later write of the run carries it.' }),
        leaseUntil: t.expose('leaseUntil', {
          type: 'DateTime',
          description:
            'Without a sign of life until then the run may be lost. An open `runtimeSignals`, a heartbeat or any write is one.',
        }),
        toolPlan: t.field({
          type: ToolPlanRef,
          description: 'The tools as they stand for this run.',
          resolve: async (result, args, context) => toolPlanOf(await readRun(result, args, context), context),
        }),
      }),
    }),
  permission: asRuntime,
  run: (call, args, { app }) => execution.startRun(app, call, args),
})

const RunEventInput = inputObject('RunEventInput', 'An event that a runtime writes.', {
  type: input.text('TOOL_CALL, TOOL_RESULT, ANSWER_DELTA, REASONING_DELTA or INFO.', { max: 64 }, true),
  payload: input.payload(
    'A strict JSON object. Deltas carry `text`; tool events carry `tool`, `callId`, `summary`, results `ok`.',
    true,
  ),
})

command('recordRunEvents', {
  description:
    'Writes a batch of events, all or none. A payload that is not strict JSON is INVALID_EVENT_PAYLOAD, one over the project’s size EVENT_TOO_LARGE.',
  input: {
    runId,
    runToken,
    events: input.objects(RunEventInput, 'The events, in order.', [1, 100], true),
    idempotencyKey: input.key(),
  },
  success: builder.objectRef<{ cursor: number }>('RecordRunEventsSuccess').implement({
    description: 'The events are committed.',
    fields: (t) => ({ cursor: t.exposeInt('cursor', { description: 'The sequence of the last of them.' }) }),
  }),
  permission: asRuntime,
  run: (call, args, { app }) => execution.recordRunEvents(app, call, args),
})

const count = (what: string) => input.int(what, [0, maxCount])
const given = (usage: Record<keyof Usage, number | undefined>): Usage =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined))

command('recordUsage', {
  description:
    'Adds to what a run has used. What is not named stays as it was; what was never named stays null, which is not 0.',
  input: {
    runId,
    runToken,
    inputTokens: count('Input tokens since the last report.'),
    outputTokens: count('Output tokens since the last report.'),
    cachedTokens: count('Cached tokens since the last report.'),
    modelCalls: count('Model calls since the last report.'),
    toolCalls: count('Tool calls since the last report.'),
    milliseconds: count('Milliseconds of work since the last report.'),
    idempotencyKey: input.key(),
  },
  success: runSuccess('RecordUsageSuccess', 'The usage is counted.'),
  permission: asRuntime,
  run: (call, { runId: id, runToken: token, idempotencyKey: _, ...usage }, { app }) =>
    execution.recordUsage(app, call, { runId: id, runToken: token, usage: given(usage) }),
})

const finalUsage = input.json(
  'What was used since the last report: an object of the counts of `recordUsage`.',
)

command('completeRun', {
  description:
    'Ends a run with its answer, by what its ledger of actions says: COMPLETED, or FAILED with ACTIONS_REJECTED_BY_PROTOCOL. Open goals of a strict protocol are COMPLETION_GOALS_OPEN, and the run lives on; `partial` ends it. The answer is given, or else the joined ANSWER_DELTA texts, at most 1000000 characters; both and unequal is INVALID_INPUT. An answer larger than one event may be is streamed first, else EVENT_TOO_LARGE; its MESSAGE event then says `streamed` in place of the text, which is that of the deltas.',
  input: {
    runId,
    runToken,
    answer: input.text('The answer.', { min: 0, max: maxAnswerCharacters, trim: false }),
    usage: finalUsage,
    partial: input.boolean('Whether only a part of what was asked is done. Default: false.'),
    idempotencyKey: input.key(),
  },
  success: runSuccess('CompleteRunSuccess', 'The call was taken. Look at `run.state`.'),
  permission: asRuntime,
  run: (call, args, { app }) => execution.completeRun(app, call, args),
})

command('failRun', {
  description: 'Ends a run as FAILED.',
  input: {
    runId,
    runToken,
    code: input.text(
      'A code of your own.',
      { max: 64, pattern: /^[A-Z][A-Z0-9_]*$/, hint: 'must be upper-case letters, digits and _' },
      true,
    ),
    message: input.text('What happened, in words.', { max: 2_000 }, true),
    usage: finalUsage,
    idempotencyKey: input.key(),
  },
  success: runSuccess('FailRunSuccess', 'The run has failed.'),
  permission: asRuntime,
  run: (call, args, { app }) => execution.failRun(app, call, args),
})
