import { createHash } from 'node:crypto'
import type { BetterAuthOptions } from 'better-auth'
import type { DBAdapter, Where } from 'better-auth/adapters'

const model = 'session'
const digest = (token: string) => createHash('sha256').update(token).digest('hex')

/** What is asked for and what is written of better-auth's sessions names the digest of a token. */
function hashed(conditions: Where[]): Where[] {
  return conditions.map((condition) => {
    if (condition.field !== 'token') return condition
    const { value } = condition
    if (typeof value === 'string') return { ...condition, value: digest(value) }
    if (Array.isArray(value)) return { ...condition, value: value.map((token) => digest(String(token))) }
    return condition
  })
}

/** What comes back names a token again, where whoever asked knew it; else its digest, which opens nothing. */
function named<T>(row: T, conditions: Where[]): T {
  const { token } = (row ?? {}) as { token?: unknown }
  const known = conditions
    .filter((condition) => condition.field === 'token')
    .flatMap(({ value }) => (Array.isArray(value) ? value.map(String) : [String(value)]))
    .find((candidate) => digest(candidate) === token)
  return known === undefined ? row : { ...row, token: known }
}

/**
 * Keeps of a signed-in browser's token only its SHA-256, as of every other credential: who reads the table can sign in
 * as nobody. better-auth itself would keep the token.
 */
export function withHashedSessions(
  open: (options: BetterAuthOptions) => DBAdapter<BetterAuthOptions>,
): (options: BetterAuthOptions) => DBAdapter<BetterAuthOptions> {
  return (options) => {
    const adapter = open(options)
    return { ...wrap(adapter), transaction: (work) => adapter.transaction((tx) => work(wrap(tx))) }
  }
}

function wrap<Adapter extends Omit<DBAdapter<BetterAuthOptions>, 'transaction'>>(adapter: Adapter): Adapter {
  const where = <Query extends { model: string; where?: Where[] | undefined }>(query: Query): Query =>
    query.model === model && query.where ? { ...query, where: hashed(query.where) } : query
  const one =
    <Query extends { model: string; where: Where[] }, Row>(read: (query: Query) => Promise<Row | null>) =>
    async (query: Query): Promise<Row | null> =>
      named(await read(where(query)), query.where)
  return {
    ...adapter,
    async create(query) {
      const { token } = query.data as { token?: unknown }
      if (query.model !== model || typeof token !== 'string') return adapter.create(query)
      const row = await adapter.create({ ...query, data: { ...query.data, token: digest(token) } })
      return { ...(row as object), token } as never
    },
    findOne: one((query: Parameters<Adapter['findOne']>[0]) => adapter.findOne(query)),
    findMany: async (query) =>
      (await adapter.findMany(where(query))).map((row) => named(row, query.where ?? [])) as never,
    count: (query) => adapter.count(where(query)),
    update: one((query: Parameters<Adapter['update']>[0]) => adapter.update(query)),
    updateMany: (query) => adapter.updateMany(where(query)),
    delete: (query) => adapter.delete(where(query)),
    deleteMany: (query) => adapter.deleteMany(where(query)),
    consumeOne: one((query: Parameters<Adapter['consumeOne']>[0]) => adapter.consumeOne(query)),
    incrementOne: one((query: Parameters<Adapter['incrementOne']>[0]) => adapter.incrementOne(query)),
  } as Adapter
}
