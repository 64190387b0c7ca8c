// Generates the Prisma client into server/src/generated/prisma when the schema changed. The generator wants a
// schema engine binary, which it never runs and which could not be downloaded: any existing file satisfies it.
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root, whenChanged } from './inputs.mjs'

const kept = join(root, 'node_modules/.cache/prisma')

/** Resolves to whether the client was generated anew; rejects with the generator's output when it fails. */
export function generate() {
  return whenChanged(
    {
      name: 'generate',
      inputs: [
        'prisma/schema',
        'prisma.config.ts',
        'server/generate.mjs',
        'node_modules/prisma/package.json',
      ],
      outputs: ['server/src/generated/prisma/client.ts'],
    },
    () =>
      new Promise((resolve, reject) => {
        mkdirSync(kept, { recursive: true })
        const child = spawn(
          process.execPath,
          [join(root, 'node_modules/prisma/build/index.js'), 'generate'],
          {
            cwd: root,
            stdio: ['ignore', 'pipe', 'pipe'],
            env: {
              ...process.env,
              // What it keeps of itself stays in this folder, whatever the platform has a user's directory be.
              HOME: kept,
              XDG_CONFIG_HOME: kept,
              XDG_CACHE_HOME: kept,
              APPDATA: kept,
              LOCALAPPDATA: kept,
              PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
              PRISMA_HIDE_UPDATE_MESSAGE: '1',
              PRISMA_GENERATE_SKIP_AUTOINSTALL: '1',
              CHECKPOINT_DISABLE: '1',
              NO_COLOR: '1',
            },
          },
        )
        let output = ''
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding('utf8').on('data', (chunk) => {
            output += chunk
          })
        child.on('error', reject)
        child.on('close', (code) =>
          code === 0 ? resolve() : reject(new Error(`the Prisma client could not be generated\n${output}`)),
        )
      }),
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log((await generate()) ? 'Prisma client generated' : 'Prisma client is up to date')
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
