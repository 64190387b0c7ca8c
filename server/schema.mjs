// Prints the schema that the server serves: `node server/schema.mjs [--check]`. With `--check` it fails when the
// committed file says otherwise.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './build.mjs'
import { root } from './inputs.mjs'

const bundled = join(root, 'server/dist/schema.js')
await bundle(join(root, 'server/src/graphql/print.ts'), bundled)
const { printed } = await import(pathToFileURL(bundled).href)
const path = join(root, 'server/schema.graphql')
if (process.argv.includes('--check')) {
  if (readFileSync(path, 'utf8') !== printed) {
    console.error(
      'server/schema.graphql is not what the server serves: run `node server/schema.mjs` and commit it.',
    )
    process.exit(1)
  }
} else writeFileSync(path, printed)
process.exit(0)
