import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from './eventually.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Bundles a TypeScript file of the tests so that Node runs it as a process of its own, and gives the bundle's path.
 * It lies below `server/`, from where the server's packages resolve.
 */
export function bundleFixture(path: string): string {
  const out = join(root, 'server/dist/test', `${path.replace(/\W+/g, '-')}.js`)
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(root, 'server/build.mjs'), '--entry', join(root, 'test', path), '--out', out],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`${path} could not be bundled: ${stderr}`)
  return out
}

export type Running = {
  child: ChildProcess
  pid: number
  output(): string
  /** The first match in what it has printed so far or prints later. Fails when it ends without. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  write(line: string): void
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** Starts `node <args>`; standard output and error are read as one text. */
export function startNode(args: string[], env: NodeJS.ProcessEnv = process.env): Running {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'], env })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  // A process that ended while it is written to is seen by `ended`.
  child.stdin.on('error', () => undefined)
  let over = false
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on('close', (code, signal) => {
      over = true
      resolve({ code, signal })
    })
  })
  return {
    child,
    pid: child.pid ?? -1,
    output: () => text,
    ended,
    write: (line) => void child.stdin.write(`${line}\n`),
    printed: async (pattern) => {
      await eventually(() => pattern.test(text) || over, 30_000)
      const match = pattern.exec(text)
      if (!match) throw new Error(`ended without printing ${pattern}: ${text}`)
      return match
    },
  }
}
