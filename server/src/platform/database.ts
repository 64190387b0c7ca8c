import { PrismaPg } from '@prisma/adapter-pg'
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

/**
 * Opens a pool on `url` (UTC, named in pg_stat_activity). `poolSize` connections at most. Nothing connects until the
 * first query; `db.$disconnect()` closes it.
 */
export function openDatabase(url: string, options: { poolSize?: number; name?: string } = {}): Db {
  const adapter = new PrismaPg(
    {
      connectionString: url,
      max: options.poolSize ?? 20,
      options: '-c TimeZone=UTC',
      application_name: options.name ?? 'wheelhouse',
    },
    { statementNameGenerator: statementNames() },
  )
  return new PrismaClient({ adapter })
}
export { Prisma }
