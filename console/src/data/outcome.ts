import type { TadaDocumentNode } from 'gql.tada'
import { useCallback, useState } from 'react'
import { type CombinedError, useClient } from 'urql'

/** A refusal as the server worded it, or what kept the answer from arriving. */
export type Problem = {
  code: string
  message: string
  retryable: boolean
  issues?: readonly { path: readonly string[]; message: string }[] | undefined
  capability?: string | null | undefined
  current?: { __typename: string; id: string } | null | undefined
  retryAfterMs?: number | null | undefined
  policyIds?: readonly string[] | null | undefined
  open?: readonly string[] | null | undefined
}
export type Outcome<Success> = { ok: true; value: Success } | { ok: false; problem: Problem }

type ValueOf<Data> = NonNullable<Data[keyof Data]>
type SuccessOf<Data> = Extract<ValueOf<Data>, { __typename: `${string}Success` }>

/** What went wrong outside the result union: no connection, or an error the server masked. */
export function problemOf(error: CombinedError): Problem {
  if (error.networkError) return { code: 'NETWORK', message: error.networkError.message, retryable: true }
  const first = error.graphQLErrors[0]
  const code = first?.extensions.code
  return {
    code: typeof code === 'string' ? code : 'INTERNAL',
    message: first?.message ?? error.message,
    retryable: false,
  }
}

/** Reads the single result of a mutation document; every document selects `__typename` and `...ProblemFields`. */
export function outcomeOf<Data extends object>(
  data: Data | undefined,
  error: CombinedError | undefined,
): Outcome<SuccessOf<Data>> {
  const value = data && (Object.values(data)[0] as { __typename?: string } | undefined)
  if (value?.__typename?.endsWith('Success')) return { ok: true, value: value as SuccessOf<Data> }
  if (value?.__typename) return { ok: false, problem: value as unknown as Problem }
  if (error) return { ok: false, problem: problemOf(error) }
  return { ok: false, problem: { code: 'INTERNAL', message: 'empty answer', retryable: true } }
}

export type Command<Data, Variables> = {
  run: (variables: Variables) => Promise<Outcome<SuccessOf<Data>>>
  busy: boolean
  /** The last refusal, until the next run or `clear`. */
  problem: Problem | undefined
  clear: () => void
}

/** A mutation with its refusals as data: `const rename = useCommand(RenameSession)`. */
export function useCommand<Data extends object, Variables extends object>(
  document: TadaDocumentNode<Data, Variables>,
): Command<Data, Variables> {
  const client = useClient()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const run = useCallback(
    async (variables: Variables) => {
      setBusy(true)
      setProblem(undefined)
      const result = await client.mutation(document, variables).toPromise()
      const outcome = outcomeOf<Data>(result.data, result.error)
      setBusy(false)
      if (!outcome.ok) setProblem(outcome.problem)
      return outcome
    },
    [client, document],
  )
  return { run, busy, problem, clear: useCallback(() => setProblem(undefined), []) }
}
