import type { ChildProcess } from 'node:child_process'
import { readdirSync, rmdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from '../logger.ts'
import { findBinaries } from './binaries.ts'
import { createCluster, lastLogLines, spawnPostmaster, superuser } from './cluster.ts'
import { clusterMajor, type Location, locateCluster, socketDirectory } from './location.ts'
import { clearBackends, clearOrphan, readPostmasterFile } from './orphan.ts'
import { signal } from './processes.ts'

const database = 'wheelhouse'
const firstBackOffMs = 100
const longestBackOffMs = 10_000
const steadyAfterMs = 60_000

export type PostgresExit = { code: number | null; signal: NodeJS.Signals | null }

export type Postgres = {
  /** For pg and Prisma: over a private socket, without a password. The same for as long as it is supervised. */
  url: string
  /** Of the postmaster; another after a restart; null while there is none. */
  readonly pid: number | null
  /** The directory that holds the data. */
  location: string
  /** Set where the data is not below the data directory: one sentence that says where and why. */
  notice: string | null
  /** The major version that runs. */
  major: number
  /** Stops fast and cleanly; resolves when no process is left. */
  stop(): Promise<void>
  /** Called when PostgreSQL ended although nobody asked; it is restarted after that. */
  onExit(callback: (exit: PostgresExit) => void): void
}

export type PostgresOptions = {
  /** Absolute; exists; locked by the caller. */
  dataDirectory: string
  log: Logger
  /** Over our own settings; `fsync: 'off'` is for tests that don't ask about power cuts. */
  settings?: Readonly<Record<string, string>>
}

/**
 * Starts the embedded PostgreSQL of a data directory and keeps it running: makes the cluster on first use, ends
 * what an earlier server left behind, restarts PostgreSQL with back-off (0.1 s doubling to 10 s) when it dies.
 *
 * @throws NoPostgresError where there is none to run; Error with PostgreSQL's own last lines where it won't start
 */
export async function startPostgres({
  dataDirectory,
  log,
  settings = {},
}: PostgresOptions): Promise<Postgres> {
  const location = locateCluster(dataDirectory)
  const binaries = findBinaries(location.user, location.home, clusterMajor(location.cluster))
  const orphan = await clearOrphan(location.cluster, location.clusterName)
  if (orphan.stopped)
    log.warn({ pid: orphan.stopped }, 'a PostgreSQL left behind by an earlier server was stopped')
  if (orphan.socketDirectory) removeSocketDirectory(orphan.socketDirectory)
  if (createCluster(binaries, location)) log.info({ location: location.home }, 'database made')
  const socket = socketDirectory(location.home, location.user)
  const listeners: ((exit: PostgresExit) => void)[] = []
  let child: ChildProcess | null = null
  let stopping = false
  let restarting: Promise<void> = Promise.resolve()
  const wake = new AbortController()

  /** The exit is handed over inside an object: returned bare, the caller would wait for it. */
  const launch = async (): Promise<{ exit: Promise<PostgresExit> }> => {
    for (const name of readdirSync(socket)) rmSync(join(socket, name), { force: true })
    const started = spawnPostmaster(binaries, location, socket, settings)
    child = started
    const exit = new Promise<PostgresExit>((resolve) => {
      started.once('error', () => resolve({ code: null, signal: null }))
      started.once('exit', (code, signalName) => resolve({ code, signal: signalName }))
    })
    try {
      await ready(started, exit, location)
    } catch (error) {
      child = null
      throw error
    }
    return { exit }
  }

  const supervise = async (exit: Promise<PostgresExit>) => {
    let startedAt = performance.now()
    let backOffMs = firstBackOffMs
    let current = exit
    while (true) {
      const ended = await current
      child = null
      if (stopping) return
      log.error({ ...ended }, 'PostgreSQL ended unexpectedly; restarting it')
      for (const callback of listeners) callback(ended)
      if (performance.now() - startedAt > steadyAfterMs) backOffMs = firstBackOffMs
      while (!stopping) {
        await pause(backOffMs, undefined, { signal: wake.signal }).catch(() => undefined)
        backOffMs = Math.min(backOffMs * 2, longestBackOffMs)
        if (stopping) return
        try {
          await clearOrphan(location.cluster, location.clusterName)
          startedAt = performance.now()
          current = (await launch()).exit
          log.info('PostgreSQL runs again')
          break
        } catch (error) {
          log.error({ err: error }, 'PostgreSQL could not be restarted yet')
        }
      }
    }
  }

  const stop = async () => {
    stopping = true
    wake.abort()
    await shutDown(child, socket)
    await restarting
    // A restart that was under way when the stop came has a postmaster of its own.
    await shutDown(child, socket)
    await clearBackends(location.cluster, location.clusterName)
    removeSocketDirectory(socket)
  }

  try {
    const { exit } = await launch()
    await createDatabase(socket)
    restarting = supervise(exit)
  } catch (error) {
    stopping = true
    await shutDown(child, socket)
    removeSocketDirectory(socket)
    throw error
  }
  return {
    url: connectionUrl(socket, database),
    get pid() {
      return child?.pid ?? null
    },
    location: location.home,
    notice: location.closed
      ? `the database is at ${location.home}: ${location.user?.name ?? 'PostgreSQL'} may not enter ${location.closed}`
      : null,
    major: binaries.major,
    stop,
    onExit: (callback) => void listeners.push(callback),
  }
}

function connectionUrl(socket: string, name: string): string {
  return `postgresql://${superuser}@localhost/${name}?host=${encodeURIComponent(socket)}`
}

/** Crash recovery may take long; while the process lives and says nothing else, it is waited for. */
async function ready(child: ChildProcess, exit: Promise<PostgresExit>, location: Location): Promise<void> {
  let ended: PostgresExit | null = null
  void exit.then((value) => {
    ended = value
  })
  while (true) {
    if (ended) throw new Error(`PostgreSQL did not start:\n${lastLogLines(location)}`)
    const file = readPostmasterFile(location.cluster)
    if (file && file.pid === child.pid && file.ready) return
    await pause(10)
  }
}

async function createDatabase(socket: string): Promise<void> {
  const client = new pg.Client({ connectionString: connectionUrl(socket, 'postgres') })
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${database} TEMPLATE template0`)
  } finally {
    await client.end()
  }
}

/** Whether it turns connections away because it still recovers. */
async function recovers(socket: string): Promise<boolean> {
  const connectionString = connectionUrl(socket, 'postgres')
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return false
  } catch (error) {
    return (error as { code?: string }).code === '57P03'
  } finally {
    await client.end().catch(() => undefined)
  }
}

const fast = ['SIGINT', 30_000] as const
const immediate = ['SIGQUIT', 10_000] as const
const killed = ['SIGKILL', 5_000] as const

/**
 * Fast first (open transactions are rolled back), then without a checkpoint, then killed. One that recovers has no
 * transaction and nothing to write that its log does not hold, and may not hear of a fast stop until it is done.
 */
async function shutDown(child: ChildProcess | null, socket: string): Promise<void> {
  if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return
  const ways = (await recovers(socket)) ? [immediate, killed] : [fast, immediate, killed]
  const ended = new Promise<true>((resolve) => child.once('exit', () => resolve(true)))
  for (const [name, limitMs] of ways) {
    signal(child.pid, name)
    const limit = new AbortController()
    const inTime = await Promise.race([
      ended,
      pause(limitMs, false, { signal: limit.signal }).catch(() => false),
    ])
    limit.abort()
    if (inTime) return
  }
}

/** Removes a socket directory of our own making, with the sockets in it; any other is left alone. */
function removeSocketDirectory(directory: string): void {
  if (!/^(wheelhouse-\w{6}|socket)$/.test(basename(directory))) return
  try {
    for (const name of readdirSync(directory))
      if (name.startsWith('.s.PGSQL.')) rmSync(join(directory, name), { force: true })
    rmdirSync(directory)
  } catch {
    // Gone already, or not empty: neither stands in the way of anything.
  }
}
