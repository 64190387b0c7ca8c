import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

/** Prisma's own advisory lock, so that its tools and this runner never migrate one database at once. */
const advisoryLock = 72_707_369

const createTable = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL,
    logs TEXT,
    rolled_back_at TIMESTAMPTZ,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`

type Migration = { name: string; sql: string }
type Applied = { migration_name: string; checksum: string; finished_at: Date | null }

/** The database can't be brought to this server's version. Nothing was changed; the message says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** `prisma/migrations`, found from the source tree and from the bundle alike. */
export function migrationsDirectory(): string {
  let directory = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(directory, 'prisma/migrations'))) {
    const above = dirname(directory)
    if (above === directory)
      throw new MigrationError('prisma/migrations is missing: install Wheelhouse again')
    directory = above
  }
  return join(directory, 'prisma/migrations')
}

function readMigrations(directory: string): Migration[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, sql: readFileSync(join(directory, name, 'migration.sql'), 'utf8') }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** A checkout may have changed the line ends, which changes nothing in the database. */
function sameChecksum(recorded: string, sql: string): boolean {
  const lf = sql.replaceAll('\r\n', '\n')
  return [sql, lf, lf.replaceAll('\n', '\r\n')].some((text) => checksum(text) === recorded)
}

/** Names what stands between the database and this server's migrations; null when nothing does. */
function drift(applied: readonly Applied[], migrations: readonly Migration[]): string | null {
  const known = new Map(migrations.map((migration) => [migration.name, migration.sql]))
  for (const row of applied) {
    const sql = known.get(row.migration_name)
    if (!row.finished_at)
      return (
        `migration ${row.migration_name} was begun by another tool and did not finish: ` +
        'restore the database from a backup made before it, or repair it and set rolled_back_at in _prisma_migrations'
      )
    if (sql === undefined)
      return (
        `the database has migration ${row.migration_name}, which this server does not know: ` +
        'it was used by a newer Wheelhouse. Start that version, or restore a backup made by this one'
      )
    if (!sameChecksum(row.checksum, sql))
      return (
        `migration ${row.migration_name} differs from the one that was applied: ` +
        'put the released file back; a change to the database belongs into a new migration'
      )
  }
  return null
}

function failure(migration: Migration, error: unknown): MigrationError {
  const { message, code, position } = error as { message?: string; code?: string; position?: string }
  const line = position ? migration.sql.slice(0, Number(position)).split('\n').length : null
  const where = line ? ` at line ${line}` : ''
  return new MigrationError(
    `migration ${migration.name} failed${where}: ${message ?? String(error)}${code ? ` (${code})` : ''}. ` +
      'It changed nothing, and the earlier version still runs on this database. ' +
      'Correct what it complains about, or report it, and start again',
    { cause: error },
  )
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query('BEGIN')
    const before = await client.query<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid')
    await client.query(migration.sql)
    const after = await client.query<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid')
    if (before.rows[0]?.xid !== after.rows[0]?.xid)
      throw new Error('the file ends its own transaction; take COMMIT, ROLLBACK and BEGIN out of it')
    await client.query(
      `INSERT INTO _prisma_migrations
         (id, checksum, started_at, finished_at, migration_name, applied_steps_count)
       VALUES ($1, $2, now(), clock_timestamp(), $3, 1)`,
      [randomUUID(), checksum(migration.sql), migration.name],
    )
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw failure(migration, error)
  }
}

/**
 * Brings the database to the state of the migrations in `directory`, in Prisma's own format: each file in one
 * transaction together with its row, so that a failed one leaves no trace. Runners in several processes take
 * turns through an advisory lock; the later ones find nothing left to do. Gives the names it applied.
 *
 * @throws MigrationError when a file fails, when an applied one was edited, or when the database is newer
 */
export async function migrate(
  url: string,
  directory = migrationsDirectory(),
): Promise<{ applied: string[] }> {
  const migrations = readMigrations(directory)
  const client = new pg.Client({ connectionString: url, application_name: 'wheelhouse migrations' })
  // A connection that breaks rejects the query under way; without a listener it would end the process too.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query("SET statement_timeout = 0; SET lock_timeout = 0; SET TIME ZONE 'UTC'")
    await client.query('SELECT pg_advisory_lock($1)', [advisoryLock])
    await client.query(createTable)
    const { rows } = await client.query<Applied>(
      'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at',
    )
    const reason = drift(rows, migrations)
    if (reason) throw new MigrationError(reason)
    const done = new Set(rows.map((row) => row.migration_name))
    const applied: string[] = []
    for (const migration of migrations) {
      if (done.has(migration.name)) continue
      await apply(client, migration)
      applied.push(migration.name)
    }
    return { applied }
  } finally {
    await client.end()
  }
}

/** The migrations of `directory` that the database has not applied; for readiness, which must not wait. */
export async function pendingMigrations(
  query: (sql: string) => Promise<{ migration_name: string }[]>,
  directory = migrationsDirectory(),
): Promise<string[]> {
  const rows = await query(
    'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  )
  const done = new Set(rows.map((row) => row.migration_name))
  return readMigrations(directory)
    .map(({ name }) => name)
    .filter((name) => !done.has(name))
}
