import { cacheExchange } from '@urql/exchange-graphcache'
import { type Client, createClient, type ExecutionResult, fetchExchange, subscriptionExchange } from 'urql'
import { cacheConfig } from './cache.ts'
import { socket } from './live.ts'

/** Sent with every request; the server refuses a console it can't serve, and a form post of another origin. */
export const apiHeaders = { 'x-wheelhouse-api': '1' }

/** One answer to one request: without this the client would also take, and then break off, an event stream. */
const accept = 'application/graphql-response+json, application/json'

export const createApiClient = (): Client =>
  createClient({
    url: '/graphql',
    preferGetMethod: false,
    fetchOptions: { headers: { ...apiHeaders, accept }, credentials: 'same-origin' },
    exchanges: [
      cacheExchange(cacheConfig),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query, variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: socket().subscribe(
              { query: query ?? '', variables: variables ?? {} },
              {
                next: (result) => sink.next(result as ExecutionResult),
                error: (error) => sink.error(error),
                complete: () => sink.complete(),
              },
            ),
          }),
        }),
      }),
    ],
  })

let current: Client | undefined
/** The client of the signed-in person; `forgetClient` drops it with everything it has cached. */
export const apiClient = (): Client => {
  current ??= createApiClient()
  return current
}
export const forgetClient = (): void => {
  current = undefined
}
