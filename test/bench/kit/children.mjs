// Processes of this bench: references that serve, and clients that watch. They talk over Node's own channel.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Starts a script beside this one's parent directory; resolves with its first message. */
export async function startChild(script, ...args) {
  const child = fork(fileURLToPath(new URL(`../${script}`, import.meta.url)), args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', NODE_NO_WARNINGS: '1' },
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const first = await new Promise((resolve, reject) => {
    child.once('message', resolve)
    void ended.then(() => reject(new Error(`${script} ended before it was ready`)))
  })
  return {
    pid: child.pid,
    first,
    send: (message) => child.send(message),
    onMessage: (call) => child.on('message', call),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
