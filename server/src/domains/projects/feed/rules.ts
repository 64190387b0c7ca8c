import { Refusal } from '../../../platform/refusal.ts'

/** A place in the global order of a project's feed: by transaction, then by position within it. */
export interface Position {
  xid: bigint
  position: bigint
}

const last = 9_223_372_036_854_775_807n

export const isBeyond = (a: Position, b: Position) =>
  a.xid > b.xid || (a.xid === b.xid && a.position > b.position)

/** Cursors carry the database's incarnation: after a restore, positions of the other one mean nothing. */
export const writeFeedCursor = (incarnation: string, at: Position) =>
  Buffer.from(`${incarnation}.${at.xid}.${at.position}`).toString('base64url')

/** Reads a cursor: its position, `'other'` for one of another incarnation, INVALID_CURSOR for anything else. */
export function readFeedCursor(incarnation: string, cursor: string): Position | 'other' | Refusal {
  const text = cursor.length <= 256 ? Buffer.from(cursor, 'base64url').toString() : ''
  const match = /^([0-9a-f-]{36})\.(\d{1,19})\.(\d{1,19})$/.exec(text)
  const position = match && { xid: BigInt(match[2] ?? 0), position: BigInt(match[3] ?? 0) }
  if (
    !position ||
    position.xid > last ||
    position.position > last ||
    writeFeedCursor(match[1] ?? '', position) !== cursor
  ) {
    return new Refusal('INVALID_CURSOR', 'This is not a cursor of a project’s feed.')
  }
  return match[1] === incarnation ? position : 'other'
}
