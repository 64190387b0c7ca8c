import { Prisma } from './database.ts'
import type { Json } from './journal.ts'
import type { Logger } from './logger.ts'
import { canonicalJson } from './strict-json.ts'
import { type Platform, transact, type Unit } from './transaction.ts'

/*
 * QUEUED ── handed over ──▶ SENT
 * QUEUED ── a passing failure ──▶ QUEUED, later     QUEUED ── the tenth, or a final one ──▶ DEAD
 */

export interface OutboxMessage {
  projectId: string
  channel: string
  /** Stable over retries; a second message of the same key in the channel is not queued. */
  key: string
  payload: Json
}

/** Hands one message over. What it throws is a passing failure, unless it is a `FinalFailure`. */
export type Channel = (unit: Unit, message: OutboxMessage) => Promise<void>

/** A failure that no retry mends. */
export class FinalFailure extends Error {}

const maxAttempts = 10
const page = 20
const firstDelayMs = 1_000
const longestDelayMs = 600_000

/** When to try again after so many attempts: exponential, with jitter of a quarter (`chance` 0..1), at most ten minutes. */
export function retryDelayMs(attempts: number, chance: number): number {
  const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** (attempts - 1))
  return Math.round(delay * (0.75 + chance / 2))
}

/** Queues a message in the transaction that causes it. */
export async function enqueue(unit: Unit, message: OutboxMessage): Promise<void> {
  await unit.tx.$executeRaw`
    INSERT INTO outbox (project_id, id, channel, key, payload, due_at, created_at)
    VALUES (${message.projectId}::uuid, ${unit.ids.next()}::uuid, ${message.channel}, ${message.key},
            ${canonicalJson(message.payload)}::jsonb, ${unit.now}::timestamptz, ${unit.now}::timestamptz)
    ON CONFLICT DO NOTHING`
}

interface DueRow extends OutboxMessage {
  id: string
  attempts: number
}

/**
 * Sends what is due, oldest first, at most a page of 20 a pass. Any number of servers may send: a row that one of them
 * works on is skipped by the others. Gives how many were handed over.
 */
export async function drainOutbox(
  platform: Platform,
  channels: Record<string, Channel>,
  log: Logger,
  chance: () => number = Math.random,
): Promise<number> {
  let sent = 0
  for (let n = 0; n < page; n += 1) {
    const outcome = await transact(platform, async (unit) => {
      const [row] = await unit.tx.$queryRaw<DueRow[]>(Prisma.sql`
        SELECT project_id AS "projectId", id, channel, key, payload, attempts FROM outbox
         WHERE state = 'QUEUED' AND due_at <= ${unit.now}::timestamptz AND channel = ANY (${Object.keys(channels)}::text[])
         ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED`)
      if (!row) return 'nothing'
      await unit.tx.$executeRaw`SAVEPOINT handing_over`
      try {
        await channels[row.channel]?.(unit, row)
        await settle(unit, row, { state: 'SENT', sentAt: unit.now, dueAt: unit.now, lastError: null })
        return 'sent'
      } catch (error) {
        await unit.tx.$executeRaw`ROLLBACK TO SAVEPOINT handing_over`
        const attempts = row.attempts + 1
        const dead = error instanceof FinalFailure || attempts >= maxAttempts
        const message = error instanceof Error ? error.message.slice(0, 500) : 'unknown'
        log.warn({ channel: row.channel, key: row.key, attempts, dead }, 'a message could not be handed over')
        const dueAt = new Date(unit.now.getTime() + retryDelayMs(attempts, chance()))
        await settle(unit, row, { state: dead ? 'DEAD' : 'QUEUED', sentAt: null, dueAt, lastError: message })
        return 'failed'
      }
    })
    if (outcome === 'nothing') break
    if (outcome === 'sent') sent += 1
  }
  return sent
}

const settle = (
  unit: Unit,
  row: DueRow,
  to: { state: 'QUEUED' | 'SENT' | 'DEAD'; sentAt: Date | null; dueAt: Date; lastError: string | null },
) => unit.tx.$executeRaw`
  UPDATE outbox SET state = ${to.state}, attempts = attempts + 1, sent_at = ${to.sentAt}::timestamptz, due_at = ${to.dueAt}::timestamptz,
         last_error = ${to.lastError}
   WHERE project_id = ${row.projectId}::uuid AND id = ${row.id}::uuid`
