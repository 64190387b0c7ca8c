import { type Document, isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml'
import * as z from 'zod'
import type { Format } from './definition-text.ts'

/** Something that is wrong with a text, at the place that it is at. */
export interface Issue {
  /** From the definition down; empty: all of it. */
  path: readonly string[]
  message: string
  /** The flaw's name, where the server named it. */
  code: string | null
  /** Positions in the text, in UTF-16 units. */
  from: number
  to: number
  /** From 1. */
  line: number
}

/** The text of another version: the same, character for character, but for id and version. */
export function renamed(text: string, change: { id?: string; version: number }): string {
  const document = parseDocument(text)
  const values = Object.entries(change).map(([key, value]) => {
    const node: unknown = document.get(key, true)
    return { value, range: isScalar(node) ? node.range : null }
  })
  return values
    .sort((a, b) => (b.range?.[0] ?? 0) - (a.range?.[0] ?? 0))
    .reduce((so, { value, range }) => {
      if (!range) return so
      const quote = so[range[0]] === '"' ? '"' : ''
      return `${so.slice(0, range[0])}${quote}${value}${quote}${so.slice(range[1])}`
    }, text)
}

interface Read {
  /** What the text says; undefined while it can't be read. */
  value: unknown
  /** What keeps it from being read, or is not as the schema says. */
  issues: readonly Issue[]
}

/** Where a path is in a text; the nearest that is there when the place itself is not. */
function placeOf(
  document: Document,
  path: readonly string[],
  of: 'value' | 'key' = 'value',
): readonly [number, number] {
  let found: readonly [number, number] = [0, 0]
  let node = document.contents as Node | null
  for (let depth = 0; ; depth += 1) {
    if (node?.range) found = [node.range[0], node.range[1]]
    const key = path[depth]
    if (key === undefined || !node || !('get' in node)) return found
    const pair = isMap(node)
      ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
      : undefined
    // Of a key with nothing behind it, the key is the place.
    if (pair && isScalar(pair.key) && pair.key.range) found = [pair.key.range[0], pair.key.range[1]]
    if (of === 'key' && depth === path.length - 1) return found
    node = (node.get(isMap(node) ? key : Number(key), true) as Node | undefined) ?? null
  }
}

/** A whole mapping or list is marked at its first line only. */
const firstLine = (text: string, [from, to]: readonly [number, number]): [number, number] => {
  const end = text.indexOf('\n', from)
  return [from, Math.max(from, end >= 0 && end < to ? end : to)]
}

/**
 * Reads a definition and holds it against the published JSON Schema, each message in the language of `locale`. What the
 * schema can't say, that the graph of phases can be walked, the server says when it is registered.
 */
export function readDefinition(text: string, format: Format, schema: unknown, locale: 'en' | 'zh'): Read {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const issue = (path: readonly string[], message: string, at: readonly [number, number]): Issue => {
    const [from, to] = firstLine(text, at)
    return { path, message, code: null, from, to, line: Math.max(1, lines.linePos(from).line) }
  }
  const [error] = document.errors
  if (error) return { value: undefined, issues: [issue([], error.message, error.pos)] }
  if (format === 'JSON') {
    try {
      JSON.parse(text)
    } catch (cause) {
      return { value: undefined, issues: [issue([], (cause as Error).message, [0, 0])] }
    }
  }
  const value: unknown = document.toJS({ maxAliasCount: 0 })
  if (!schema) return { value, issues: [] }
  const checked = schemaOf(schema).safeParse(value, { error: locales[locale]().localeError })
  if (checked.success) return { value, issues: [] }
  return {
    value,
    issues: checked.error.issues.map((each) => {
      // Of a key, what is wrong with it is said inside.
      const said = (each.code === 'invalid_key' && each.issues[0]) || each
      const path = each.path.map(String)
      if (each.code !== 'unrecognized_keys')
        return issue(
          path,
          said.message,
          placeOf(document, path, each.code === 'invalid_key' ? 'key' : 'value'),
        )
      const unknown = [...path, each.keys[0] ?? '']
      return issue(unknown, said.message, placeOf(document, unknown, 'key'))
    }),
  }
}

const locales = { en: z.locales.en, zh: z.locales.zhCN }
const schemas = new WeakMap<object, z.ZodType>()
function schemaOf(schema: unknown): z.ZodType {
  const key = schema as object
  const known = schemas.get(key) ?? z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
  schemas.set(key, known)
  return known
}

/** What the server found, at its places in the text as it is now; of its `CODE: words` the code apart. */
export function placed(
  text: string,
  found: readonly { path: readonly string[]; message: string }[],
): Issue[] {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  return found.map(({ path, message }) => {
    const inside = path[0] === 'definition' ? path.slice(1) : path
    const named = /^([A-Z][A-Z_]+): (.*)$/s.exec(message)
    const [from, to] = firstLine(text, document.errors.length > 0 ? [0, 0] : placeOf(document, inside))
    const line = Math.max(1, lines.linePos(from).line)
    return { path: inside, message: named?.[2] ?? message, code: named?.[1] ?? null, from, to, line }
  })
}

/** `phases[1].transitions[0].to` */
export const pathWords = (path: readonly string[]): string =>
  path.reduce((words, key) => (/^\d+$/.test(key) ? `${words}[${key}]` : words ? `${words}.${key}` : key), '')
