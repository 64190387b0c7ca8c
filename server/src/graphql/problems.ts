import { GraphQLError } from 'graphql'
import { type ProblemType, Refusal, type RefusalCode } from '../platform/refusal.ts'

/** A refusal on its way to the answer of a mutation, as the class that its GraphQL type is made from. */
abstract class Problem extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}
export class InvalidInput extends Problem {}
export class PermissionDenied extends Problem {}
export class NotFound extends Problem {}
export class Conflict extends Problem {}
export class Refused extends Problem {}

const classes: Record<ProblemType, new (refusal: Refusal) => Problem> = {
  InvalidInput,
  PermissionDenied,
  NotFound,
  Conflict,
  Refused,
}
export const problemClasses = Object.values(classes)

export const problemOf = (refusal: Refusal) => new classes[refusal.problem](refusal)

/** A refusal as an error of a query or a subscription. */
export function errorOf(refusal: Refusal): GraphQLError {
  const { issues, capability, retryAfterMs } = refusal.detail
  return new GraphQLError(refusal.message, {
    extensions: {
      code: refusal.code,
      retryable: refusal.retryable,
      ...(issues && { issues }),
      ...(capability && { capability }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  })
}

export const asGraphQLError = (code: RefusalCode, message: string) => errorOf(new Refusal(code, message))
