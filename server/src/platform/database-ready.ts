import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

const firstPauseMs = 100
const longestPauseMs = 1_000
/** In the driver's words. */
const timedOut = 'timeout expired'

/** The database is on its way and did not arrive in time. The message is for a person, and names no credential. */
export class DatabaseNotReadyError extends Error {
  override readonly name = 'DatabaseNotReadyError'
}

export interface WaitOptions {
  limitMs: number
  /** Called once, with what the database says, when there is something to wait for. */
  waiting(reason: string): void
  /** Asked between tries; true ends the waiting. */
  stopped?(): boolean
}

/**
 * What PostgreSQL, or the machine before it, answers while it starts, recovers or restarts: 57P01 to 57P03 are its
 * shutting down, its crash and its start; 53300 is every connection taken, as after the death of a server whose own
 * ones are still being cleared away. null for what no waiting mends: another password, host or database.
 */
function passing(error: unknown): string | null {
  const { code, message, address } = error as NodeJS.ErrnoException & { address?: string }
  const reason = message || code || String(error)
  // A local socket is made anew at each start; where even its directory is missing, the address is wrong.
  if (code === 'ENOENT') return address && existsSync(dirname(address)) ? reason : null
  if (code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === 'EPIPE') return reason
  if (code && ['57P01', '57P02', '57P03', '53300'].includes(code)) return reason
  // The driver gives these two no code.
  const lost = reason === timedOut || reason.startsWith('Connection terminated')
  return code === undefined && lost ? reason : null
}

async function reach(url: string, limitMs: number): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'wheelhouse start',
    connectionTimeoutMillis: Math.max(1, limitMs),
  })
  // A connection that breaks rejects the query under way; without a listener it would end the process too.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT 1')
  } finally {
    await client.end().catch(() => undefined)
  }
}

/**
 * Resolves when the database takes connections. One that starts, recovers or restarts is tried again (after 0.1 s
 * doubling to 1 s) for `limitMs`; any other failure is thrown as it came.
 *
 * @throws DatabaseNotReadyError when the time is over, or `stopped` says so
 */
export async function databaseReady(url: string, options: WaitOptions): Promise<void> {
  const deadline = performance.now() + options.limitMs
  let pauseMs = firstPauseMs
  let last: string | null = null
  for (;;) {
    try {
      return await reach(url, deadline - performance.now())
    } catch (error) {
      const reason = passing(error)
      if (reason === null) throw error
      if (last === null) options.waiting(reason)
      // The last try ends with our own patience, which says less than what the database said before.
      if (last === null || reason !== timedOut) last = reason
    }
    if (options.stopped?.()) throw new DatabaseNotReadyError('stopped while waiting for the database')
    const left = deadline - performance.now()
    if (left <= 0)
      throw new DatabaseNotReadyError(
        `the database was not ready within ${options.limitMs / 1_000} s: ${last}`,
      )
    await pause(Math.min(pauseMs, left))
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }
}
