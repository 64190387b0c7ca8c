import { graphql, ProblemFields } from '../../data/graphql.ts'

/** Guidance for a run in progress; refused with CONFLICT when the run has ended. */
export const SteerRun = graphql(
  `
  mutation SteerRun($input: SteerRunInput!) {
    steerRun(input: $input) {
      __typename
      ... on SteerRunSuccess { run { id state } cursor }
      ...ProblemFields
    }
  }
`,
  [ProblemFields],
)
