import { createApp } from './app.ts'
import { checkAddress } from './platform/address.ts'
import { systemClock } from './platform/clock.ts'
import { type Config, ConfigError, readConfig } from './platform/config.ts'
import { DataDirectoryError, openDataDirectory } from './platform/data-directory.ts'
import { openDatabase } from './platform/database.ts'
import { DatabaseNotReadyError, databaseReady } from './platform/database-ready.ts'
import { systemIds } from './platform/ids.ts'
import { closeOnSignals, createLifecycle, type Lifecycle } from './platform/lifecycle.ts'
import { createLogger, type Logger } from './platform/logger.ts'
import { MigrationError, migrate } from './platform/migrations.ts'
import { NoPostgresError } from './platform/postgres/binaries.ts'
import { signal } from './platform/postgres/processes.ts'
import { type Postgres, startPostgres } from './platform/postgres/supervisor.ts'

/** How long a database that starts, recovers or restarts is waited for. */
const databaseLimitMs = 60_000

/** Where the data is, for start and health to say. */
function describe(postgres: Postgres | null, config: Config): string {
  if (!postgres) return `${new URL(config.databaseUrl ?? '').host || 'DATABASE_URL'} (DATABASE_URL)`
  return `embedded PostgreSQL ${postgres.major}${postgres.notice ? `; ${postgres.notice}` : ''}`
}

/** What a person can act on is one line; anything else keeps its stack. */
function explain(error: unknown, config: Config): string {
  const { code, message, stack, hostname } = error as NodeJS.ErrnoException & { hostname?: string }
  if (error instanceof DatabaseNotReadyError)
    return config.databaseUrl ? `DATABASE_URL can't be used: ${message}` : message
  const told = [DataDirectoryError, MigrationError, NoPostgresError].some((type) => error instanceof type)
  if (told) return message
  if (code === 'EADDRINUSE')
    return `${config.host}:${config.port} is in use: end what listens there, or set WHEELHOUSE_PORT`
  const unknownHost = code === 'ENOTFOUND' || code === 'EAI_AGAIN'
  if (code === 'EADDRNOTAVAIL' || (unknownHost && hostname === config.host))
    return `${config.host} is not an address of this machine: set WHEELHOUSE_HOST to one`
  if (code === 'EACCES' && (error as { syscall?: string }).syscall === 'listen')
    return `port ${config.port} is not open to this user: set WHEELHOUSE_PORT to 1024 or above`
  const unreachable = unknownHost || code === 'ECONNREFUSED' || code === 'ETIMEDOUT'
  // PostgreSQL's own: 28 is a refused sign-in, 3D000 a database that isn't there.
  if (config.databaseUrl && (unreachable || code?.startsWith('28') || code === '3D000'))
    return `DATABASE_URL can't be used: ${message || code}`
  return stack ?? String(error)
}

/** Opens one thing after the other and registers how each is closed, so that a failure leaves nothing half-open. */
async function serve(config: Config, log: Logger, lifecycle: Lifecycle): Promise<void> {
  let postgres: Postgres | null = null
  closeOnSignals(lifecycle, log, () => {
    if (postgres?.pid) signal(postgres.pid, 'SIGQUIT')
  })
  const directory = await openDataDirectory(config.dataDirectory)
  lifecycle.opened('data directory', () => directory.release())
  await checkAddress(config.port, config.host)
  if (!config.databaseUrl) {
    postgres = await startPostgres({ dataDirectory: directory.path, log })
    lifecycle.opened('PostgreSQL', postgres.stop, 50_000)
  }
  const databaseUrl = config.databaseUrl ?? postgres?.url ?? ''
  await databaseReady(databaseUrl, {
    limitMs: databaseLimitMs,
    stopped: () => lifecycle.closing,
    waiting: (reason) =>
      process.stdout.write(`Waiting for the database, ${databaseLimitMs / 1_000} s at most: ${reason}\n`),
  })
  const { applied } = await migrate(databaseUrl)
  if (applied.length > 0) log.info({ applied }, 'migrations applied')
  const db = openDatabase(databaseUrl)
  lifecycle.opened('database connections', () => db.$disconnect())
  const databaseNotice = describe(postgres, config)
  const app = await createApp({
    db,
    databaseUrl,
    config,
    clock: systemClock,
    ids: systemIds,
    log,
    databaseNotice,
  })
  lifecycle.opened('server', () => app.close(), 12_000)
  const { url } = await app.listen(config.port, config.host)
  directory.announce(url)
  const origin = config.publicUrl ?? url
  const signIn = app.firstOwnerPath
    ? `Become its first owner, once, within 24 hours: ${origin}${app.firstOwnerPath}\n`
    : ''
  const sample = app.sample.on ? '' : `The sample agent is off: ${app.sample.reason}\n`
  process.stdout.write(`Database: ${databaseNotice}\n${sample}Wheelhouse is ready at ${origin}\n${signIn}`)
}

async function main(): Promise<void> {
  let config: Config
  try {
    config = readConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const line of error.lines) process.stderr.write(`${line}\n`)
    process.exit(1)
  }
  const log = createLogger(config.logLevel)
  const lifecycle = createLifecycle(log)
  try {
    await lifecycle.start(() => serve(config, log, lifecycle))
  } catch (error) {
    // Whoever asked for the stop ends the process once everything is closed.
    if (lifecycle.closing) return
    process.stderr.write(`${explain(error, config)}\n`)
    await lifecycle.close()
    process.exit(1)
  }
}

// Files made from now on are the owner's alone.
process.umask(0o077)
await main()
