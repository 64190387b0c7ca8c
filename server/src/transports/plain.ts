import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { type ExecutionResult, getOperationAST, OperationTypeNode } from 'graphql'
import type { Viewer } from '../domains/access/rules.ts'
import { coded, type Engine, type OperationParams, prepare } from './engine.ts'

const json = 'application/json'
const response = 'application/graphql-response+json'
/** The type that an `accept` header asks for, for those that clients really send. */
const types = new Map<string | undefined, string>([
  [undefined, json],
  ['*/*', json],
  [json, json],
  [`${json}, text/plain, */*`, json],
  [response, response],
  [`${response}, ${json}`, response],
])

/**
 * Answers what nearly every request is (a signed-in caller's valid query or mutation as JSON) without the request and
 * response objects of the web, which cost more than a small operation itself. Answers false for everything else, the
 * body left on the request for the engine to take from there: both give the same answers.
 */
export async function answerPlainly(
  engine: Engine,
  viewer: Viewer | null,
  incoming: IncomingMessage & { body?: unknown },
  outgoing: ServerResponse,
): Promise<boolean> {
  const type = types.get(incoming.headers.accept)
  if (!viewer || !type || incoming.method !== 'POST') return false
  const body = await read(incoming)
  // The caller is gone, and there is nobody to answer.
  if (!body) return true
  const params = parsed(body)
  // What was read can be read again; bytes or an object would have their keys counted.
  incoming.body = Readable.from([body])
  if (!params) return false
  const prepared = await prepare(engine, viewer, params)
  if (!('document' in prepared)) return false
  const operation = getOperationAST(prepared.document, prepared.operationName)
  if (!operation || operation.operation === OperationTypeNode.SUBSCRIPTION) return false
  const result = (await prepared.execute(prepared)) as ExecutionResult
  const { status, text } = written(result)
  outgoing.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
  })
  outgoing.end(text)
  return true
}

/** An error of the request itself, as a variable of the wrong type, carries the status, which is not for the client's eyes. */
function written(result: ExecutionResult): { status: number; text: string } {
  if (!result.errors) return { status: 200, text: JSON.stringify(result) }
  let status = 200
  const errors = result.errors.map((error) => {
    const { http, ...extensions } = coded(error).extensions as { http?: { status?: number } }
    status = Math.max(status, http?.status ?? 200)
    return { ...coded(error).toJSON(), extensions }
  })
  return { status, text: JSON.stringify({ ...result, errors }) }
}

/** The whole body, whose length was limited before; null when the connection ended within it. */
async function read(incoming: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
  } catch (error) {
    if (incoming.destroyed) return null
    throw error
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
}

const isObject = (value: unknown): value is object =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
const names = new Set(['query', 'operationName', 'variables', 'extensions'])

/** The operation, when the request says nothing else: what the engine refuses is the engine's to refuse. */
function parsed(body: Buffer): OperationParams | null {
  try {
    const params: unknown = JSON.parse(body.toString('utf8'))
    if (!isObject(params) || !Object.keys(params).every((name) => names.has(name))) return null
    const { extensions }: OperationParams = params
    return extensions == null || isObject(extensions) ? params : null
  } catch {
    return null
  }
}
