import { invalid } from '../platform/refusal.ts'

/** One page of a keyset list: rows beyond the cursor, one more than asked for tells whether there are others. */
export interface PageRequest<Key> {
  first: number
  after: Key | null
}

export const maxPage = 100
export const defaultPage = 20

/**
 * Reads `first` (1..100, default 20) and `after` (a cursor of this list). `last` and `before` are refused where a list
 * does not page backwards.
 */
export function pageRequest<Key extends unknown[]>(
  args: {
    first?: number | null | undefined
    after?: string | null | undefined
    last?: number | null | undefined
    before?: string | null | undefined
  },
  isKey: (key: unknown[]) => key is Key,
): PageRequest<Key> {
  if (args.last != null || args.before != null)
    throw invalid('last', 'this list pages forwards: use `first` and `after`')
  const first = args.first ?? defaultPage
  if (first < 1 || first > maxPage) throw invalid('first', `must be 1 to ${maxPage}`)
  return { first, after: args.after == null ? null : readCursor(args.after, isKey, 'after') }
}

/** Keyset cursors: the sort key of a row as base64url JSON. Opaque to clients, checked when they come back. */
export const writeCursor = (key: unknown[]) => Buffer.from(JSON.stringify(key)).toString('base64url')

export function readCursor<Key extends unknown[]>(
  cursor: string,
  isKey: (key: unknown[]) => key is Key,
  argument: string,
): Key {
  try {
    const key: unknown =
      cursor.length <= 1024 ? JSON.parse(Buffer.from(cursor, 'base64url').toString()) : null
    if (Array.isArray(key) && isKey(key)) return key
  } catch {}
  throw invalid(argument, 'is not a cursor of this list')
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The sort key of most lists: an instant (ISO) and, for equal instants, the row's UUID. */
export type TimeKey = [at: string, id: string]
export const isTimeKey = (key: unknown[]): key is TimeKey =>
  key.length === 2 &&
  typeof key[0] === 'string' &&
  instant.test(key[0]) &&
  Date.parse(key[0]) >= 0 &&
  typeof key[1] === 'string' &&
  uuid.test(key[1])

/** The sort key of what is numbered within its session. */
export type NumberKey = [number: number]
export const isNumberKey = (key: unknown[]): key is NumberKey =>
  key.length === 1 && Number.isInteger(key[0]) && Math.abs(Number(key[0])) < 2 ** 31

/** Turns `first + 1` rows into a connection. */
export function connectionOf<Row extends object>(
  rows: Row[],
  request: PageRequest<unknown>,
  keyOf: (row: Row) => unknown[],
) {
  const edges = rows.slice(0, request.first).map((node) => ({ cursor: writeCursor(keyOf(node)), node }))
  return {
    edges,
    pageInfo: {
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
      hasNextPage: rows.length > request.first,
      hasPreviousPage: request.after !== null,
    },
  }
}
