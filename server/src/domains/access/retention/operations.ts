import { daysBefore, inBatches } from '../../../platform/retention.ts'
import { type Platform, transact } from '../../../platform/transaction.ts'
import { auditRetentionDays } from '../audit/rules.ts'
import * as store from './store.ts'

/** Removes sign-in links and signed-in sessions a day after they have ended. What they did stays in the audit log. */
export async function removeEnded({ db, clock }: Platform): Promise<number> {
  const before = daysBefore(clock.now(), 1)
  let removed = 0
  for (const remove of [store.removeInvitations, store.removeAuthSessions, store.removeVerifications]) {
    removed += await inBatches((most) => remove(db, before, most))
  }
  return removed
}

/** Removes audit entries when their time (`auditRetentionDays`) is over, at most 20 000 a pass. */
export const forgetAudit = (platform: Platform): Promise<number> =>
  inBatches((most) =>
    transact(platform, ({ tx, now }) =>
      store.removeAuditEntries(tx, daysBefore(now, auditRetentionDays), most),
    ),
  )
