import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'graphql-ws'
import WebSocket from 'ws'
import { attempts, backOffMs, Problem } from './persistently.ts'

type Errors = readonly { message: string; extensions?: Record<string, unknown> | undefined }[]

function problemOf([first]: Errors): Problem {
  const { code, retryable } = first?.extensions ?? {}
  return new Problem(
    String(code ?? 'UNKNOWN'),
    first?.message ?? '',
    retryable === true || code === 'INTERNAL',
  )
}

/** All that a client of Wheelhouse needs: operations over HTTP, subscriptions over graphql-ws. Copy it. */
export class Client {
  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  /**
   * A query or mutation. Tried again, with back-off, while the server can't be reached, 8 times at most. A call whose
   * answer was lost may have been done: give mutations an idempotency key, and doing them again does them once.
   */
  async request<T>(query: string, variables: object = {}, signal?: AbortSignal): Promise<T> {
    for (let failures = 0; ; failures += 1) {
      try {
        const response = await fetch(`${this.url}/graphql`, {
          method: 'POST',
          headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ query, variables }),
          ...(signal && { signal }),
        })
        const { data, errors } = (await response.json()) as { data?: T; errors?: Errors }
        if (errors || !data) throw problemOf(errors ?? [])
        return data
      } catch (error) {
        const final = error instanceof Problem && !error.retryable
        if (final || signal?.aborted || failures >= attempts) throw error
        await pause(backOffMs(failures), undefined, signal && { signal })
      }
    }
  }

  /** A mutation of the API's one shape: gives the selection of its success, throws any other member as a Problem. */
  async mutate<T>(name: string, input: object, selection: string, signal?: AbortSignal): Promise<T> {
    const type = name.charAt(0).toUpperCase() + name.slice(1)
    const document = `mutation($input:${type}Input!){result:${name}(input:$input){
      ...on ${type}Success{${selection}} ...on Problem{code message retryable}}}`
    const { result } = await this.request<{ result: T & Partial<Problem> }>(document, { input }, signal)
    if (result.code === undefined) return result
    throw new Problem(result.code, result.message ?? '', result.retryable ?? false)
  }

  /** A subscription on a connection of its own. Ends when the server ends it, throws when the connection breaks. */
  async *subscribe<T>(query: string, variables: object, signal?: AbortSignal): AsyncGenerator<T> {
    let silence: NodeJS.Timeout | undefined
    const client = createClient({
      url: `${this.url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { token: this.token },
      retryAttempts: 0,
      // A connection that is dead without having been closed is noticed by its silence.
      keepAlive: 10_000,
      on: {
        ping: (received) => {
          if (!received) silence = setTimeout(() => client.terminate(), 5_000)
        },
        pong: () => clearTimeout(silence),
      },
    })
    // Leaving before it was connected says so in an error, which is no news.
    const leave = () => void Promise.resolve(client.dispose()).catch(() => undefined)
    signal?.addEventListener('abort', leave, { once: true })
    try {
      const results = client.iterate<Record<string, T>>({ query, variables: { ...variables } })
      for await (const { data, errors } of results) {
        if (errors || !data) throw problemOf(errors ?? [])
        yield Object.values(data)[0] as T
      }
    } catch (error) {
      const { code, reason } = error as { code?: unknown; reason?: string }
      if (code === 4403) throw new Problem('UNAUTHENTICATED', reason ?? '', false)
      throw Array.isArray(error) ? problemOf(error as Errors) : error
    } finally {
      clearTimeout(silence)
      signal?.removeEventListener('abort', leave)
      leave()
    }
  }
}
