// What has to be built before the server can start, each step only when its inputs changed.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from './generate.mjs'
import { root, whenChanged } from './inputs.mjs'

export const vite = 'console/node_modules/vite/bin/vite.js'
export const main = 'server/dist/main.js'

/** Runs one build step in a process of its own, whose memory goes with it; its output is shown when it fails. */
function run(what, script, args, directory = root) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, script), ...args], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk) => {
        output += chunk
      })
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${what} could not be built\n${output}`)),
    )
  })
}

async function buildServer() {
  const inputs = ['server/src', 'server/build.mjs', 'server/package.json', 'prisma/schema', 'pnpm-lock.yaml']
  return whenChanged({ name: 'server', inputs, outputs: [main] }, () =>
    run('the server', 'server/build.mjs', []),
  )
}

async function buildConsole() {
  if (!existsSync(join(root, 'console/index.html'))) return false
  const inputs = ['console', 'server/schema.graphql', 'tsconfig.base.json', 'pnpm-lock.yaml']
  return whenChanged({ name: 'console', inputs, outputs: ['console/dist/index.html'] }, () =>
    run('the console', vite, ['build', '--logLevel', 'warn'], join(root, 'console')),
  )
}

/** Builds what changed and gives its names; rejects with a builder's output when it fails. */
export async function prepare() {
  const client = await generate()
  const [server, page] = await Promise.all([buildServer(), buildConsole()])
  return [client && 'client', server && 'server', page && 'console'].filter(Boolean)
}
