import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { findProcess } from './postgres/processes.ts'

const marker = 'wheelhouse.txt'
const markerText = 'This directory holds the data of a Wheelhouse server. Nothing else belongs here.\n'
const discovery = 'server.json'
const beatMs = 5_000
/** A holder that this machine can't see is believed dead after missing two beats and some. */
const silenceMs = 12_000
const contestMs = 2_000

/** What one contender says of itself in its lock file. */
interface Claim {
  pid: number
  startMark: string
  /** The processes that this pid counts among: a container's are not the host's. */
  machine: string
  state: 'claiming' | 'held'
  since: string
}

export interface DataDirectory {
  path: string
  /** Writes the discovery file: from now on the server is ready at `url`. */
  announce(url: string): void
  /** Removes the discovery file and the lock. */
  release(): void
}

/** The directory can't be used; the message says who holds it or what is wrong with it. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError'
}

function machine(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${hostname()} ${boot} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

/** Complete or absent, never half-written; 0600. */
function writePrivate(path: string, text: string): void {
  const partial = `${path}.${randomBytes(4).toString('hex')}.partial`
  writeFileSync(partial, text, { mode: 0o600, flag: 'wx' })
  renameSync(partial, path)
}

function readClaim(path: string): Claim | 'broken' | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Claim
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : 'broken'
  }
}

/** Whether the process that made this claim still runs: a later process with its pid started at another time. */
async function alive(path: string, claim: Claim): Promise<boolean> {
  if (claim.machine === machine()) {
    const entry = findProcess(claim.pid)
    return entry !== null && !entry.zombie && entry.startMark === claim.startMark
  }
  const beat = () => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
  const before = beat()
  for (let waited = 0; waited < silenceMs; waited += 500) {
    const now = beat()
    if (now === null) return false
    if (now !== before) return true
    await pause(500)
  }
  return false
}

/**
 * Takes the exclusive lock. Every contender first writes a file of its own, then looks for others': of two, at
 * least one sees the other, so there are never two holders, whatever was left behind and whoever comes at once.
 * Two that see each other are decided by name: the smaller waits for the greater to withdraw.
 *
 * @returns the path of the lock file
 * @throws DataDirectoryError naming the holder
 */
async function lock(directory: string): Promise<string> {
  const name = `lock.${process.pid}-${randomBytes(6).toString('hex')}`
  const path = join(directory, name)
  const claim: Claim = {
    pid: process.pid,
    startMark: findProcess(process.pid)?.startMark ?? '',
    machine: machine(),
    state: 'claiming',
    since: new Date().toISOString(),
  }
  writePrivate(path, JSON.stringify(claim))
  try {
    const end = performance.now() + contestMs
    while (true) {
      const rival = await findRival(directory, name)
      if (!rival) break
      if (rival.claim.state === 'held' || name > rival.name || performance.now() > end)
        throw new DataDirectoryError(heldMessage(directory, rival.claim))
      await pause(20)
    }
    writePrivate(path, JSON.stringify({ ...claim, state: 'held' }))
    return path
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}

/** The first living claim beside `own`; dead ones are removed on the way. */
async function findRival(directory: string, own: string): Promise<{ name: string; claim: Claim } | null> {
  for (const name of readdirSync(directory).sort()) {
    if (!name.startsWith('lock.') || name === own || name.endsWith('.partial')) continue
    const path = join(directory, name)
    const claim = readClaim(path)
    if (claim === null) continue
    // Claims are renamed into place whole: a broken one was torn by a power cut.
    if (claim !== 'broken' && (await alive(path, claim))) return { name, claim }
    rmSync(path, { force: true })
  }
  return null
}

function heldMessage(directory: string, claim: Claim): string {
  let url = ''
  try {
    const found = JSON.parse(readFileSync(join(directory, discovery), 'utf8')) as { pid: number; url: string }
    if (found.pid === claim.pid) url = ` at ${found.url}`
  } catch {
    // Not ready yet: it has no URL to tell.
  }
  return (
    `${directory} is held by the server with pid ${claim.pid}${url}, since ${claim.since}. ` +
    'Stop that one first, or give this one a directory of its own with WHEELHOUSE_DATA_DIR'
  )
}

/** Makes a directory and those above it, one by one: Node's own recursion never returns where the system says ENOENT. */
function makeDirectories(path: string): void {
  if (existsSync(path)) return
  if (dirname(path) !== path) makeDirectories(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process made it in this moment.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

function prepare(path: string): void {
  try {
    makeDirectories(path)
    const entries = readdirSync(path).filter((name) => name !== 'lost+found' && !name.endsWith('.partial'))
    if (entries.length > 0 && !entries.includes(marker))
      throw new DataDirectoryError(
        `${path} holds something else: give Wheelhouse an empty or new directory with WHEELHOUSE_DATA_DIR`,
      )
    chmodSync(path, 0o700)
    if (!existsSync(join(path, marker))) writePrivate(join(path, marker), markerText)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof DataDirectoryError || !code) throw error
    if (code === 'EEXIST' || code === 'ENOTDIR')
      throw new DataDirectoryError(
        `${path} is not a directory: give Wheelhouse an empty or new one with WHEELHOUSE_DATA_DIR`,
      )
    const { uid } = statSync(path, { throwIfNoEntry: false }) ?? {}
    const owner = uid === undefined || uid === process.getuid?.() ? '' : ` It belongs to user ${uid}.`
    throw new DataDirectoryError(
      `${path} can't be used as the data directory (${code}).${owner} ` +
        'Start as the user it belongs to, or give another with WHEELHOUSE_DATA_DIR',
    )
  }
}

/**
 * Makes the data directory (0700, its files 0600) where there is none, and takes its lock, which lasts until
 * `release` or the end of the process, however that comes.
 *
 * @throws DataDirectoryError when another server holds it, or when it can't be used
 */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  prepare(path)
  const file = await lock(path)
  const beat = setInterval(() => {
    const now = new Date()
    try {
      utimesSync(file, now, now)
    } catch {
      // Only a machine that doesn't see our processes asks for the beat.
    }
  }, beatMs)
  beat.unref()
  const found = join(path, discovery)
  rmSync(found, { force: true })
  return {
    path,
    announce: (url) =>
      writePrivate(
        found,
        `${JSON.stringify({ pid: process.pid, url, started: new Date().toISOString() })}\n`,
      ),
    release: () => {
      clearInterval(beat)
      rmSync(found, { force: true })
      rmSync(file, { force: true })
    },
  }
}
