import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { firstClosedDirectory, type RunUser, runUser } from './run-user.ts'

/** Where a cluster lives: `cluster` is PostgreSQL's own directory, `home` the one around it. */
export type Location = {
  home: string
  cluster: string
  /** `postgres: <name>: …` in every process title, so that its processes can be told from other clusters'. */
  clusterName: string
  user: RunUser | null
  /** Set where the data is not below the data directory: the directory the run user may not enter. */
  closed: string | null
}

const shared = '/var/lib/wheelhouse'
const socketFile = '/.s.PGSQL.5432'
/** sun_path holds 108 bytes with its NUL on Linux, 104 on macOS. */
const longestSocketPath = process.platform === 'darwin' ? 103 : 107

/** Makes `path` a directory that only its owner, `user` or else the server, may enter. */
export function privateDirectory(path: string, user: RunUser | null): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  if (!lstatSync(path).isDirectory()) throw new Error(`${path} is not a directory`)
  if (user) chownSync(path, user.uid, user.gid)
  chmodSync(path, 0o700)
}

/**
 * Decides where the cluster of `dataDirectory` (existing, absolute) lives, and makes that directory.
 *
 * As root the run user must be able to enter: the data directory is then handed to it (root enters anyway) and
 * stays 0700. Where a directory above is closed to it, as under a home of mode 0700, the cluster goes to
 * /var/lib/wheelhouse/<hash of the data directory>. One that exists is never left for another place.
 *
 * @throws when an existing cluster lies where the run user may no longer enter
 */
export function locateCluster(dataDirectory: string): Location {
  const real = realpathSync(dataDirectory)
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 16)
  const clusterName = `wheelhouse-${hash}`
  const inside = join(real, 'postgres')
  const outside = join(shared, hash)
  const existing = [inside, outside].find((home) => existsSync(join(home, 'data/PG_VERSION'))) ?? null
  const user = runUser(existing && join(existing, 'data'))
  const closed = user && firstClosedDirectory(dirname(real), user)
  if (closed && existing === inside)
    throw new Error(
      `the database is at ${inside}, but ${user.name}, as whom PostgreSQL runs, may no longer enter ${closed}: ` +
        `open it (chmod o+x ${closed}), or start as the user who owns the database`,
    )
  const home = existing ?? (closed ? outside : inside)
  if (home === outside) {
    // The server's umask closes what it makes; this one is passed through by whoever PostgreSQL runs as.
    if (mkdirSync(shared, { recursive: true })) chmodSync(shared, 0o755)
  } else if (user) {
    privateDirectory(real, user)
  }
  privateDirectory(home, user)
  return {
    home,
    cluster: join(home, 'data'),
    clusterName,
    user,
    closed: home === outside ? (closed ?? real) : null,
  }
}

/** The major version of the existing cluster; null when there is none yet. */
export function clusterMajor(cluster: string): number | null {
  const file = join(cluster, 'PG_VERSION')
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : null
}

/** A private directory for the socket: beside the cluster, or where that path is too long for one, in /tmp. */
export function socketDirectory(home: string, user: RunUser | null): string {
  const beside = join(home, 'socket')
  if (Buffer.byteLength(beside + socketFile) <= longestSocketPath) {
    privateDirectory(beside, user)
    return beside
  }
  const base = Buffer.byteLength(tmpdir()) <= 40 ? tmpdir() : '/tmp'
  const made = mkdtempSync(join(base, 'wheelhouse-'))
  privateDirectory(made, user)
  return made
}
