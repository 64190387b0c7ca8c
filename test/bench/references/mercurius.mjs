// Mercurius as it ships, with the nested query's data in memory. `--jit` switches its compiler on.
import Fastify from 'fastify'
import mercurius from 'mercurius'
import { eventShape } from './shape.mjs'

const actor = { id: 'pri_AZrNn3Qkc0S5bq2kq0xQ3A', kind: 'PERSON', name: 'First owner' }
const event = (sequence) => ({
  id: `evt_AZrNn3Qkc0S5bq2kq0xQ3AGazZ90JHNEuW6tpKtMUNwAAAAAAAAA${sequence}`,
  sequence,
  type: 'SESSION_RENAMED',
  payload: { state: 'OPEN', generation: 1, title: `Session renamed ${sequence}`, by: actor.id },
  detail: { state: 'OPEN', generation: 1, title: `Session renamed ${sequence}`, actor },
  at: new Date(),
})
const events = Array.from({ length: 21 }, (_, index) => event(index + 1))
const session = {
  id: 'ses_AZrNn3Qkc0S5bq2kq0xQ3AGazZ90JHNEuW6tpKtMUNw',
  title: 'Session renamed 20',
  state: 'OPEN',
  generation: 1,
  createdAt: new Date(),
  lastActivityAt: new Date(),
  eventCount: events.length,
}
const app = Fastify()
await app.register(mercurius, {
  schema: eventShape,
  resolvers: {
    Query: { session: async () => session },
    Session: {
      events: async (_session, { after, first }) => ({
        events: events.slice(after, after + first),
        cursor: after + first,
        hasMore: events.length > after + first,
        latest: events.length,
      }),
    },
    SessionEventDetail: { resolveType: () => 'SessionStateDetail' },
    SessionStateDetail: { actor: async (detail) => detail.actor },
  },
  ...(process.argv.includes('--jit') && { jit: 1 }),
})
await app.listen({ port: 0, host: '127.0.0.1' })
process.send({ port: app.server.address().port })
