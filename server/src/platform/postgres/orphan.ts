import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { findProcess, runningProcesses, signal, until } from './processes.ts'

/** What postmaster.pid says: one line each, as PostgreSQL's miscadmin.h lays them down. */
export type PostmasterFile = { pid: number; socketDirectory: string; ready: boolean }

export function readPostmasterFile(cluster: string): PostmasterFile | null {
  let lines: string[]
  try {
    lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return null
  }
  const pid = Number(lines[0])
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  return { pid, socketDirectory: lines[4]?.trim() ?? '', ready: lines[7]?.trim() === 'ready' }
}

/** PostgreSQL's processes carry the cluster's name in their titles; the postmaster has `-D` with its path. */
function belongsTo(cluster: string, clusterName: string): (command: string) => boolean {
  return (command) => command.startsWith(`postgres: ${clusterName}: `) || isPostmasterOf(cluster)(command)
}

function isPostmasterOf(cluster: string): (command: string) => boolean {
  return (command) => / -D /.test(command) && `${command} `.includes(` -D ${cluster} `)
}

/**
 * Leaves no process of this cluster behind and no postmaster.pid that would block a start.
 *
 * A PostgreSQL whose server was killed goes on running. It is stopped fast, then immediately, then killed, and
 * only after its command line showed that it is ours: a pid may have been given to somebody else since. A
 * postmaster that died may leave backends which still write until they notice, so they are waited for too. A
 * zombie counts as gone, although PostgreSQL itself would take it for alive. Returns what was found.
 *
 * @throws when a process of the cluster outlives every signal
 */
export async function clearOrphan(
  cluster: string,
  clusterName: string,
): Promise<{ stopped: number | null; socketDirectory: string | null }> {
  const file = readPostmasterFile(cluster)
  const ours = isPostmasterOf(cluster)
  const alive = (pid: number) => {
    const entry = findProcess(pid)
    return entry !== null && !entry.zombie && ours(entry.command)
  }
  let stopped: number | null = null
  if (file && alive(file.pid)) {
    stopped = file.pid
    for (const [name, limitMs] of [
      ['SIGINT', 20_000],
      ['SIGQUIT', 10_000],
      ['SIGKILL', 5_000],
    ] as const) {
      signal(file.pid, name)
      if (await until(() => !alive(file.pid), limitMs)) break
    }
  }
  await clearBackends(cluster, clusterName)
  // PostgreSQL itself sees to a file whose pid is free; it refuses when a zombie or somebody else has that pid.
  if (file && findProcess(file.pid)) rmSync(join(cluster, 'postmaster.pid'), { force: true })
  return { stopped, socketDirectory: file?.socketDirectory || null }
}

/** Waits until every process of the cluster is gone; those that don't notice by themselves are ended. */
export async function clearBackends(cluster: string, clusterName: string): Promise<void> {
  const left = () => runningProcesses(belongsTo(cluster, clusterName))
  if (await until(() => left().length === 0, 2_000)) return
  for (const name of ['SIGQUIT', 'SIGKILL'] as const) {
    for (const { pid } of left()) signal(pid, name)
    if (await until(() => left().length === 0, 5_000)) return
  }
  const pids = left().map(({ pid }) => pid)
  if (pids.length > 0)
    throw new Error(`processes of the database at ${cluster} do not end: ${pids.join(', ')}`)
}
