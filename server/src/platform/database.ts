import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { Prisma, PrismaClient } from '../generated/prisma/client.ts'

/** The database as operations see it, and one open transaction of it. */
export type Db = PrismaClient
export type Tx = Prisma.TransactionClient

const heardBeforeNamed = 3
const mostNames = 300
const unnamed = ''

/**
 * Names the statements that come again and again, so that a connection parses and plans them once. The texts are a
 * fixed set but for lists of arguments; a bound keeps those from filling the connections' memory.
 */
export function statementNames(): (query: { sql: string; args: unknown[] }) => string {
  const heard = new Map<string, number>()
  const names = new Map<string, string>()
  return ({ sql, args }) => {
    const known = names.get(sql)
    // Without arguments (BEGIN, COMMIT) one message does it all.
    if (known !== undefined || args.length === 0 || names.size >= mostNames) return known ?? unnamed
    const times = (heard.get(sql) ?? 0) + 1
    if (times < heardBeforeNamed) {
      if (heard.size >= 2 * mostNames) heard.clear()
      heard.set(sql, times)
      return unnamed
    }
    heard.delete(sql)
    const name = `w${names.size}`
    names.set(sql, name)
    return name
  }
}

/** Values as Prisma gives them, for the types that our statements return. */
const { builtins } = pg.types
const readers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, BigInt],
  [builtins.TIMESTAMPTZ, readMoment],
])
/** The connection's time zone is UTC, so that all but the moments of other millennia are spelled in one way. */
function readMoment(text: string): Date {
  const plain = text.charCodeAt(4) === 45 && text.endsWith('+00')
  return plain
    ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
    : (pg.types.getTypeParser(builtins.TIMESTAMPTZ)(text) as Date)
}
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    readers.get(oid) ?? pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig['getTypeParser'],
}
/** As text in UTC, which pg would write in the time zone of the process. */
const written = (value: unknown) => (value instanceof Date ? value.toISOString() : value)

const pools = new WeakMap<object, (sql: Prisma.Sql) => Promise<pg.QueryResult>>()

/**
 * The rows of one statement, for the hot paths. Outside a transaction pg itself runs it on the same pool, which spares
 * the way through Prisma, several times as long as pg's; inside one it goes through the transaction like any other.
 * Rows have the same values both ways: `bigint` for int8, `Date` for timestamptz, JSON parsed. Errors of PostgreSQL carry
 * its code, by which `transact` knows conflicts both ways.
 */
export async function rowsOf<Row>(on: Db | Tx, sql: Prisma.Sql): Promise<Row[]> {
  const run = pools.get(on)
  return run ? ((await run(sql)).rows as Row[]) : on.$queryRaw<Row[]>(sql)
}

/**
 * Opens a pool on `url` (UTC, named in pg_stat_activity). `poolSize` connections at most. Nothing connects until the
 * first query; `db.$disconnect()` closes it.
 */
export function openDatabase(url: string, options: { poolSize?: number; name?: string } = {}): Db {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.poolSize ?? 20,
    options: '-c TimeZone=UTC',
    application_name: options.name ?? 'wheelhouse',
  })
  // A connection that breaks while nobody uses it is replaced by the next who needs one.
  pool.on('error', () => undefined)
  const nameOf = statementNames()
  const adapter = new PrismaPg(pool, { statementNameGenerator: nameOf, disposeExternalPool: true })
  const db = new PrismaClient({ adapter })
  pools.set(db, (sql) => {
    const { text, values } = sql
    return pool.query({
      name: nameOf({ sql: text, args: values }),
      text,
      values: values.map(written),
      types,
    })
  })
  return db
}
export { Prisma }
