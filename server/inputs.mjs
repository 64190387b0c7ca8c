// Says whether the inputs of a build step changed since it last succeeded, and lets one process at a time build.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const records = join(root, 'node_modules/.cache/wheelhouse')
const skipped = new Set(['node_modules', 'dist', 'generated', 'results', '.cache'])

/** Adds every file below `path` to `hash`, by name and content, in a stable order. */
function addPath(hash, path) {
  if (!existsSync(path)) {
    hash.update(`absent ${relative(root, path)}\n`)
    return
  }
  let entries
  try {
    entries = readdirSync(path, { withFileTypes: true })
  } catch (error) {
    if (error.code !== 'ENOTDIR') throw error
    const content = readFileSync(path)
    hash.update(`${relative(root, path)} ${content.length}\n`).update(content)
    return
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1)))
    if (!skipped.has(entry.name) && !entry.name.endsWith('.tsbuildinfo'))
      addPath(hash, join(path, entry.name))
}

function running(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Runs `work` while no other process builds this step. The lock of a process that was killed is taken over. */
async function alone(name, work) {
  const lock = join(records, `${name}.lock`)
  for (;;) {
    try {
      mkdirSync(records, { recursive: true })
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (['EACCES', 'EPERM', 'EROFS'].includes(error.code))
        throw new Error(
          `${root} has to be built anew (${name}), and this user may not write there: start once as its owner`,
        )
      if (error.code !== 'EEXIST') throw error
      const holder = existsSync(lock) ? Number(readFileSync(lock, 'utf8')) : 0
      // Zero: it was made a moment ago and not yet written, or is gone again.
      if (holder > 0 && !running(holder)) rmSync(lock, { force: true })
      else await pause(50)
    }
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/**
 * Runs `step` unless `inputs` (files or directories, relative to the root) are what they were when it last
 * succeeded and every one of `outputs` exists. The digest is written after the step, so that a step killed
 * half-way is done again. Returns whether it ran.
 */
export async function whenChanged({ name, inputs, outputs }, step) {
  const hash = createHash('sha256').update(`${process.version}\n`)
  for (const input of inputs) addPath(hash, join(root, input))
  const digest = hash.digest('hex')
  const record = join(records, `${name}.sha256`)
  const current = () =>
    existsSync(record) &&
    readFileSync(record, 'utf8') === digest &&
    outputs.every((output) => existsSync(join(root, output)))
  if (current()) return false
  return alone(name, async () => {
    if (current()) return false
    rmSync(record, { force: true })
    await step()
    writeFileSync(`${record}.${process.pid}`, digest)
    renameSync(`${record}.${process.pid}`, record)
    return true
  })
}
