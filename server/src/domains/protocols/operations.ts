import { createHash } from 'node:crypto'
import type { Db, Tx } from '../../platform/database.ts'
import { type Call, transactOnce } from '../../platform/idempotency.ts'
import { appendToProject } from '../../platform/journal.ts'
import { accept, notFound, Refusal } from '../../platform/refusal.ts'
import { canonicalJson } from '../../platform/strict-json.ts'
import type { Platform } from '../../platform/transaction.ts'
import { audit } from '../access/operations.ts'
import { builtIn } from './built-in.ts'
import { parseProtocol, sound } from './definition.ts'
import { type DefinitionFormat, readDefinition } from './reading.ts'
import { isAllowed, mostVersions, nameOf, type Protocol, registration, resolve } from './rules.ts'
import * as store from './store.ts'

export { sourcesOf as loadProtocolSources, type VersionKey } from './store.ts'

/** What a project can run under: every version of every protocol, and the ids that it allows (null: all). */
export interface ProtocolsOfProject {
  all: readonly Protocol[]
  allowed: readonly string[] | null
}

/** By digest: what has the same digest is the same, in whatever project, whether its transaction came to an end or not. */
const known = new Map<string, Protocol>()
const mostKnown = 1_000

/** What these digests of these projects stand for; a second statement only for those that this process has not met. */
async function definitions(
  db: Db | Tx,
  projectIds: readonly string[],
  digests: ReadonlySet<string>,
): Promise<Map<string, Protocol>> {
  const found = new Map<string, Protocol>()
  const missing: string[] = []
  for (const digest of digests) {
    const protocol = known.get(digest)
    if (protocol) found.set(digest, protocol)
    else missing.push(digest)
  }
  if (missing.length === 0) return found
  for (const { digest, definition } of await store.definitionsOf(db, projectIds, missing)) {
    // It was checked when it was registered.
    found.set(digest, definition as Protocol)
    known.set(digest, definition as Protocol)
  }
  for (const digest of known.keys()) {
    if (known.size <= mostKnown) break
    known.delete(digest)
  }
  return found
}

/** Those of several projects, in the order asked, as `protocolsOf` gives them of one; null for one that is not there. */
async function readProtocols(
  db: Db | Tx,
  projectIds: readonly string[],
): Promise<(ProtocolsOfProject | null)[]> {
  const rows = await store.versionsOf(db, projectIds)
  const found = await definitions(db, projectIds, new Set(rows.flatMap(({ digests }) => digests)))
  const byProject = new Map(rows.map((row) => [row.projectId, row]))
  return projectIds.map((id) => {
    const row = byProject.get(id)
    if (!row) return null
    const own = row.digests.flatMap((digest) => found.get(digest) ?? [])
    return { all: [...builtIn, ...own], allowed: row.allowed.length === 0 ? null : row.allowed }
  })
}

/** A project that is not there has what is in the box. */
const inTheBox: ProtocolsOfProject = { all: builtIn, allowed: null }

/** `protocolsOf` of several projects at once, in their order, for as many statements as of one. */
export const loadProtocols = async (
  db: Db,
  projectIds: readonly string[],
): Promise<readonly ProtocolsOfProject[]> =>
  (await readProtocols(db, projectIds)).map((each) => each ?? inTheBox)

/**
 * The built-in protocols, then what is registered in the project, the newest version of each first. One statement, and
 * another only for versions that this process has not met. A project that is not there has the built-in ones.
 */
export async function protocolsOf(db: Db | Tx, projectId: string): Promise<ProtocolsOfProject> {
  const [of] = await readProtocols(db, [projectId])
  return of ?? inTheBox
}

/** A protocol by `id` or `id@version`; PROTOCOL_UNKNOWN, PROTOCOL_NOT_AUTHORIZED. */
export async function protocolNamed(db: Db | Tx, projectId: string, name: string): Promise<Protocol> {
  const { all, allowed } = await protocolsOf(db, projectId)
  return accept(resolve(all, name, allowed))
}

export interface ListedProtocol {
  projectId: string
  protocol: Protocol
  /** Null for what is built in. */
  registered: store.RegisteredRow | null
  latest: boolean
  allowed: boolean
}

/** Every version of every protocol of a project, as `protocolsOf` orders them; NOT_FOUND without the project. */
export async function listProtocols(db: Db, projectId: string): Promise<ListedProtocol[]> {
  const [protocols] = await readProtocols(db, [projectId])
  if (!protocols) throw notFound()
  const { all, allowed } = protocols
  const rows = all.length > builtIn.length ? await store.registeredIn(db, projectId) : []
  const registered = new Map(rows.map((row) => [nameOf(row), row]))
  const newest = new Map<string, number>()
  for (const { id, version } of all) newest.set(id, Math.max(version, newest.get(id) ?? 0))
  return all.map((protocol) => ({
    projectId,
    protocol,
    registered: registered.get(nameOf(protocol)) ?? null,
    latest: newest.get(protocol.id) === protocol.version,
    allowed: isAllowed(protocol.id, allowed),
  }))
}

/** What tells one definition from another: the SHA-256 of its one spelling, in hexadecimal. */
const digestOf = (protocol: Protocol) => createHash('sha256').update(canonicalJson(protocol)).digest('hex')

/**
 * Registers a version of a protocol, for good. INVALID_INPUT names what is wrong with the definition, by itself and among
 * those of the project: what another one governs is not `ungoverned`. The same
 * definition again is the same success; another one under a version that is there, a version that does not follow the
 * latest, and an id that is built in are CONFLICT; a project keeps at most 500 versions (CAPACITY). Audited.
 */
export async function registerProtocol(
  platform: Platform,
  call: Call,
  input: { projectId: string; definition: string; format: DefinitionFormat },
): Promise<{ projectId: string; name: string }> {
  const { projectId, definition: source, format } = input
  const protocol = accept(parseProtocol(accept(readDefinition(source, format)).value))
  const { id, version, title } = protocol
  const digest = digestOf(protocol)
  const name = nameOf(protocol)
  return transactOnce(platform, call, async (unit) => {
    await store.lockRegistrations(unit.tx, projectId)
    if ((await store.versionsOf(unit.tx, [projectId])).length === 0) throw notFound()
    const { versions, inProject } = await store.versionsNamed(unit.tx, projectId, id)
    const isBuiltIn = builtIn.some((each) => each.id === id)
    if (!accept(registration({ version, digest }, versions, isBuiltIn))) return { projectId, name }
    accept(sound(protocol, (await protocolsOf(unit.tx, projectId)).all))
    if (inProject >= mostVersions) {
      throw new Refusal('CAPACITY', `A project keeps ${mostVersions} versions of protocols.`)
    }
    const by = call.viewer.principalId
    await store.insertVersion(unit.tx, {
      projectId,
      id,
      version,
      title,
      definition: protocol as never,
      source,
      format,
      digest,
      registeredBy: by,
      at: unit.now,
    })
    await appendToProject(unit, projectId, {
      type: 'PROTOCOL_REGISTERED',
      payload: { protocol: name, title, by },
    })
    await audit(unit, call, {
      action: 'protocol.registered',
      subject: { type: 'Project', id: projectId },
      projectId,
      detail: { protocol: name, title, digest },
    })
    return { projectId, name }
  })
}
