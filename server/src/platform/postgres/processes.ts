import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** A process of this machine: its full command line, and a mark that a later process with its pid won't have. */
export type ProcessEntry = { pid: number; command: string; zombie: boolean; startMark: string }

function readLinux(pid: number): ProcessEntry | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name is in parentheses and may itself hold any character: fields are counted after the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim()
    return { pid, command, zombie: fields[0] === 'Z' || fields[0] === 'X', startMark: fields[19] ?? '' }
  } catch {
    return null
  }
}

function readPs(selection: string[]): ProcessEntry[] {
  const { stdout } = spawnSync('ps', [...selection, '-ww', '-o', 'pid=,stat=,lstart=,command='], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  return (stdout ?? '').split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+\S+\s+\d+)\s+(.*)$/.exec(line)
    if (!match) return []
    const [, pid = '', state = '', started = '', command = ''] = match
    return [{ pid: Number(pid), command, zombie: state.startsWith('Z'), startMark: started }]
  })
}

/** The process with this pid; null when there is none. A zombie is reported as one. */
export function findProcess(pid: number): ProcessEntry | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  return process.platform === 'linux' ? readLinux(pid) : (readPs(['-p', String(pid)])[0] ?? null)
}

/** Every process that still runs and whose command line satisfies `predicate`. Zombies are left out. */
export function runningProcesses(predicate: (command: string) => boolean): ProcessEntry[] {
  const all =
    process.platform === 'linux'
      ? readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readLinux(Number(name)) ?? []) : []))
      : readPs(['-ax'])
  return all.filter((entry) => !entry.zombie && predicate(entry.command))
}

/** Sends a signal; a process that is gone already is fine. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Waits until `condition` holds, asking every 20 ms; false when `limitMs` passed first. */
export async function until(condition: () => boolean, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs
  while (!condition()) {
    if (performance.now() > end) return false
    await pause(20)
  }
  return true
}
