import { setTimeout as pause } from 'node:timers/promises'
import { ensureBuiltInRuntime } from '../domains/access/sign-in/operations.ts'
import type { Logger } from '../platform/logger.ts'
import { ensureSampleRole } from '../platform/sample-role.ts'
import type { Platform } from '../platform/transaction.ts'
import { keepSample } from './sample/presence.ts'

/** Whether the sample agent works on this server, and if not, why. */
export interface SampleState {
  on: boolean
  reason: string | null
}
export interface RunningSample extends SampleState {
  stop(): Promise<void>
}

const capabilities = [
  'event.read',
  'project.read',
  'run.execute',
  'runtime.register',
  'session.read',
] as const
const patienceMs = 2_000

/**
 * Starts the sample agent against this server's own API. It never fails: where its database role or its token can't be
 * had it is off and says why; what goes wrong later is logged and tried again.
 */
export async function startSample(
  platform: Platform,
  options: { url: string; databaseUrl: string; log: Logger },
): Promise<RunningSample> {
  const off = (reason: string): RunningSample => {
    options.log.warn({ reason }, 'the sample agent is off')
    return { on: false, reason, stop: async () => undefined }
  }
  try {
    const role = await ensureSampleRole(options.databaseUrl)
    if ('off' in role) return off(role.off)
    const token = await ensureBuiltInRuntime(platform, 'sample agent', capabilities)
    if (token === null) return off('its token was revoked')
    let last = ''
    const sample = keepSample({
      url: reachable(options.url),
      token,
      databaseUrl: role.url,
      onTrouble(error) {
        const message = (error as Error).message
        if (message !== last) options.log.warn({ err: error }, 'the sample agent was interrupted')
        last = message
      },
    })
    return {
      on: true,
      reason: null,
      // A statement that is under way ends with its own time-out; the server doesn't wait for that.
      stop: () => Promise.race([sample.stop(), pause(patienceMs, undefined, { ref: false })]),
    }
  } catch (error) {
    return off((error as Error).message)
  }
}

/** A server that listens on every address is reached on its own. */
const reachable = (url: string) => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
