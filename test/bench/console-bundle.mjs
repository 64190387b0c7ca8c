// What a browser loads before the console shows anything: the entry and everything it imports statically, gzipped.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root } from './kit/product.mjs'

const directory = join(root, 'console/dist')

/** Static imports of a built module; dynamic ones (`import(`) are loaded later. */
const importsOf = (text) =>
  [...text.matchAll(/(?:\bfrom|\bimport)\s*["'](\.{1,2}\/[^"']+)["']/g)].map((match) => match[1])

export function measureConsole({ log }) {
  const html = readFileSync(join(directory, 'index.html'), 'utf8')
  const named = [...html.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map((match) => match[1])
  const files = new Set()
  const add = (file) => {
    if (files.has(file)) return
    files.add(file)
    if (!file.endsWith('.js')) return
    for (const imported of importsOf(readFileSync(join(directory, file), 'utf8')))
      add(join(dirname(file), imported))
  }
  for (const file of named) add(file)
  let script = 0
  let style = 0
  for (const file of files) {
    const size = gzipSync(readFileSync(join(directory, file)), { level: 9 }).length / 1024
    if (file.endsWith('.js')) script += size
    else style += size
  }
  log(`console: ${script.toFixed(1)} KiB script, ${style.toFixed(1)} KiB style, ${files.size} files`)
  return { script, style, files: files.size }
}
