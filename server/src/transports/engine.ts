import { randomUUID } from 'node:crypto'
import { EnvelopArmorPlugin } from '@escape.tech/graphql-armor'
import { BREAK, type DocumentNode, GraphQLError, getOperationAST, visit } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import type { App } from '../app.ts'
import type { Viewer } from '../domains/access/rules.ts'
import type { Context } from '../graphql/context.ts'
import { createLoaders } from '../graphql/loaders.ts'
import { plainError } from '../graphql/plain-errors.ts'
import { errorOf } from '../graphql/problems.ts'
import { schema } from '../graphql/schema.ts'
import { Refusal, refusalCodes } from '../platform/refusal.ts'
import { apiVersion, minimumClient } from '../platform/version.ts'
import { countRequests } from './request-metrics.ts'

/** What a client that sends a version must send: a number in the supported range. */
export function checkVersion(version: string | null): Refusal | null {
  if (version === null) return null
  const n = Number(version)
  if (Number.isInteger(n) && n >= minimumClient && n <= apiVersion) return null
  return new Refusal(
    'UNSUPPORTED_VERSION',
    `This server speaks API versions ${minimumClient} to ${apiVersion}.`,
  )
}

export function createContext(app: App, viewer: Viewer | null): Context {
  return { app, viewer, loaders: createLoaders(app.db), requestId: randomUUID() }
}

/** Whether an error carries a code of ours already. */
const ownCode = ({ extensions: { code } }: GraphQLError) =>
  typeof code === 'string' && (Object.hasOwn(refusalCodes, code) || code === 'INTERNAL')

/** A refusal keeps its code, GraphQL's own errors get one, everything else is hidden, logged, and shown with its id. */
export function maskError(app: App, error: unknown, requestId: string): GraphQLError {
  const original = error instanceof GraphQLError ? error.originalError : error
  if (original instanceof Refusal) {
    const refusal = errorOf(original)
    const located = error instanceof GraphQLError ? error : undefined
    return new GraphQLError(refusal.message, {
      nodes: located?.nodes ?? null,
      path: located?.path ?? null,
      extensions: refusal.extensions,
    })
  }
  if (error instanceof GraphQLError && (!original || original instanceof GraphQLError)) {
    return ownCode(error) ? error : plainError(error)
  }
  app.log.error({ err: original, requestId }, 'an operation failed in a way that nobody foresaw')
  return new GraphQLError(`Something went wrong here. It was logged under ${requestId}.`, {
    path: (error instanceof GraphQLError ? error.path : null) ?? null,
    extensions: { code: 'INTERNAL', requestId },
  })
}

const armor = () =>
  EnvelopArmorPlugin({
    maxDepth: { n: 15, ignoreIntrospection: true },
    maxAliases: { n: 50 },
    maxDirectives: { n: 50 },
    maxTokens: { n: 4_000 },
    // The complexity of an operation is limited by the schema itself, which knows the size of each page.
    costLimit: { enabled: false },
    blockFieldSuggestion: { enabled: false },
  }) as Plugin

/**
 * Whatever reading an operation throws is about the operation: nesting that our own stack doesn't hold is the
 * caller's mistake, neither logged nor an error of this server. After the limits, whose parser it wraps.
 */
const readable = (): Plugin => ({
  onParse({ parseFn, setParseFn }) {
    setParseFn(((...args: Parameters<typeof parseFn>) => {
      try {
        return parseFn(...args)
      } catch (error) {
        throw error instanceof GraphQLError ? error : unreadable()
      }
    }) as typeof parseFn)
  },
  onValidate({ validateFn, setValidationFn }) {
    setValidationFn(((...args: Parameters<typeof validateFn>) => {
      try {
        return validateFn(...args)
      } catch (error) {
        // The limits of depth, aliases and directives throw; GraphQL's own rules give a list.
        return [error instanceof GraphQLError ? error : unreadable()]
      }
    }) as typeof validateFn)
  },
})

/** Errors of parsing and validation, which are not masked, get their code and lose the values that they repeat. */
const plainErrors = (): Plugin => ({
  onExecutionResult({ result, setResult }) {
    if (!result || Symbol.asyncIterator in result || Array.isArray(result)) return
    if (result.errors) setResult({ ...result, errors: result.errors.map(coded) })
  },
})

const asksForTypes = new WeakMap<DocumentNode, boolean>()
function isIntrospection(document: DocumentNode): boolean {
  let known = asksForTypes.get(document)
  if (known === undefined) {
    known = false
    visit(document, {
      Field({ name }) {
        if (name.value !== '__schema' && name.value !== '__type') return
        known = true
        return BREAK
      },
    })
    asksForTypes.set(document, known)
  }
  return known
}

/** An operation must be there to be run, and the schema tells of itself to who is signed in. */
const beforeExecution = (): Plugin<Context> => ({
  onExecute({ args, setResultAndStopExecution }) {
    if (!getOperationAST(args.document, args.operationName)) {
      setResultAndStopExecution({ errors: [unnamed()] })
      return
    }
    if (args.contextValue.viewer || !isIntrospection(args.document)) return
    setResultAndStopExecution({
      errors: [errorOf(new Refusal('UNAUTHENTICATED', 'Sign in, or send a valid token.'))],
    })
  },
})

export interface ServerContext {
  viewer: Viewer | null
}

/**
 * A watch is only opened by who reads it. What comes by the engine's own way over HTTP is answered once; the streams of
 * the other transports bring no request.
 */
const noWatchAsAnswer = (): Plugin => ({
  onSubscribe({ args, setResultAndStopExecution }) {
    if (!(args.contextValue as { request?: unknown }).request) return
    const message = 'A subscription comes as text/event-stream, which `accept` must name, or over WebSockets.'
    const extensions = { code: 'GRAPHQL_INVALID', http: { status: 406 } }
    setResultAndStopExecution({ errors: [new GraphQLError(message, { extensions })] })
  },
})

/** The GraphQL engine of one app: HTTP by itself; the other transports take its parsing, limits and execution. */
export function createEngine(app: App) {
  return createYoga<ServerContext, Context>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    graphiql: false,
    batching: false,
    multipart: false,
    cors: false,
    logging: false,
    context: (server) => createContext(app, (server as unknown as ServerContext).viewer) as never,
    maskedErrors: {
      maskError: (error) => maskError(app, error, randomUUID()),
    },
    plugins: [
      armor(),
      readable(),
      countRequests(app.metrics),
      beforeExecution(),
      noWatchAsAnswer(),
      plainErrors(),
    ],
  })
}

export type Engine = ReturnType<typeof createEngine>

export interface OperationParams {
  query?: unknown
  operationName?: unknown
  variables?: unknown
  extensions?: unknown
}

export interface Prepared {
  schema: typeof schema
  document: DocumentNode
  operationName: string | undefined
  variableValues: Record<string, unknown>
  contextValue: Context
  execute: (args: unknown) => unknown
  subscribe: (args: unknown) => unknown
}

/** Parses and validates an operation as HTTP would; errors come back as a list. */
export async function prepare(
  engine: Engine,
  viewer: Viewer | null,
  params: OperationParams,
): Promise<Prepared | readonly GraphQLError[]> {
  const { query, operationName, variables } = params
  if (typeof query !== 'string') return [bad('`query` must be a text')]
  if (operationName != null && typeof operationName !== 'string')
    return [bad('`operationName` must be a text')]
  if (variables != null && (typeof variables !== 'object' || Array.isArray(variables))) {
    return [bad('`variables` must be an object')]
  }
  const enveloped = engine.getEnveloped({ viewer, params } as never)
  let document: DocumentNode
  let errors: readonly unknown[]
  try {
    document = enveloped.parse(query) as DocumentNode
    errors = enveloped.validate(enveloped.schema, document)
  } catch (error) {
    return [coded(error)]
  }
  if (errors.length > 0) return errors.map(coded)
  const contextValue = (await enveloped.contextFactory()) as unknown as Context
  return {
    schema: enveloped.schema as typeof schema,
    document,
    operationName: operationName ?? undefined,
    variableValues: (variables ?? {}) as Record<string, unknown>,
    contextValue,
    execute: enveloped.execute as (args: unknown) => unknown,
    subscribe: enveloped.subscribe as (args: unknown) => unknown,
  }
}

/** What is asked is not said: no operation of that name, or several and no name. */
export const unnamed = () => bad('The document holds no such operation, or several and no name was given')

const bad = (message: string) => new GraphQLError(message, { extensions: { code: 'GRAPHQL_INVALID' } })
const unreadable = () => bad('The operation can’t be read.')
/** GraphQL's own error, with a code. */
export function coded(error: unknown): GraphQLError {
  if (!(error instanceof GraphQLError)) return unreadable()
  return ownCode(error) ? error : plainError(error)
}
