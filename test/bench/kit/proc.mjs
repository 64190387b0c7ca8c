// What processes cost, as the kernel counts it: nothing is added to what is measured.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** CPU time of a process so far, in milliseconds: user and system, all of its threads. */
export function cpuMs(pid) {
  let ns = 0
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      ns += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // The thread ended meanwhile.
    }
  }
  return ns / 1e6
}

const childrenOf = (pid) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number)

/** The postmaster of a data directory and its processes. */
export function postgresPids(directory) {
  const file = join(directory, 'postgres/data/postmaster.pid')
  if (!existsSync(file)) return []
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
  return [pid, ...childrenOf(pid)]
}

/**
 * Starts to count the CPU time of a data directory's PostgreSQL; the answer says how much it was since, in milliseconds.
 * Processes that came meanwhile count whole; what one did that has gone meanwhile is lost.
 */
export function countPostgres(directory) {
  const read = () =>
    new Map(
      postgresPids(directory).map((pid) => {
        try {
          return [pid, cpuMs(pid)]
        } catch {
          return [pid, 0]
        }
      }),
    )
  const before = read()
  return () => [...read()].reduce((sum, [pid, ms]) => sum + Math.max(0, ms - (before.get(pid) ?? 0)), 0)
}

/** Memory of processes together, in MiB. PSS counts shared pages once; RSS counts them in each process. */
export function memoryOf(pids) {
  const sum = { rss: 0, pss: 0 }
  for (const pid of pids) {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    sum.rss += Number(/^Rss:\s+(\d+)/m.exec(text)[1]) / 1024
    sum.pss += Number(/^Pss:\s+(\d+)/m.exec(text)[1]) / 1024
  }
  return sum
}
