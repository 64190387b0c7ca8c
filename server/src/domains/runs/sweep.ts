import type { Ref } from '../../platform/ids.ts'
import { type Platform, transact } from '../../platform/transaction.ts'
import { expireApproval } from './approvals/operations.ts'
import * as approvals from './approvals/store.ts'
import { lockRun } from './locks.ts'
import { end } from './operations.ts'
import { decideRun, type RunVerb, runtimeSilenceMs } from './rules.ts'
import { disconnectRuntime } from './runtimes/operations.ts'
import * as runtimes from './runtimes/store.ts'
import * as store from './store.ts'

/** Due rows that one pass looks at, of each kind. */
const page = 50

/**
 * One pass over what time alone changes: offers nobody started, runs past their time, asks past their deadline, silent
 * runtimes and the runs they have lost. Any number of servers may sweep: each row is decided again under its lock.
 * The grace of a runtime counts from its last sign of life, but never from before this server was ready.
 */
export async function sweepRuns(platform: Platform, readySince: Date): Promise<number> {
  const now = platform.clock.now()
  let changed = 0
  const count = (done: boolean) => {
    if (done) changed += 1
  }
  for (const ref of await approvals.dueApprovals(platform.db, now, page))
    count(await expireApproval(platform, ref))
  for (const ref of await store.dueOffers(platform.db, now, page)) count(await expireOffer(platform, ref))
  for (const ref of await store.dueRuns(platform.db, now, page)) count(await timeOut(platform, ref))
  const silentSince = new Date(now.getTime() - runtimeSilenceMs)
  if (readySince <= silentSince) {
    for (const ref of await runtimes.silentRuntimes(platform.db, silentSince, page)) {
      count(await disconnectRuntime(platform, ref, silentSince))
    }
  }
  for (const ref of await store.lostRuns(platform.db, now, readySince, page))
    count(await loseRuntime(platform, ref, readySince))
  return changed
}

/** Passes come every second; after a pause as long as this, somebody may have called and found nobody listening. */
const longPauseMs = 15_000

/**
 * The passes of one server, which knows since when it could hear its runtimes: since it was ready, and since it is
 * again after its database was away, its machine slept or its clock was set. Nobody is lost for a silence in which
 * nobody could have been heard.
 */
export class RunSweep {
  readonly #platform: Platform
  readonly #notesPauses: boolean
  #hearsSince: Date
  #lastPassAt: Date | null = null
  #failed = false

  /** `notesPauses`: false where passes come only when they are asked for. */
  constructor(platform: Platform, options: { notesPauses: boolean }) {
    this.#platform = platform
    this.#notesPauses = options.notesPauses
    this.#hearsSince = platform.clock.now()
  }

  /** From now on this server listens. */
  ready(): void {
    this.#hearsSince = this.#platform.clock.now()
  }

  async pass(): Promise<number> {
    const now = this.#platform.clock.now()
    const pauseMs = this.#lastPassAt ? Math.abs(now.getTime() - this.#lastPassAt.getTime()) : 0
    if (this.#failed || (this.#notesPauses && pauseMs > longPauseMs)) this.#hearsSince = now
    this.#failed = true
    const changed = await sweepRuns(this.#platform, this.#hearsSince)
    this.#failed = false
    this.#lastPassAt = this.#platform.clock.now()
    return changed
  }
}

async function lockedFor(
  platform: Platform,
  ref: Ref,
  verb: RunVerb,
  act: Parameters<typeof end>[3],
  due: (run: store.LockedRun, now: Date, tx: Parameters<typeof lockRun>[0]) => boolean | Promise<boolean>,
): Promise<boolean> {
  return transact(platform, async (unit) => {
    const locked = await lockRun(unit.tx, ref)
    if (
      !locked ||
      typeof decideRun(locked.run.state, verb) !== 'string' ||
      !(await due(locked.run, unit.now, unit.tx))
    )
      return false
    await end(unit, locked.session, locked.run, act)
    return true
  })
}

const expireOffer = (platform: Platform, ref: Ref) =>
  lockedFor(
    platform,
    ref,
    'expireOffer',
    {
      state: 'FAILED',
      failureCode: 'OFFER_EXPIRED',
      failureMessage: 'No runtime started the run in time. Nothing was done.',
      effects: 'NONE',
    },
    (run, now) => run.offerExpiresAt <= now,
  )

const timeOut = (platform: Platform, ref: Ref) =>
  lockedFor(
    platform,
    ref,
    'timeOut',
    { state: 'TIMED_OUT', reason: 'The run took longer than its time.' },
    (run, now) => Boolean(run.deadlineAt && run.deadlineAt <= now),
  )

const loseRuntime = (platform: Platform, ref: Ref, readySince: Date) =>
  lockedFor(
    platform,
    ref,
    'loseRuntime',
    {
      state: 'FAILED',
      failureCode: 'RUNTIME_LOST',
      failureMessage:
        'The agent runtime went silent and did not come back in time. What it did last is not known; nothing will be repeated.',
      effects: 'UNKNOWN',
    },
    (run, now, tx) => store.isLost(tx, run, now, readySince),
  )
