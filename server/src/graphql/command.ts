import type { ObjectRef } from '@pothos/core'
import type { GraphQLResolveInfo } from 'graphql'
import type { Capability, Scope } from '../domains/access/rules.ts'
import type { Call } from '../platform/idempotency.ts'
import { digestOf } from '../platform/idempotency.ts'
import { Refusal } from '../platform/refusal.ts'
import { permitAnswer } from './answer-sight.ts'
import { type BuilderTypes, builder } from './builder.ts'
import { type Context, permit, viewerOf } from './context.ts'
import { type Fields, inputObject, type Parsed, parse } from './fields.ts'
import { problemClasses, problemOf } from './problems.ts'

export interface Permission<I> {
  capability: Capability
  /** Where it is needed. */
  scope: (input: I, context: Context) => Scope | Promise<Scope>
  /** What makes the thing visible at all; who lacks that gets NOT_FOUND. Default: anything in the project. */
  sight?: Capability
  /** Where what it answers belongs, if that isn't where the capability is needed: something new is in its project only. */
  answers?: (input: I) => Scope
}

interface Command<F extends Fields, Success extends object> {
  description: string
  input: F
  /** The success type's fields. */
  success: ObjectRef<BuilderTypes, Success>
  /** Who may. `null`: everybody who is signed in; the operation decides the rest by itself. */
  permission: Permission<Parsed<F>> | null
  run: (call: Call, input: Parsed<F>, context: Context) => Promise<Success>
}

/** Every mutation with its capability, for the console and for the tests that cover all of them by themselves. */
export const commands = new Map<string, Capability | null>()

/**
 * Declares one mutation: `name(input: NameInput!): NameResult!`, a union of `NameSuccess` and the problems. A call is
 * checked for shape, then for the right to do it and to see what it asks for of the answer, and only then does its
 * operation touch data.
 */
export function command<F extends Fields, Success extends object>(
  name: string,
  spec: Command<F, Success>,
): void {
  const pascal = name[0]?.toUpperCase() + name.slice(1)
  const object = inputObject(`${pascal}Input`, `The input of \`${name}\`.`, spec.input)
  commands.set(name, spec.permission?.capability ?? null)
  builder.mutationField(name, (t) =>
    t.field({
      type: spec.success,
      description: spec.permission
        ? `${spec.description} Capability: \`${spec.permission.capability}\`.`
        : spec.description,
      args: { input: t.arg({ type: object.ref as never, required: true }) },
      errors: {
        types: problemClasses,
        union: { name: `${pascal}Result`, description: `What \`${name}\` answers.` },
      },
      resolve: (async (
        _root: unknown,
        args: { input: unknown },
        context: Context,
        info: GraphQLResolveInfo,
      ) => {
        try {
          return await answer(name, spec, object.schema, args.input, context, info)
        } catch (error) {
          throw error instanceof Refusal ? problemOf(error) : error
        }
      }) as never,
    } as never),
  )
}

async function answer<F extends Fields, Success extends object>(
  name: string,
  spec: Command<F, Success>,
  schema: ReturnType<typeof inputObject<F>>['schema'],
  raw: unknown,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<Success> {
  const viewer = viewerOf(context)
  const input = parse(schema, raw)
  if (spec.permission) {
    const { capability, scope, sight, answers } = spec.permission
    const where = await scope(input, context)
    permit(context, capability, where, sight)
    permitAnswer(answers ? answers(input) : where, context, info)
  }
  const key = (input as { idempotencyKey?: string }).idempotencyKey
  const call: Call = { viewer, operation: name, key: key ?? null, digest: key ? digestOf(raw) : null }
  return spec.run(call, input, context)
}
