import { type Logger, pino } from 'pino'

export type { Logger }

/**
 * The log: JSON lines on standard output, times in UTC. Values under these names never reach it, at any of the
 * two depths at which they are logged; connection URLs are never passed to it at all.
 */
export function createLogger(level: string): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['token', 'secret', 'password', 'authorization', 'cookie'].flatMap((name) => [
        name,
        `*.${name}`,
      ]),
      censor: '[redacted]',
    },
  })
}
