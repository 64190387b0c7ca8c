import { createClient, type Client as SocketClient } from 'graphql-ws'

/**
 * The one WebSocket behind every watch, and what the shell shows of it.
 *
 *   idle ──first watch──▶ connecting ──▶ live ──drop──▶ reconnecting ──▶ live
 *                                                           │ tries used up
 *                                                           ▼
 *                                                         stale ──button, back online──▶ reconnecting
 *
 * The socket sends every watch again after a drop; a watch passes its variables as getters
 * (see watch.ts), so that it goes on after the last item it was given.
 */
export type LivePhase = 'idle' | 'connecting' | 'live' | 'reconnecting' | 'stale'
/** `since`: epoch milliseconds at which this phase began; for reconnecting and stale, of the last sign of life. */
export type LiveState = { phase: LivePhase; since: number }

const maxTries = 10
const longestWaitMs = 15_000
const pingEveryMs = 10_000
const pongWithinMs = 5_000

let state: LiveState = { phase: 'idle', since: Date.now() }
const stateListeners = new Set<() => void>()
const reconnectListeners = new Set<() => void>()
const rejectedListeners = new Set<() => void>()
let wakeUp: (() => void) | undefined
let lastSignOfLife = Date.now()
let wasLive = false

const enter = (phase: LivePhase): void => {
  if (phase === state.phase) return
  const lost = phase === 'reconnecting' || phase === 'stale'
  state = { phase, since: lost ? lastSignOfLife : Date.now() }
  for (const listener of stateListeners) listener()
}

const listenTo = (set: Set<() => void>, listener: () => void): (() => void) => {
  set.add(listener)
  return () => set.delete(listener)
}

export const liveState = (): LiveState => state
export const onLiveState = (listener: () => void): (() => void) => listenTo(stateListeners, listener)
/** Called after each reconnect: whoever shows a list that no watch feeds reads it again. */
export const onReconnected = (listener: () => void): (() => void) => listenTo(reconnectListeners, listener)
/** Called when the server refuses the connection because the session is over. */
export const onRejected = (listener: () => void): (() => void) => listenTo(rejectedListeners, listener)

/** Tries at once, whatever the back-off says. */
export const reconnectNow = (): void => {
  if (state.phase === 'stale') enter('reconnecting')
  wakeUp?.()
}

/** Exponential back-off with jitter; once the tries are used up, waits to be woken. */
const waitBeforeTry = (tries: number): Promise<void> =>
  new Promise((resolve) => {
    const exhausted = tries >= maxTries
    enter(exhausted ? 'stale' : 'reconnecting')
    const wait = Math.min(longestWaitMs, 500 * 2 ** Math.min(tries, 6)) * (0.75 + Math.random() / 2)
    const timer = exhausted ? undefined : setTimeout(() => wakeUp?.(), wait)
    wakeUp = () => {
      clearTimeout(timer)
      wakeUp = undefined
      resolve()
    }
  })

const address = (): string => {
  const url = new URL('/graphql', location.href)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return url.href
}

const connect = (): SocketClient => {
  let pongTimer: ReturnType<typeof setTimeout> | undefined
  const client = createClient({
    url: address,
    connectionParams: { api: 1 },
    keepAlive: pingEveryMs,
    lazyCloseTimeout: 5_000,
    retryAttempts: Number.POSITIVE_INFINITY,
    retryWait: waitBeforeTry,
    shouldRetry: () => true,
    on: {
      connecting: () => {
        if (!wasLive) enter('connecting')
      },
      connected: () => {
        lastSignOfLife = Date.now()
        const again = wasLive
        wasLive = true
        enter('live')
        if (again) for (const listener of reconnectListeners) listener()
      },
      message: () => {
        lastSignOfLife = Date.now()
      },
      ping: (received) => {
        if (received) return
        clearTimeout(pongTimer)
        // A connection that answers no ping is dead, whatever the operating system says.
        pongTimer = setTimeout(() => client.terminate(), pongWithinMs)
      },
      pong: (received) => {
        if (!received) return
        lastSignOfLife = Date.now()
        clearTimeout(pongTimer)
      },
      closed: (event) => {
        clearTimeout(pongTimer)
        const { code } = event as CloseEvent
        if (code === 4401 || code === 4403) for (const listener of rejectedListeners) listener()
        // 1000: the last watch ended and the socket was closed on purpose.
        if (code === 1000) {
          wasLive = false
          enter('idle')
        } else if (state.phase !== 'stale') enter(wasLive ? 'reconnecting' : 'connecting')
      },
    },
  })
  return client
}

let client: SocketClient | undefined
export const socket = (): SocketClient => {
  client ??= connect()
  return client
}

/** Ends every watch, for signing out. */
export const disconnect = (): void => {
  void client?.dispose()
  client = undefined
  wasLive = false
  enter('idle')
}

addEventListener('online', reconnectNow)
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') reconnectNow()
})
