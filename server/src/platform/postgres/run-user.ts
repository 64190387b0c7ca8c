import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Who PostgreSQL runs as. Null: as the server itself does. PostgreSQL refuses to run as root. */
export type RunUser = { uid: number; gid: number; name: string }

function numericId(flag: '-u' | '-g'): number {
  const { stdout, status } = spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' })
  const id = Number((stdout ?? '').trim())
  return status === 0 && Number.isInteger(id) && id > 0 ? id : 65_534
}

/**
 * As root: the owner of the cluster where one exists and isn't root's, else `nobody`; no user is ever created.
 * As anybody else: null.
 */
export function runUser(existingCluster: string | null): RunUser | null {
  if (process.getuid?.() !== 0) return null
  if (existingCluster) {
    const { uid, gid } = statSync(existingCluster)
    if (uid !== 0) return { uid, gid, name: `user ${uid}` }
  }
  return { uid: numericId('-u'), gid: numericId('-g'), name: 'nobody' }
}

function allows(path: string, user: RunUser, bit: 1 | 4): boolean {
  const { mode, uid, gid } = statSync(path)
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0
  return ((mode >> shift) & bit) !== 0
}

/** The first directory on the way to `path`, itself included, that `user` may not enter; null when none. */
export function firstClosedDirectory(path: string, user: RunUser): string | null {
  const above = dirname(path) === path ? null : firstClosedDirectory(dirname(path), user)
  if (above) return above
  return allows(path, user, 1) ? null : path
}

/** Whether `user` may read the file or list the directory at `path`, its parents aside. */
export function mayRead(path: string, user: RunUser): boolean {
  return allows(path, user, 4)
}
