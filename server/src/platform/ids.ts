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

const uuidAt = (hex: string, at: number) =>
  `${hex.slice(at, at + 8)}-${hex.slice(at + 8, at + 12)}-${hex.slice(at + 12, at + 16)}-${hex.slice(at + 16, at + 20)}-${hex.slice(at + 20, at + 32)}`

/** The public id of a node: a prefix for people, then type, project and key for the server. Opaque to clients. */
export function encodeId(ref: NodeRef): string {
  let hex = outsideProjects.has(ref.type) ? ref.id : (ref.projectId ?? '') + ref.id
  hex = hex.replaceAll('-', '')
  if (positioned.has(ref.type)) hex += (ref.position ?? 0).toString(16).padStart(16, '0')
  return `${idPrefixes[ref.type]}_${Buffer.from(hex, 'hex').toString('base64url')}`
}

/** Reads a public id back. Anything that `encodeId` did not write, in any spelling of it, is null. */
export function decodeId(id: string): NodeRef | null {
  const at = id.indexOf('_')
  const type = typeOf.get(id.slice(0, at))
  if (at < 1 || id.length > 96 || !type) return null
  const key = id.slice(at + 1)
  const bytes = Buffer.from(key, 'base64url')
  const inProject = !outsideProjects.has(type)
  const size = (inProject ? 32 : 16) + (positioned.has(type) ? 8 : 0)
  // Other spellings of the same bytes exist (padding, the other alphabet); ours is the only one that is an id.
  if (bytes.length !== size || bytes.toString('base64url') !== key) return null
  const hex = bytes.toString('hex')
  const ref: NodeRef = { type, id: uuidAt(hex, inProject ? 32 : 0) }
  if (inProject) ref.projectId = uuidAt(hex, 0)
  if (positioned.has(type)) {
    const position = bytes.readBigUInt64BE(size - 8)
    if (position > BigInt(Number.MAX_SAFE_INTEGER)) return null
    ref.position = Number(position)
  }
  return ref
}
