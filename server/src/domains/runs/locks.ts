import type { Tx } from '../../platform/database.ts'
import type { Ref } from '../../platform/ids.ts'
import { type LockedSession, lockSessionOfRun } from '../sessions/operations.ts'
import { type LockedRun, lockRunRow } from './store.ts'

/** Locks a run and its session, the session first: the one order in which all writers of a session queue up. */
export async function lockRun(tx: Tx, ref: Ref): Promise<{ session: LockedSession; run: LockedRun } | null> {
  const session = await lockSessionOfRun(tx, ref)
  const run = session && (await lockRunRow(tx, ref))
  return run && { session, run }
}
