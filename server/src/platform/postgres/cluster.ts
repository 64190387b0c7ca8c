import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Binaries, NoPostgresError } from './binaries.ts'
import type { Location } from './location.ts'

export const superuser = 'wheelhouse'
const logLimitBytes = 1_048_576

/** Nothing of the caller's environment reaches PostgreSQL: PGDATA, PGPORT or a locale would change what it does. */
function environment(location: Location): Record<string, string> {
  return { PATH: '/usr/bin:/bin', HOME: location.home, LC_ALL: 'C', TZ: 'UTC' }
}

function identity(location: Location): { uid?: number; gid?: number } {
  return location.user ? { uid: location.user.uid, gid: location.user.gid } : {}
}

/**
 * Makes the cluster where there is none: UTF-8 with byte order (`C.UTF-8`), page checksums, private files. It is
 * made aside and renamed, so that one that was cut short is never taken for a whole one.
 */
export function createCluster(binaries: Binaries, location: Location): boolean {
  if (existsSync(join(location.cluster, 'PG_VERSION'))) return false
  const partial = `${location.cluster}.new`
  const provider = binaries.major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []
  const options = ['--encoding=UTF8', ...provider, '--data-checksums', '--no-instructions']
  let complaint = ''
  // A machine without the C.UTF-8 locale has C at least; order and case come from the provider from 17 on.
  for (const locale of ['C.UTF-8', 'C']) {
    rmSync(partial, { recursive: true, force: true })
    const made = spawnSync(
      join(binaries.directory, 'initdb'),
      // The socket's directory admits its owner and root alone, and there is no other way in: hence trust.
      ['-D', partial, '-U', superuser, '--auth=trust', `--locale=${locale}`, ...options],
      { cwd: '/', env: environment(location), encoding: 'utf8', ...identity(location) },
    )
    complaint =
      made.status === 0
        ? ''
        : made.stderr || made.error?.message || `initdb ended with ${made.signal ?? made.status}`
    if (!complaint.includes('locale')) break
  }
  if (complaint.includes('could not look up effective user ID'))
    throw new NoPostgresError(
      `PostgreSQL needs the user it runs as to have a name: add user ${process.getuid?.()} to /etc/passwd, ` +
        'start as another user, or set DATABASE_URL to a running PostgreSQL',
    )
  if (complaint) throw new Error(`the database could not be made at ${location.home}: ${complaint.trim()}`)
  renameSync(partial, location.cluster)
  const directory = openSync(location.home, 'r')
  fsyncSync(directory)
  closeSync(directory)
  return true
}

/**
 * Starts the postmaster in a process group of its own, so that Ctrl-C reaches the server first. What it writes
 * goes to a file: a pipe would break when the server is killed and stall it when the server is stopped.
 */
export function spawnPostmaster(
  binaries: Binaries,
  location: Location,
  socket: string,
  settings: Readonly<Record<string, string>>,
) {
  const log = logFile(location)
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > logLimitBytes) renameSync(log, `${log}.1`)
  const all = {
    listen_addresses: '',
    unix_socket_permissions: '0700',
    cluster_name: location.clusterName,
    max_connections: '200',
    shared_buffers: '256MB',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_destination: 'stderr',
    logging_collector: 'off',
    // Statements and details carry values that people wrote: the log names neither.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    ...settings,
  }
  // Root writes where the run user could have laid a link.
  const output = openSync(
    log,
    constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW,
    0o600,
  )
  try {
    const child = spawn(
      join(binaries.directory, 'postgres'),
      // The order matters to orphan.ts: it looks for ` -D <cluster> `.
      [
        '-D',
        location.cluster,
        '-k',
        socket,
        ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      {
        cwd: '/',
        detached: true,
        stdio: ['ignore', output, output],
        env: environment(location),
        ...identity(location),
      },
    )
    child.unref()
    return child
  } finally {
    closeSync(output)
  }
}

export function logFile(location: Location): string {
  return join(location.home, 'postgres.log')
}

/** The last lines that PostgreSQL wrote, for a message about why it did not start. */
export function lastLogLines(location: Location, count = 5): string {
  const file = logFile(location)
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join('\n') : ''
}
