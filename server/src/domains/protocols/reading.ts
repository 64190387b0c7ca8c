import { isAlias, isMap, isScalar, isSeq, Lexer, type Node, parseDocument } from 'yaml'
import { invalid, type Refusal } from '../../platform/refusal.ts'
import { jsonFlaw } from '../../platform/strict-json.ts'

export const definitionFormats = ['YAML', 'JSON'] as const
export type DefinitionFormat = (typeof definitionFormats)[number]

/** In UTF-8 bytes. */
export const maxDefinitionBytes = 65_536
const maxDepth = 24
const maxTokens = 12_000
const maxIndent = 200

class Unreadable extends Error {}
const fail = (message: string): never => {
  throw new Unreadable(message)
}

/**
 * The value that a definition's text says: what JSON can say and nothing more, without duplicate keys, at most 24 deep
 * and 64 KiB. Of YAML no anchors, aliases, tags or directives, one document. Anything else is INVALID_INPUT.
 */
export function readDefinition(text: string, format: DefinitionFormat): { value: unknown } | Refusal {
  if (Buffer.byteLength(text) > maxDefinitionBytes) {
    return invalid('definition', `must be at most ${maxDefinitionBytes} bytes`)
  }
  try {
    const value = format === 'JSON' ? readJson(text) : readYaml(text)
    const flaw = jsonFlaw(value)
    return flaw ? invalid(['definition', ...flaw.path], flaw.message) : { value }
  } catch (error) {
    if (error instanceof Unreadable) return invalid('definition', error.message)
    throw error
  }
}

function readJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    fail('is not JSON')
  }
  // The text is JSON by now. Its parser keeps the last of two equal keys, and would not say so.
  const open: (Set<string> | null)[] = []
  let last = ''
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') {
      if (open.push(token === '{' ? new Set() : null) > maxDepth) fail(`is nested deeper than ${maxDepth}`)
    } else if (token === '}' || token === ']') open.pop()
    else if (token === ':') {
      const key = JSON.parse(last) as string
      if (open.at(-1)?.has(key)) fail('has a key twice in one object')
      open.at(-1)?.add(key)
    } else last = token
  }
  return value
}

function readYaml(text: string): unknown {
  boundYaml(text)
  const document = parseDocument(text, {
    schema: 'core',
    // Looked at below, in a time that does not grow with the square of a map.
    uniqueKeys: false,
    prettyErrors: false,
  })
  const [error] = [...document.errors, ...document.warnings]
  if (error) {
    const line = text.slice(0, error.pos[0]).split('\n').length
    fail(`is not YAML that can be read: ${error.code}, line ${line}`)
  }
  return document.contents === null ? null : plain(document.contents as Node)
}

/** What the lexer puts before the text of a scalar. */
const scalarAhead = '\u001f'

/**
 * Refuses what would take the parser long, or would end the process (it can't take structures that are nested thousands
 * deep), by the tokens alone: their number, what opens on one line, how far lines are indented, and how deep brackets go.
 */
function boundYaml(text: string): void {
  let tokens = 0
  let flow = 0
  let onLine = 0
  let before = '\n'
  for (const token of new Lexer().lex(text)) {
    const at = before
    before = token
    tokens += 1
    if (tokens > maxTokens) fail('has too many parts')
    if (at === scalarAhead) {
      if (token.endsWith('\n')) before = '\n'
      continue
    }
    const first = token[0]
    if (first === '\n' || first === '\r') {
      if (flow === 0) onLine = 0
      before = '\n'
    } else if ((first === ' ' || first === '\t') && at === '\n') {
      if (token.length > maxIndent) fail('is indented too far')
    } else if (first === '&' || first === '*' || first === '!') fail('must not hold anchors, aliases or tags')
    else if (first === '%') fail('must not hold directives')
    else if (first === '?') fail('must not hold keys that are marked by ?')
    else if (first === '{' || first === '[') flow += 1
    else if (first === '}' || first === ']') flow -= 1
    else if (flow === 0 && (token === '-' || token === ':')) onLine += 1
    if (flow > maxDepth || onLine > maxDepth) fail(`is nested deeper than ${maxDepth}`)
  }
}

function plain(node: Node, depth = 0): unknown {
  if (depth > maxDepth) return fail(`is nested deeper than ${maxDepth}`)
  if (isAlias(node) || ('anchor' in node && node.anchor))
    return fail('must not hold anchors, aliases or tags')
  if (isSeq(node)) return node.items.map((item) => plain(item as Node, depth + 1))
  if (isMap(node)) {
    const keys = new Set<string>()
    return Object.fromEntries(
      node.items.map(({ key, value }) => {
        if (!isScalar(key)) return fail('has a key that is not a text')
        const name = String(key.value)
        if (keys.has(name)) fail('has a key twice in one object')
        keys.add(name)
        return [name, value === null ? null : plain(value as Node, depth + 1)]
      }),
    )
  }
  return isScalar(node) ? node.value : fail('holds something that JSON does not have')
}
