// Bundles one entry of the server for Node. The server's own code becomes one file; packages stay outside.
//   node server/build.mjs [--entry <file>] [--out <file>]
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './inputs.mjs'

const isPackage = (id) => !id.startsWith('.') && !isAbsolute(id) && !id.startsWith('@wheelhouse/')

export function bundleOptions(
  entry = join(root, 'server/src/main.ts'),
  file = join(root, 'server/dist/main.js'),
) {
  return {
    input: entry,
    platform: 'node',
    external: isPackage,
    logLevel: 'warn',
    output: { file, format: 'esm', sourcemap: true, codeSplitting: false },
  }
}

export async function bundle(entry, file) {
  const { build } = await import('rolldown')
  await build({ ...bundleOptions(entry, file), write: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const argument = (name) => {
    const at = process.argv.indexOf(name)
    return at === -1 ? undefined : resolve(process.argv[at + 1])
  }
  await bundle(argument('--entry'), argument('--out'))
}
