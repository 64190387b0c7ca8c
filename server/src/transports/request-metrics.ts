import { type ExecutionResult, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Metrics } from '../platform/metrics.ts'

const codeOf = (result: unknown): string => {
  const [error] = (result as ExecutionResult | undefined)?.errors ?? []
  if (!error) return 'OK'
  const original = error.originalError as { code?: unknown } | undefined
  const code = error.extensions.code ?? original?.code
  return typeof code === 'string' ? code : 'INTERNAL'
}

/** Counts every operation by its type and its first error's code, over whichever transport it came. */
export function countRequests(metrics: Metrics): Plugin {
  return {
    onExecute({ args }) {
      const operation = getOperationAST(args.document, args.operationName)?.operation ?? 'query'
      return {
        onExecuteDone({ result }) {
          metrics.request(operation, codeOf(result))
        },
      }
    },
    onSubscribe() {
      return {
        onSubscribeResult({ result }) {
          metrics.request('subscription', codeOf(result))
        },
      }
    },
  }
}
