import { encodeId } from '../platform/ids.ts'
import { builder } from './builder.ts'
import * as problems from './problems.ts'

interface ProblemShape {
  refusal: problems.Conflict['refusal']
}

const Problem = builder.interfaceRef<ProblemShape>('Problem').implement({
  description: 'Why a mutation was refused, as data. Nothing was written.',
  fields: (t) => ({
    code: t.string({
      description: 'One of a closed set of codes.',
      resolve: (problem) => problem.refusal.code,
    }),
    message: t.string({
      description: 'Words for a person, without values of the input.',
      resolve: (problem) => problem.refusal.message,
    }),
    retryable: t.boolean({
      description: 'Whether the same call may succeed later without being changed.',
      resolve: (problem) => problem.refusal.retryable,
    }),
  }),
})

const InputIssue = builder.objectRef<{ path: string[]; message: string }>('InputIssue').implement({
  description: 'What is wrong with one part of an input.',
  fields: (t) => ({
    path: t.exposeStringList('path', { description: 'Field names and list positions from the input down.' }),
    message: t.exposeString('message', { description: 'What is wrong, never the value.' }),
  }),
})

builder.objectType(problems.InvalidInput, {
  name: 'InvalidInput',
  description: 'The input is not valid: INVALID_INPUT, INVALID_EVENT_PAYLOAD, EVENT_TOO_LARGE.',
  interfaces: [Problem],
  fields: (t) => ({
    issues: t.field({
      type: [InputIssue],
      description: 'What is wrong where.',
      resolve: (problem) => problem.refusal.detail.issues ?? [],
    }),
  }),
})
builder.objectType(problems.PermissionDenied, {
  name: 'PermissionDenied',
  description: 'You may see it but not do this.',
  interfaces: [Problem],
  fields: (t) => ({
    capability: t.string({
      nullable: true,
      description: 'The capability that is missing.',
      resolve: (problem) => problem.refusal.detail.capability ?? null,
    }),
  }),
})
builder.objectType(problems.NotFound, {
  name: 'NotFound',
  description: 'It is not there, or you may not see it: the same answer.',
  interfaces: [Problem],
})
builder.objectType(problems.Conflict, {
  name: 'Conflict',
  description: 'The state is not what the call expected, or another call came first.',
  interfaces: [Problem],
  fields: (t) => ({
    current: t.node({
      description: 'What it was about, as it is now, where you can see it.',
      id: (problem) => {
        const { current } = problem.refusal.detail
        return current ? encodeId(current) : null
      },
    }),
  }),
})
builder.objectType(problems.Refused, {
  name: 'Refused',
  description: 'A rule of the product refuses it; the code names the rule.',
  interfaces: [Problem],
  fields: (t) => ({
    retryAfterMs: t.int({
      nullable: true,
      description: 'When to try again, in milliseconds.',
      resolve: (problem) => problem.refusal.detail.retryAfterMs ?? null,
    }),
    policyIds: t.stringList({
      nullable: true,
      description: 'The policies that decided.',
      resolve: () => null,
    }),
    open: t.stringList({
      nullable: true,
      description: 'What is still open.',
      resolve: (problem) => problem.refusal.detail.open ?? null,
    }),
  }),
})
