import type { Db } from './database.ts'
import type { Platform } from './transaction.ts'

const dayMs = 24 * 3_600_000
/** Keys are promised for 24 hours; twice that, so that no clock and no late retry meets the edge. */
const keyRetentionMs = 2 * dayMs
/** Rows that one statement removes at most. */
export const batchRows = 1_000
/** Statements of one pass at most, so that it ends soon however much there is; the next pass goes on. */
export const batchesAPass = 20

/** The moment before which things are old. `days` 1 or more. */
export const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * dayMs)

/** Calls a step until it removes less than a whole batch, at most a pass's worth. Gives how much was removed. */
export async function inBatches(step: (most: number) => Promise<number>): Promise<number> {
  let removed = 0
  for (let batch = 0; batch < batchesAPass; batch += 1) {
    const gone = await step(batchRows)
    removed += gone
    if (gone < batchRows) break
  }
  return removed
}

const deleteKeys = (db: Db, before: Date, most: number) => db.$executeRaw`
  DELETE FROM idempotency_keys WHERE (principal_id, operation, key) IN (
    SELECT principal_id, operation, key FROM idempotency_keys WHERE created_at < ${before}::timestamptz ORDER BY created_at LIMIT ${most})`

/** Forgets idempotency keys after 48 hours. */
export const forgetKeys = ({ db, clock }: Platform): Promise<number> =>
  inBatches((most) => deleteKeys(db, new Date(clock.now().getTime() - keyRetentionMs), most))

/** Days for which it can be seen what was handed over, and when. What could not be (DEAD) stays. */
const sentDays = 30

const deleteSent = (db: Db, before: Date, most: number) => db.$executeRaw`
  DELETE FROM outbox WHERE (project_id, id) IN (
    SELECT project_id, id FROM outbox WHERE state = 'SENT' AND sent_at < ${before}::timestamptz ORDER BY sent_at LIMIT ${most})`

/** Removes messages 30 days after they were handed over. */
export const forgetSent = ({ db, clock }: Platform): Promise<number> =>
  inBatches((most) => deleteSent(db, daysBefore(clock.now(), sentDays), most))
