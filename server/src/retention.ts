import { forgetAudit, removeEnded } from './domains/access/retention/operations.ts'
import { feedRetention } from './domains/projects/retention/operations.ts'
import { signalRetention } from './domains/runs/retention/operations.ts'
import { journalRetention } from './domains/sessions/retention/operations.ts'
import { forgetKeys, forgetSent } from './platform/retention.ts'
import type { Chore } from './platform/sweeper.ts'
import type { Platform } from './platform/transaction.ts'

const everyMs = 60_000

/** What is removed when its time is over, in passes of bounded work, whatever the size of the history. */
export function retentionChores(platform: Platform): Chore[] {
  return [
    { name: 'old journal events', everyMs, run: journalRetention(platform) },
    { name: 'old feed events', everyMs, run: feedRetention(platform) },
    { name: 'heard signals', everyMs, run: signalRetention(platform) },
    { name: 'idempotency keys', everyMs, run: () => forgetKeys(platform) },
    { name: 'sent messages', everyMs, run: () => forgetSent(platform) },
    { name: 'old audit entries', everyMs, run: () => forgetAudit(platform) },
    { name: 'ended links and sign-ins', everyMs, run: () => removeEnded(platform) },
  ]
}
