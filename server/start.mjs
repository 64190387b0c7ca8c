// `pnpm start`: builds what changed, then becomes the server, in this very process: its signals, its exit code
// and its kill are the server's own. `pnpm dev` (--dev): the same, rebuilt and restarted at each change, with
// Vite serving the console.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { generate } from './generate.mjs'
import { root } from './inputs.mjs'
import { main, prepare, vite } from './prepare.mjs'

async function start() {
  const built = await prepare()
  if (built.length > 0) process.stdout.write(`Built: ${built.join(', ')}\n`)
  await import(pathToFileURL(join(root, main)).href)
}

/** Restarts the server after each bundle; the old one has ended before the new one starts. */
async function develop() {
  await generate()
  const { watch } = await import('rolldown')
  const { bundleOptions } = await import('./build.mjs')
  let server = null
  let turn = Promise.resolve()
  let stopping = false
  const end = (child) =>
    new Promise((resolve) => {
      if (!child || child.exitCode !== null || child.signalCode !== null) return resolve()
      child.once('exit', resolve)
      child.kill('SIGTERM')
    })
  const restart = async () => {
    await end(server)
    if (stopping) return
    // A group of its own: Ctrl-C comes here, and is handed on once.
    server = spawn(process.execPath, ['--enable-source-maps', join(root, main)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    })
  }
  const watcher = watch(bundleOptions())
  watcher.on('event', (event) => {
    if (event.code === 'ERROR') process.stderr.write(`${event.error?.message ?? event.error}\n`)
    if (event.code === 'BUNDLE_END') void event.result?.close()
    if (event.code === 'END') turn = turn.then(restart)
  })
  const hasConsole = existsSync(join(root, 'console/index.html'))
  const page = hasConsole
    ? spawn(process.execPath, [join(root, vite)], {
        cwd: join(root, 'console'),
        stdio: ['ignore', 'inherit', 'inherit'],
        detached: true,
      })
    : null
  const stop = async () => {
    if (stopping) process.exit(1)
    stopping = true
    await watcher.close()
    await turn
    await Promise.all([end(server), end(page)])
    process.exit(0)
  }
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => void stop())
}

try {
  await (process.argv.includes('--dev') ? develop() : start())
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
