import type { Ref } from '../../../platform/ids.ts'
import type { Logger } from '../../../platform/logger.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { type News, Tail } from '../../../platform/tail.ts'
import type { Platform } from '../../../platform/transaction.ts'
import { Watch } from '../../../platform/watch.ts'
import { noteLife, type SignalRow, unheardSignals } from './operations.ts'

export type SignalTail = Tail<SignalRow, number>
export type SignalWatch = Watch<SignalRow, number>

const pageSize = 200
const pollMs = 1_000
const lifeEveryMs = 10_000

/** The tail of the runtimes that are connected to this process. */
export function openSignalTail(platform: Platform, log: Logger): SignalTail {
  return new Tail<SignalRow, number>({
    log,
    pollMs,
    async read(topics) {
      const news = new Map<string, News<SignalRow, number>>()
      for (const { key, cursor } of topics) {
        const [projectId = '', id = ''] = key.split('/')
        const ref = { projectId, id }
        const items = await unheardSignals(platform, ref, cursor, pageSize)
        news.set(key, { items, cursor: items.at(-1)?.position ?? cursor, more: items.length === pageSize })
      }
      return news
    },
  })
}

export const signalTopic = (runtime: Ref) => `${runtime.projectId}/${runtime.id}`

/**
 * What a runtime has not acknowledged, from the start and then live: each signal once per connection, in order. While it
 * is open it is the runtime's sign of life.
 */
export async function watchSignals(platform: Platform, tail: SignalTail, runtime: Ref): Promise<SignalWatch> {
  await noteLife(platform, runtime)
  const key = signalTopic(runtime)
  const alive = () =>
    void noteLife(platform, runtime).catch((error: unknown) => {
      // A database that is away for a moment is no reason to hang up.
      if (error instanceof Refusal) watch.end('REVOKED')
    })
  const pulse = setInterval(alive, lifeEveryMs)
  pulse.unref()
  const watch: SignalWatch = new Watch<SignalRow, number>({
    after: 0,
    queueSize: 4_096,
    stream: { cursorOf: (signal) => signal.position, beyond: (a, b) => a > b },
    accepts: () => true,
    async replay(from, most) {
      // Taken before the read: whatever the tail had passed by then, the read sees.
      const reached = Math.max(from, tail.position(key, 0))
      const items = await unheardSignals(platform, runtime, from, Math.min(most, pageSize))
      return { items, scannedThrough: items.at(-1)?.position ?? reached }
    },
    tail: () => tail.position(key, 1),
    onGone: () => {
      clearInterval(pulse)
      alive()
      tail.leave(key, watch)
    },
  })
  tail.join(key, 0, watch)
  return watch
}
