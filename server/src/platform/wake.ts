import pg from 'pg'
import type { Logger } from './logger.ts'

/** Something may have changed there. Never what: the journal is the truth, a hint may be lost. */
export type Hint =
  | { topic: 'session'; projectId: string; id: string }
  | { topic: 'project'; id: string }
  | { topic: 'runtime'; projectId: string; id: string }
  | { topic: 'access' }

type Listener = (hints: Hint[] | 'anything') => void

const channel = 'wheelhouse_wake'
/** After one NOTIFY the next waits this long, and stands for all that came meanwhile. */
const quietMs = 20
const reconnectMs = 1_000

/** Wake-ups within this process (exact) and across processes (content-free, on a connection of its own). */
export interface Wake {
  send(hints: Hint[]): void
  listen(listener: Listener): () => void
  close(): Promise<void>
}

/**
 * Starts listening. Notifications go out outside write transactions (inside them they would serialise commits): the
 * first at once, later ones at most every 20 ms. A lost connection is opened again; until then polling carries on.
 */
export async function openWake(databaseUrl: string, log: Logger): Promise<Wake> {
  const listeners = new Set<Listener>()
  let client: pg.Client | undefined
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let pending = false
  let notifying = false
  let retry: NodeJS.Timeout | undefined

  const tell = (hints: Hint[] | 'anything') => {
    for (const listener of listeners) listener(hints)
  }
  const notify = async () => {
    pending = false
    timer = setTimeout(() => {
      timer = undefined
      if (pending) void notify()
    }, quietMs)
    // One at a time: a connection that is slow hears of later changes by the next one.
    if (notifying) {
      pending = true
      return
    }
    notifying = true
    await client?.query(`NOTIFY ${channel}`).catch(() => undefined)
    notifying = false
  }
  const connect = async () => {
    const next = new pg.Client({ connectionString: databaseUrl, application_name: 'wheelhouse wake' })
    const lost = () => {
      if (client === next) client = undefined
      tryAgain()
    }
    next.on('error', lost)
    next.on('end', lost)
    next.on('notification', (message) => {
      // The server sends our own notification back to us; its sender's process id tells.
      if (message.processId !== (next as unknown as { processID: number }).processID) tell('anything')
    })
    await next.connect()
    await next.query(`LISTEN ${channel}`)
    client = next
  }
  const tryAgain = () => {
    if (closed || retry) return
    retry = setTimeout(() => {
      retry = undefined
      // Whatever was hinted at meanwhile went unheard.
      connect().then(() => tell('anything'), tryAgain)
    }, reconnectMs)
  }
  await connect().catch((error: unknown) => {
    log.warn({ err: error }, 'no wake-up connection yet; polling until it is there')
    tryAgain()
  })

  return {
    send(hints) {
      if (hints.length === 0) return
      tell(hints)
      pending = true
      if (!timer) void notify()
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      closed = true
      clearTimeout(timer)
      clearTimeout(retry)
      listeners.clear()
      await client?.end().catch(() => {})
    },
  }
}
