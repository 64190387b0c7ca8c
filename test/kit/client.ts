import { createClient } from 'graphql-ws'
import WebSocket from 'ws'

export interface GraphQLAnswer<T> {
  data?: T
  errors?: {
    message: string
    path?: (string | number)[]
    extensions: { code: string; [key: string]: unknown }
  }[]
}

/** A problem of a mutation's union, as every test selects it. */
export interface Problem {
  __typename: string
  code: string
  message: string
  retryable: boolean
  issues?: { path: string[]; message: string }[]
  current?: { id: string } | null
  retryAfterMs?: number | null
  capability?: string | null
}
const problemFields =
  '...on Problem{code message retryable} ...on InvalidInput{issues{path message}} ...on Conflict{current{id}} ...on Refused{retryAfterMs} ...on PermissionDenied{capability}'

/** What integrators have: an address and a token. */
export class Client {
  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  /** Another caller of the same server. */
  as(token: string): Client {
    return new Client(this.url, token)
  }

  /** Any operation, as it comes back. */
  async request<T = Record<string, unknown>>(
    query: string,
    variables: object = {},
  ): Promise<GraphQLAnswer<T>> {
    const response = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return (await response.json()) as GraphQLAnswer<T>
  }

  /** A query that must succeed. */
  async query<T = Record<string, unknown>>(query: string, variables: object = {}): Promise<T> {
    const { data, errors } = await this.request<T>(query, variables)
    if (errors || !data) throw new Error(`query failed: ${JSON.stringify(errors)}`)
    return data
  }

  /** The code of the error that a query must end with. */
  async refusedQuery(query: string, variables: object = {}): Promise<string> {
    const { errors } = await this.request(query, variables)
    if (!errors?.[0]) throw new Error('the query was not refused')
    return errors[0].extensions.code
  }

  /** A mutation and its union member, whichever it is. */
  async mutate<T = Record<string, unknown>>(
    name: string,
    input: object,
    selection: string,
  ): Promise<T & { __typename: string }> {
    const pascal = name[0]?.toUpperCase() + name.slice(1)
    const { data, errors } = await this.request<Record<string, T & { __typename: string }>>(
      `mutation($input:${pascal}Input!){${name}(input:$input){__typename ...on ${pascal}Success{${selection}} ${problemFields}}}`,
      { input },
    )
    const member = data?.[name]
    if (errors || !member) throw new Error(`${name} failed: ${JSON.stringify(errors)}`)
    return member
  }

  /** A mutation that must succeed. */
  async do<T = Record<string, unknown>>(name: string, input: object, selection: string): Promise<T> {
    const member = await this.mutate<T>(name, input, selection)
    if (!member.__typename.endsWith('Success'))
      throw new Error(`${name} was refused: ${JSON.stringify(member)}`)
    return member
  }

  /** The problem that a mutation must end with. */
  async refused(name: string, input: object): Promise<Problem> {
    const member = await this.mutate<Problem>(name, input, '__typename')
    if (member.__typename.endsWith('Success')) throw new Error(`${name} was not refused`)
    return member
  }

  /** A subscription over graphql-ws on a connection of its own, collected as it arrives. */
  watch<T>(query: string, variables: object = {}, operationName?: string): Collected<T> {
    return collect<T>(this.url, this.token, { query, variables: { ...variables }, operationName })
  }
}

export interface Collected<T> {
  items: T[]
  /** The error that ended it, if one did. */
  failure(): unknown
  /** Resolves when the server completed it, or the connection broke. */
  ended: Promise<void>
  stop(): Promise<void>
  /** Called with each later item as it arrives. */
  onItem(call: (item: T) => void): void
  /** Stops reading its socket, as a stalled reader does; the result goes on. */
  pause(): () => void
}

function collect<T>(
  url: string,
  token: string,
  operation: { query: string; variables: Record<string, unknown>; operationName: string | undefined },
): Collected<T> {
  let socket: WebSocket | undefined
  const client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token },
    retryAttempts: 0,
    lazy: true,
    on: {
      opened: (opened) => {
        socket = opened as WebSocket
      },
    },
  })
  const items: T[] = []
  let heard: (item: T) => void = () => undefined
  let failure: unknown = null
  const ended = new Promise<void>((resolve) => {
    client.subscribe<Record<string, T>>(operation, {
      next: ({ data, errors }) => {
        if (errors) failure = errors
        const item = data && Object.values(data)[0]
        if (!item) return
        items.push(item)
        heard(item)
      },
      error: (error) => {
        failure = error
        resolve()
      },
      complete: () => resolve(),
    })
  })
  return {
    items,
    failure: () => failure,
    ended,
    async stop() {
      await client.dispose()
      await ended
    },
    onItem(call) {
      heard = call
    },
    pause() {
      socket?.pause()
      return () => socket?.resume()
    },
  }
}
