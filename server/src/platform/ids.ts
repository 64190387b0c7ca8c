import { v7 } from 'uuid'

/** Where identities come from: UUIDv7, made by the server only, ordered by time. */
export interface Ids {
  next(): string
}

export const systemIds: Ids = { next: () => v7() }

/** The node types that have a global id, with the prefix that their ids carry. */
export const idPrefixes = {
  Project: 'prj',
  Session: 'ses',
  Message: 'msg',
  SessionEvent: 'evt',
  ProjectEvent: 'pev',
  Run: 'run',
  RouteDecision: 'rte',
  IntentRevision: 'int',
  Requirement: 'req',
  ProtocolSegment: 'seg',
  Action: 'act',
  Checkpoint: 'chk',
  Approval: 'apr',
  Runtime: 'rtm',
  RuntimeSignal: 'sig',
  InboxItem: 'inb',
  SavedView: 'viw',
  Principal: 'pri',
  Token: 'tok',
  Grant: 'gra',
  AuditEntry: 'aud',
} as const

export type NodeType = keyof typeof idPrefixes

/** What a global id says: its type, its project (absent for what belongs to no project), its key, and for an event its position. */
export interface NodeRef {
  type: NodeType
  projectId?: string
  id: string
  /** A session event's sequence or a project event's position. */
  position?: number
}

/** A row of a project: the pair that addresses it everywhere. */
export interface Ref {
  projectId: string
  id: string
}

const outsideProjects = new Set<NodeType>(['Project', 'Principal', 'Token', 'Grant', 'AuditEntry'])
const positioned = new Set<NodeType>(['SessionEvent', 'ProjectEvent'])
const typeOf = new Map(
  Object.entries(idPrefixes).map(([type, prefix]) => [prefix as string, type as NodeType]),
)

const bytesOf = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex')
const uuidOf = (bytes: Buffer) =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** The public id of a node: a prefix for people, then type, project and key for the server. Opaque to clients. */
export function encodeId(ref: NodeRef): string {
  const parts: Buffer[] = []
  if (!outsideProjects.has(ref.type)) parts.push(bytesOf(ref.projectId ?? ''))
  parts.push(bytesOf(ref.id))
  if (positioned.has(ref.type)) {
    const position = Buffer.alloc(8)
    position.writeBigUInt64BE(BigInt(ref.position ?? 0))
    parts.push(position)
  }
  return `${idPrefixes[ref.type]}_${Buffer.concat(parts).toString('base64url')}`
}

/** Reads a public id back. Anything that `encodeId` did not write, in any spelling of it, is null. */
export function decodeId(id: string): NodeRef | null {
  const at = id.indexOf('_')
  const type = typeOf.get(id.slice(0, at))
  if (at < 1 || id.length > 96 || !type) return null
  const bytes = Buffer.from(id.slice(at + 1), 'base64url')
  const inProject = !outsideProjects.has(type)
  const size = (inProject ? 32 : 16) + (positioned.has(type) ? 8 : 0)
  if (bytes.length !== size) return null
  const ref: NodeRef = { type, id: uuidOf(bytes.subarray(inProject ? 16 : 0, inProject ? 32 : 16)) }
  if (inProject) ref.projectId = uuidOf(bytes.subarray(0, 16))
  if (positioned.has(type)) {
    const position = bytes.readBigUInt64BE(size - 8)
    if (position > BigInt(Number.MAX_SAFE_INTEGER)) return null
    ref.position = Number(position)
  }
  return encodeId(ref) === id ? ref : null
}
