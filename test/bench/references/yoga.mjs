// Stock GraphQL Yoga with graphql-ws, wired as its documentation says; events from Yoga's own in-memory pub/sub.
import { createServer } from 'node:http'
import { useServer } from 'graphql-ws/use/ws'
import { createPubSub, createSchema, createYoga } from 'graphql-yoga'
import { WebSocketServer } from 'ws'
import { eventShape } from './shape.mjs'

const pubSub = createPubSub()
const yoga = createYoga({
  logging: false,
  schema: createSchema({
    typeDefs: eventShape,
    resolvers: {
      SessionWatchItem: { __resolveType: (item) => ('resumeAfter' in item ? 'WatchEnd' : 'SessionEvent') },
      Subscription: {
        sessionEvents: {
          subscribe: (_root, { sessionId }) => pubSub.subscribe(sessionId),
          resolve: (event) => event,
        },
      },
    },
  }),
})
const server = createServer(yoga)
useServer(
  {
    execute: (args) => args.rootValue.execute(args),
    subscribe: (args) => args.rootValue.subscribe(args),
    onSubscribe: async (ctx, _id, params) => {
      const { schema, execute, subscribe, contextFactory, parse, validate } = yoga.getEnveloped({
        ...ctx,
        req: ctx.extra.request,
        socket: ctx.extra.socket,
        params,
      })
      const args = {
        schema,
        operationName: params.operationName,
        document: parse(params.query),
        variableValues: params.variables,
        contextValue: await contextFactory(),
        rootValue: { execute, subscribe },
      }
      const errors = validate(args.schema, args.document)
      return errors.length > 0 ? errors : args
    },
  },
  new WebSocketServer({ server, path: yoga.graphqlEndpoint }),
)
process.on('message', ({ topic, events }) => {
  for (const event of events) pubSub.publish(topic, event)
})
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
