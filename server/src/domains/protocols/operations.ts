import type { Db, Tx } from '../../platform/database.ts'
import { accept } from '../../platform/refusal.ts'
import { builtIn } from './built-in.ts'
import { type Protocol, resolve } from './rules.ts'

/** What a project can run under: every version of every protocol, and the ids that it allows (null: all). */
export interface ProtocolsOfProject {
  all: readonly Protocol[]
  allowed: readonly string[] | null
}

export async function protocolsOf(_db: Db | Tx, _projectId: string): Promise<ProtocolsOfProject> {
  return { all: builtIn, allowed: null }
}

/** A protocol by `id` or `id@version`; PROTOCOL_UNKNOWN, PROTOCOL_NOT_AUTHORIZED. */
export async function protocolNamed(db: Db | Tx, projectId: string, name: string): Promise<Protocol> {
  const { all, allowed } = await protocolsOf(db, projectId)
  return accept(resolve(all, name, allowed))
}
