import type { EnumRef, InputFieldRef, InputObjectRef } from '@pothos/core'
import { z } from 'zod'
import { decodeId, type NodeRef, type NodeType, type Ref } from '../platform/ids.ts'
import type { Json } from '../platform/journal.ts'
import { Refusal } from '../platform/refusal.ts'
import { jsonFlaw } from '../platform/strict-json.ts'
import { type BuilderTypes, builder } from './builder.ts'

type InputBuilder = Parameters<NonNullable<Parameters<typeof builder.inputType>[1]>['fields']>[0]

/** One field of an input: how the schema declares it, and how its value is checked and read. */
export interface Field<T> {
  declare(t: InputBuilder): InputFieldRef<BuilderTypes, unknown>
  schema: z.ZodType<T>
}
export type Fields = Record<string, Field<unknown>>
export type Parsed<F extends Fields> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never }

type Maybe<T, R extends boolean> = R extends true ? T : T | undefined

/** Absent and null are the same everywhere: the field was not given. */
const maybe = <T, R extends boolean>(schema: z.ZodType<T>, required: R): z.ZodType<Maybe<T, R>> =>
  (required ? schema : schema.nullish().transform((value) => value ?? undefined)) as z.ZodType<Maybe<T, R>>

function field<T, R extends boolean = false>(
  type: string | object,
  required: R,
  description: string,
  schema: z.ZodType<T>,
): Field<Maybe<T, R>> {
  return {
    declare: (t) =>
      t.field({ type: type as 'String', required, description }) as unknown as InputFieldRef<
        BuilderTypes,
        unknown
      >,
    schema: maybe(schema, required),
  }
}

const malformedId = Symbol('malformed id')
const ofType = (type: NodeType) =>
  z.string().transform((text, check): NodeRef => {
    const ref = decodeId(text)
    if (ref?.type === type) return ref
    check.addIssue({ code: 'custom', message: 'not found', params: { [malformedId]: true } })
    return z.NEVER
  })

const wellFormedId = z.string().refine((text) => decodeId(text) !== null, {
  message: 'not found',
  params: { [malformedId]: true },
})

/** Whether the only thing wrong with an input is an id that can't name anything: that answers like a missing one. */
export const isMissing = (error: z.ZodError) =>
  error.issues.some((issue) => (issue as { params?: Record<symbol, unknown> }).params?.[malformedId])

/** A text that can be kept as it is. */
const storable = z.string().refine((text) => jsonFlaw(text) === null, {
  message: 'holds a NUL or a lone surrogate',
  abort: true,
})

/** Strict JSON, at most 64 deep below the field. */
const strictJson = z.any().superRefine((value, check) => {
  const flaw = jsonFlaw(value)
  if (flaw) check.addIssue({ code: 'custom', message: flaw.message, path: flaw.path })
})

/** A list whose length is looked at before its items: a million of them cost no more than being counted. */
const bounded = <T>(item: z.ZodType<T>, [min, max]: [number, number]): z.ZodType<T[]> =>
  z.array(z.unknown()).min(min).max(max).pipe(z.array(item)) as unknown as z.ZodType<T[]>

interface TextOptions {
  min?: number
  max: number
  trim?: boolean
  pattern?: RegExp
  /** What else must hold of the text. */
  check?: (text: string) => boolean
  /** What to say when `pattern` or `check` does not hold. */
  hint?: string
}

/** Characters are Unicode code points; `min` counts after trimming. */
function textSchema(options: TextOptions) {
  let schema: z.ZodType<string> = storable.transform((text) => (options.trim === false ? text : text.trim()))
  schema = schema.refine(
    (text) => [...text].length <= options.max,
    `must be at most ${options.max} characters`,
  )
  if (options.min !== 0) {
    schema = schema.refine((text) => text.trim().length > 0, 'must not be blank')
  }
  if (options.pattern) {
    const { pattern } = options
    schema = schema.refine((text) => pattern.test(text), options.hint ?? `must match ${pattern.source}`)
  }
  if (options.check) schema = schema.refine(options.check, options.hint ?? 'is not valid')
  return schema
}

const jsonField = <R extends boolean>(
  description: string,
  required: R,
  schema: z.ZodType,
): Field<Maybe<Json, R>> => ({
  declare: (t) =>
    t.field({ type: 'JSON', required, description }) as unknown as InputFieldRef<BuilderTypes, unknown>,
  schema: (required ? schema : schema.optional()) as z.ZodType<Maybe<Json, R>>,
})

/** The vocabulary of inputs. Each says its limits in the description, so the schema documents them. */
export const input = {
  /** A node of one type; anything that can't name one is NOT_FOUND. Gives its reference. */
  id: <R extends boolean = false>(type: NodeType, description: string, required = false as R) =>
    field<Ref & NodeRef, R>('ID', required, description, ofType(type) as unknown as z.ZodType<Ref & NodeRef>),
  /** An id of any type, kept as its text; one that can't name anything is NOT_FOUND. */
  anyId: (description: string) => field<string>('ID', false, description, wellFormedId),
  text: <R extends boolean = false>(description: string, options: TextOptions, required = false as R) =>
    field<string, R>(
      'String',
      required,
      `${description} At most ${options.max} characters.`,
      textSchema(options),
    ),
  /** A secret: never trimmed, never echoed. */
  secret: <R extends boolean = false>(description: string, required = false as R) =>
    field<string, R>('String', required, description, storable.max(512)),
  int: <R extends boolean = false>(description: string, range: [number, number], required = false as R) =>
    field<number, R>(
      'Int',
      required,
      `${description} ${range[0]} to ${range[1]}.`,
      z.int().min(range[0]).max(range[1]),
    ),
  boolean: <R extends boolean = false>(description: string, required = false as R) =>
    field<boolean, R>('Boolean', required, description, z.boolean()),
  date: <R extends boolean = false>(description: string, required = false as R) =>
    field<Date, R>('DateTime', required, description, z.date()),
  /** Strict JSON; JSON null is a value like any other, so only an absent field is "not given". */
  json: <R extends boolean = false>(description: string, required = false as R) =>
    jsonField(description, required, strictJson),
  /** JSON whose flaws the operation names by a code of their own. */
  payload: <R extends boolean = false>(description: string, required = false as R) =>
    jsonField(description, required, z.any()),
  enum: <T extends string, R extends boolean = false>(
    ref: EnumRef<BuilderTypes, T>,
    description: string,
    required = false as R,
  ) => field<T, R>(ref, required, description, z.any() as z.ZodType<T>),
  list: <T, R extends boolean = false>(
    of: Field<T>,
    type: string | object,
    description: string,
    range: [number, number],
    required = false as R,
  ) =>
    field<T[], R>(
      [type],
      required,
      `${description} ${range[0]} to ${range[1]} of them.`,
      bounded(of.schema, range),
    ),
  object: <F extends Fields, R extends boolean = false>(
    object: InputObject<F>,
    description: string,
    required = false as R,
  ) => field<Parsed<F>, R>(object.ref, required, description, object.schema),
  objects: <F extends Fields, R extends boolean = false>(
    object: InputObject<F>,
    description: string,
    range: [number, number],
    required = false as R,
  ) =>
    field<Parsed<F>[], R>(
      [object.ref],
      required,
      `${description} ${range[0]} to ${range[1]} of them.`,
      bounded(object.schema, range),
    ),
  /** Makes a retry safe. At most 128 bytes, per principal and operation, kept for at least 24 hours. */
  key: () =>
    field<string, false>(
      'String',
      false,
      'Makes a retry safe: the same key with the same input gives the first success again; with another input IDEMPOTENCY_CONFLICT. A refusal is not remembered. At most 128 bytes, kept 24 hours at least.',
      storable
        .min(1, 'must not be empty')
        .refine((key) => Buffer.byteLength(key) <= 128, 'must be at most 128 bytes'),
    ),
}

export interface InputObject<F extends Fields> {
  ref: InputObjectRef<BuilderTypes, unknown>
  schema: z.ZodType<Parsed<F>>
}

/** An input type from its fields. */
export function inputObject<F extends Fields>(name: string, description: string, fields: F): InputObject<F> {
  const ref = builder.inputType(name, {
    description,
    fields: (t) => Object.fromEntries(Object.entries(fields).map(([key, f]) => [key, f.declare(t)])) as never,
  })
  const shape = Object.fromEntries(Object.entries(fields).map(([key, f]) => [key, f.schema]))
  return { ref: ref as never, schema: z.object(shape) as unknown as z.ZodType<Parsed<F>> }
}

const mostIssues = 20

/** Checks a value against its fields. Names the first 20 things that are wrong with it. */
export function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  if (isMissing(result.error)) throw new Refusal('NOT_FOUND', 'There is nothing here that you can see.')
  throw new Refusal('INVALID_INPUT', 'The input is not valid.', {
    issues: result.error.issues
      .slice(0, mostIssues)
      .map((issue) => ({ path: issue.path.map(String), message: issue.message })),
  })
}
