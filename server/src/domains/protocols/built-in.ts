import { analyticIntent } from './analytic-intent.ts'
import { generalTaskId, handoffAction, type Phase, type Protocol, succeeded, ungoverned } from './rules.ts'

const everywhere = [ungoverned, handoffAction]
const phase = (
  name: string,
  allowedActions: string[],
  transitions: Phase['transitions'],
  end: { final?: true } = {},
): Phase => ({
  name,
  allowedActions: [...allowedActions, ...everywhere],
  needsApproval: [],
  transitions,
  ...end,
})

/** Everything that no protocol governs: reading, writing, answering. */
const generalTask: Protocol = {
  id: generalTaskId,
  version: 1,
  title: 'General task',
  initialPhase: 'understand',
  phases: [
    phase('understand', [], [{ to: 'gather', on: { action: '*' } }]),
    phase('gather', [], [{ to: 'answer', when: { answer_ready: true } }]),
    phase('answer', [], [], { final: true }),
  ],
  governs: [],
  completion: { requiredFacts: {}, requirements: 'NONE', strict: false },
  extraction: false,
  handoffTo: null,
  staleIntent: 'ALLOW',
  startRules: [],
}

const replan = { to: 'query_planning', on: { action: 'data.query.plan' } }

/** Questions to data, each answer with its evidence. */
const dataAnalysis: Protocol = {
  id: 'data-analysis',
  version: 1,
  title: 'Data analysis',
  initialPhase: 'scope',
  phases: [
    phase(
      'scope',
      ['list_data_sources', 'inspect_schema'],
      [{ to: 'semantic_grounding', on: { action: 'inspect_schema' } }],
    ),
    phase(
      'semantic_grounding',
      ['inspect_schema', 'preview_table', 'semantic.context.resolve', 'analysis.contract.ground'],
      [
        {
          to: 'query_planning',
          when: {
            [succeeded('semantic.context.resolve')]: 1,
            [succeeded('analysis.contract.ground')]: 1,
          },
        },
      ],
    ),
    phase(
      'query_planning',
      ['data.query.plan', 'data.query.validate'],
      [{ to: 'execution', on: { action: 'data.query.validate' } }],
    ),
    phase(
      'execution',
      ['run_sql_readonly', 'data.query.plan'],
      [{ to: 'validation', on: { action: 'run_sql_readonly' } }, replan],
    ),
    phase(
      'validation',
      [
        'analysis.result.validate',
        'analysis.evidence.bind',
        'analysis.requirements.commit',
        'data.query.plan',
      ],
      [
        {
          to: 'synthesis',
          when: {
            [succeeded('analysis.result.validate')]: 1,
            [succeeded('analysis.evidence.bind')]: 1,
          },
        },
        replan,
      ],
    ),
    phase('synthesis', ['data.query.plan'], [replan], { final: true }),
  ],
  governs: ['list_data_sources', 'inspect_schema', 'preview_table', 'run_sql_readonly'],
  completion: { requiredFacts: {}, requirements: 'ALL_MET', strict: true },
  extraction: true,
  handoffTo: null,
  staleIntent: 'ALLOW',
  startRules: [analyticIntent],
}

/** The protocols that every project has. */
export const builtIn: readonly Protocol[] = [generalTask, dataAnalysis]
