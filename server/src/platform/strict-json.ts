/** Why a value is not strict JSON. Names a type or a position, never the value. */
export interface JsonFlaw {
  path: string[]
  message: string
}

const maxDepth = 64

/**
 * Checks that a value is strict JSON: objects with string keys, lists, strings without NUL or lone surrogates, finite
 * numbers, booleans and null, at most 64 deep. Returns the first flaw, or null.
 */
export function jsonFlaw(value: unknown, path: string[] = [], from = path.length): JsonFlaw | null {
  if (value === null || typeof value === 'boolean') return null
  if (typeof value === 'string') return textFlaw(value, path)
  if (typeof value === 'number')
    return Number.isFinite(value) ? null : { path, message: 'is not a finite number' }
  // A value at depth n lies in n objects or lists.
  if (path.length - from >= maxDepth) return { path, message: `is nested deeper than ${maxDepth}` }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const flaw = jsonFlaw(value[index], [...path, String(index)], from)
      if (flaw) return flaw
    }
    return null
  }
  if (typeof value === 'object' && isPlain(value)) {
    for (const [key, item] of Object.entries(value)) {
      const flaw = textFlaw(key, path) ?? jsonFlaw(item, [...path, key], from)
      if (flaw) return flaw
    }
    return null
  }
  return { path, message: `is a ${typeof value}, which JSON does not have` }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const unstorable = /\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

function textFlaw(text: string, path: string[]): JsonFlaw | null {
  return unstorable.test(text) ? { path, message: 'holds a NUL or a lone surrogate' } : null
}

/** The one spelling of a JSON value: keys sorted, no white space. Its UTF-8 size is what limits count. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value && typeof value === 'object') {
    const entries = Object.entries(value as Record<string, unknown>)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
