import { PrismaPg } from '@prisma/adapter-pg'
import { Prisma, PrismaClient } from '../generated/prisma/client.ts'

/** The database as operations see it, and one open transaction of it. */
export type Db = PrismaClient
export type Tx = Prisma.TransactionClient

/**
 * Opens a pool on `url` (UTC, named in pg_stat_activity). `poolSize` connections at most. Nothing connects until the
 * first query; `db.$disconnect()` closes it.
 */
export function openDatabase(url: string, options: { poolSize?: number; name?: string } = {}): Db {
  const adapter = new PrismaPg({
    connectionString: url,
    max: options.poolSize ?? 20,
    options: '-c TimeZone=UTC',
    application_name: options.name ?? 'wheelhouse',
  })
  return new PrismaClient({ adapter })
}
export { Prisma }
