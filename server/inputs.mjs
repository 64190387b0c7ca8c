// Says whether the inputs of a build step changed since it last succeeded. The digest is written after the
// step, so that a step killed half-way is done again.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')

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
    if (!skipped.has(entry.name)) addPath(hash, join(path, entry.name))
}

/**
 * Runs `step` unless `inputs` (files or directories, relative to the root) are what they were when it last
 * succeeded and every one of `outputs` exists. Returns whether it ran.
 */
export async function whenChanged({ name, inputs, outputs, salt = '' }, step) {
  const hash = createHash('sha256').update(`${process.version} ${salt}\n`)
  for (const input of inputs) addPath(hash, join(root, input))
  const digest = hash.digest('hex')
  const record = join(root, 'node_modules/.cache/wheelhouse', `${name}.sha256`)
  const before = existsSync(record) ? readFileSync(record, 'utf8') : ''
  if (before === digest && outputs.every((output) => existsSync(join(root, output)))) return false
  mkdirSync(dirname(record), { recursive: true })
  writeFileSync(record, '')
  await step()
  writeFileSync(`${record}.${process.pid}`, digest)
  renameSync(`${record}.${process.pid}`, record)
  return true
}
