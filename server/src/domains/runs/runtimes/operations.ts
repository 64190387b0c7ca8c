import type { Call } from '../../../platform/idempotency.ts'
import { transactOnce } from '../../../platform/idempotency.ts'
import type { Ref } from '../../../platform/ids.ts'
import { appendToProject } from '../../../platform/journal.ts'
import { notFound } from '../../../platform/refusal.ts'
import { type Platform, transact, type Unit } from '../../../platform/transaction.ts'
import type { Viewer } from '../../access/rules.ts'
import { publicId } from '../operations.ts'
import * as runs from '../store.ts'
import * as store from './store.ts'

export type { SignalRow } from './store.ts'

export interface RegisterRuntime {
  projectId: string
  name: string
  kinds: string[]
  maxConcurrentRuns: number
  tools: { name: string; group: string; action: string; server?: string | undefined }[]
}

/** Registers a runtime, unique by project, name and principal: again updates its tools and gives the same id. */
export function registerRuntime(platform: Platform, call: Call, input: RegisterRuntime) {
  return transactOnce(platform, call, async (unit) => {
    const result = await store.upsertRuntime(unit.tx, {
      ...input,
      id: unit.ids.next(),
      principalId: call.viewer.principalId,
      now: unit.now,
    })
    const ref = { projectId: input.projectId, id: result.id }
    if (result.created) await tell(unit, ref, 'RUNTIME_REGISTERED', input.name)
    else if (result.reconnected) await tell(unit, ref, 'RUNTIME_CONNECTED', input.name)
    return { projectId: input.projectId, runtimeId: result.id }
  })
}

const tell = (
  unit: Unit,
  ref: Ref,
  type: 'RUNTIME_REGISTERED' | 'RUNTIME_CONNECTED' | 'RUNTIME_DISCONNECTED',
  name: string,
) =>
  appendToProject(unit, ref.projectId, {
    type,
    subjectId: ref.id,
    payload: { runtimeId: publicId('Runtime', ref.projectId, ref.id), name },
  })

/** The runtime, if it is this principal's own. */
export async function ownRuntime(platform: Platform, viewer: Viewer, ref: Ref): Promise<runs.RuntimeRow> {
  const [row] = await runs.runtimesByRef(platform.db, [ref])
  if (!row || row.projectId !== ref.projectId || row.principalId !== viewer.principalId) throw notFound()
  return row
}

/** A sign of life, from a heartbeat or an open subscription: extends the lease by 30 s, reconnects who was silent. */
export async function noteLife(platform: Platform, ref: Ref): Promise<void> {
  const touched = await store.touchRuntime(platform.db, ref, platform.clock.now())
  if (!touched) throw notFound()
  if (touched.reconnected) await transact(platform, (unit) => tellConnected(unit, ref))
}

/** The same as part of what it does. */
export async function noteLifeIn(unit: Unit, ref: Ref): Promise<void> {
  const touched = await store.touchRuntime(unit.tx, ref, unit.now)
  if (touched?.reconnected) await tellConnected(unit, ref)
}

async function tellConnected(unit: Unit, ref: Ref): Promise<void> {
  const [row] = await runs.runtimesByRef(unit.tx, [ref])
  if (row) await tell(unit, ref, 'RUNTIME_CONNECTED', row.name)
}

/** What a runtime has not acknowledged yet, beyond a position: what a (re)connecting subscription begins with. */
export const unheardSignals = (platform: Platform, ref: Ref, after: number, most: number) =>
  store.unheardSignals(platform.db, ref, after, most)

/** The runtime has heard these (≤ 500). Unknown or acknowledged ones count as nothing. */
export async function acknowledgeSignals(
  platform: Platform,
  input: { runtimeId: Ref; signalIds: Ref[] },
): Promise<{ acknowledged: number }> {
  return transact(platform, async (unit) => ({
    acknowledged: await store.acknowledge(
      unit.tx,
      input.runtimeId,
      input.signalIds.map((ref) => ref.id),
      unit.now,
    ),
  }))
}

/** Marks a runtime that has been silent for 30 s. Its runs keep their grace. */
export function disconnectRuntime(platform: Platform, ref: Ref, silentSince: Date): Promise<boolean> {
  return transact(platform, async (unit) => {
    const name = await store.markDisconnected(unit.tx, ref, silentSince)
    if (name === null) return false
    await tell(unit, ref, 'RUNTIME_DISCONNECTED', name)
    return true
  })
}
