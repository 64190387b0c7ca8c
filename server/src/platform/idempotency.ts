import { createHash } from 'node:crypto'
import type { Viewer } from '../domains/access/rules.ts'
import type { Json } from './journal.ts'
import { Refusal } from './refusal.ts'
import { canonicalJson } from './strict-json.ts'
import { type Platform, transact, type Unit } from './transaction.ts'

/** Who calls which operation, and under which idempotency key. */
export interface Call {
  viewer: Viewer
  operation: string
  key: string | null
  /** SHA-256 of the canonical input, the key itself left out. */
  digest: Uint8Array<ArrayBuffer> | null
}

export function digestOf(input: unknown): Uint8Array<ArrayBuffer> {
  const { idempotencyKey: _, ...rest } = input as Record<string, unknown>
  return new Uint8Array(
    createHash('sha256')
      .update(canonicalJson(JSON.parse(JSON.stringify(rest))))
      .digest(),
  )
}

/**
 * The stored result of a call that was made before under its key; null for a first one. For what is costly and comes
 * before the transaction; whether it is the first is decided only by `transactOnce`.
 */
export async function replayed<T>(platform: Platform, call: Call): Promise<T | null> {
  if (call.key === null || call.digest === null) return null
  const where = { principalId: call.viewer.principalId, operation: call.operation, key: call.key }
  const first = await platform.db.idempotencyKey.findUnique({
    where: { principalId_operation_key: where },
  })
  return first && (resultOf(first, call.digest) as T)
}

function resultOf(first: { digest: Uint8Array; result: unknown } | null, digest: Uint8Array): unknown {
  if (first && Buffer.from(first.digest).equals(Buffer.from(digest))) return first.result
  throw new Refusal('IDEMPOTENCY_CONFLICT', 'This idempotency key was used with another input.')
}

/**
 * Runs `work` in one transaction, and at most once per (principal, operation, key): the key's row is taken first, so
 * that a second call waits for the first one's commit and then gets its stored result (plain ids and numbers; nodes
 * are read anew). A refusal rolls the key back with everything else. Another input under the key is
 * IDEMPOTENCY_CONFLICT.
 */
export function transactOnce<T extends { [K in keyof T]: Json | undefined }>(
  platform: Platform,
  call: Call,
  work: (unit: Unit) => Promise<T>,
): Promise<T> {
  const { key, digest } = call
  if (key === null || digest === null) return transact(platform, work)
  return transact(platform, async (unit) => {
    const where = { principalId: call.viewer.principalId, operation: call.operation, key }
    const taken = await unit.tx.$executeRaw`
      INSERT INTO idempotency_keys (principal_id, operation, key, digest, created_at)
      VALUES (${where.principalId}::uuid, ${where.operation}, ${key}, ${digest}, ${unit.now}::timestamptz)
      ON CONFLICT DO NOTHING`
    if (taken === 0) {
      const first = await unit.tx.idempotencyKey.findUnique({ where: { principalId_operation_key: where } })
      return resultOf(first, digest) as T
    }
    const result = await work(unit)
    await unit.tx.idempotencyKey.update({
      where: { principalId_operation_key: where },
      data: { result: JSON.parse(JSON.stringify(result)) as never },
    })
    return result
  })
}
