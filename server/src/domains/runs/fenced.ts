import { type Call, transactOnce } from '../../platform/idempotency.ts'
import type { Ref } from '../../platform/ids.ts'
import { append, type Json } from '../../platform/journal.ts'
import { accept, notFound, Refusal } from '../../platform/refusal.ts'
import { type Platform, transact, type Unit } from '../../platform/transaction.ts'
import type { Viewer } from '../access/rules.ts'
import type { LockedSession } from '../sessions/operations.ts'
import { lockRun } from './locks.ts'
import { decideRun, type RunVerb } from './rules.ts'
import { type LockedRun, noteRejectedWrite } from './store.ts'
import { generationOf } from './tokens.ts'

/** A run and its session, locked for the rest of the transaction. */
export interface Locked {
  session: LockedSession
  run: LockedRun
}

/** Locks a run for its own runtime: another principal's runtime gets NOT_FOUND. */
export async function lockOwnRun(unit: Unit, viewer: Viewer, ref: Ref): Promise<Locked> {
  const locked = await lockRun(unit.tx, ref)
  if (!locked || locked.run.runtimePrincipalId !== viewer.principalId) throw notFound()
  return locked
}

const maxRecordedRejections = 20

/**
 * The one way in which a runtime writes to its run: in one transaction, once per idempotency key, the run locked and
 * in a state that takes `verb`. A token that is not the present one is RUN_FENCED and writes nothing; one that was the
 * run's own before leaves a RUN_WRITE_REJECTED event (the first 20 of a run).
 */
export async function fencedWrite<T extends { [K in keyof T]: Json | undefined }>(
  platform: Platform,
  call: Call,
  input: { runId: Ref; runToken: string },
  verb: RunVerb,
  work: (unit: Unit, locked: Locked) => Promise<T>,
): Promise<T> {
  const { runId: ref } = input
  const generation = generationOf(platform.secret, ref.id, input.runToken)
  try {
    return await transactOnce(platform, call, async (unit) => {
      const locked = await lockOwnRun(unit, call.viewer, ref)
      if (generation !== locked.run.tokenGeneration) {
        throw new Refusal('RUN_FENCED', 'This run token is not valid any more. Nothing was written.', {
          current: { type: 'Run', projectId: ref.projectId, id: ref.id },
        })
      }
      accept(decideRun(locked.run.state, verb))
      return work(unit, locked)
    })
  } catch (error) {
    if (error instanceof Refusal && error.code === 'RUN_FENCED' && generation !== null)
      await recordRejection(platform, call, ref)
    throw error
  }
}

const recordRejection = (platform: Platform, call: Call, ref: Ref) =>
  transact(platform, async (unit) => {
    const locked = await lockRun(unit.tx, ref)
    if (!locked || locked.run.rejectedWrites >= maxRecordedRejections) return
    await noteRejectedWrite(unit.tx, ref)
    await append(unit, locked.session, ref.id, [
      { type: 'RUN_WRITE_REJECTED', payload: { operation: call.operation, code: 'RUN_FENCED' } },
    ])
  })
