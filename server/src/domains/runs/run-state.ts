import { builder } from '../../graphql/builder.ts'
import { runStates } from './rules.ts'

export const RunStateRef = builder.enumType('RunState', {
  description: 'Where a run is. COMPLETED, FAILED, CANCELLED and TIMED_OUT never change.',
  values: runStates,
})
