import { randomUUID } from 'node:crypto'
import { decodeId, encodeId, idPrefixes, type NodeType } from '@wheelhouse/server/platform/ids'

/** One hostile value: as JavaScript has it, as raw JSON text where JavaScript can't, or nothing at all. */
export interface Hostile {
  label: string
  value?: unknown
  raw?: string
  absent?: true
}

/** The same numbers for the same seed (mulberry32), so that what failed fails again. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** `count` of them, chosen by the seed. */
export function some<T>(random: () => number, count: number, from: readonly T[]): T[] {
  const left = [...from]
  return Array.from(
    { length: Math.min(count, left.length) },
    () => left.splice(Math.floor(random() * left.length), 1)[0] as T,
  )
}

const of = (entries: Record<string, unknown>): Hostile[] =>
  Object.entries(entries).map(([label, value]) => ({ label, value }))
const raw = (entries: Record<string, string>): Hostile[] =>
  Object.entries(entries).map(([label, text]) => ({ label, raw: text }))

const mebibyte = 2 ** 20
/** Stands in values that no answer may repeat. */
export const canary = 'wh-canary-5f1c'

/** Never a text that can be kept, or never of a length that any field takes. */
const badTexts = of({
  '1 MiB of text': canary.repeat(mebibyte / canary.length + 1).slice(0, mebibyte),
  'a NUL': `${canary}\0`,
  'a lone high surrogate': `${canary}\ud800`,
  'a lone low surrogate': `\udc00${canary}`,
  'an empty text': '',
  'only white space': ' \t\n\u3000',
})
/** Odd, but a text like any other. */
const oddTexts = of({
  'right to left': '\u202eשלום עולם مرحبا\u202c',
  'many combining marks': `e${'\u0301'.repeat(90)}`,
  Chinese: '分析各地区销售额变化',
  'emoji of several code points': '👩‍👩‍👧‍👦🏳️‍🌈',
  'a quote of SQL': "'; DROP TABLE sessions; --",
  markup: '<script>alert(1)</script><img src=x onerror=alert(1)>',
  'a pattern of LIKE': '%_\\%',
  'a path': '../../../../etc/passwd',
  'line ends': 'a\r\nb\u2028c',
  'a byte order mark': '\ufeffabc\u200b',
  'a noncharacter': 'abc\uffff',
  'a name of Object': '__proto__',
  'a template': `\${7*7} {{7*7}} %s %n`,
  'a tsquery': "a & !(b | 'c') :* <->",
})
const cursor = (key: unknown) => Buffer.from(JSON.stringify(key)).toString('base64url')
/** What a cursor could say that no list ever wrote. */
const forgedCursors = of({
  'a cursor of no instant': cursor(['2026-99-99T99:99:99.999Z', randomUUID()]),
  'a cursor of the year 0': cursor(['0000-01-01T00:00:00.000Z', randomUUID()]),
  'a cursor of no row': cursor(['2026-03-01T12:00:00.000Z', 'x']),
  'a cursor of a large number': cursor([Number.MAX_SAFE_INTEGER]),
  'a cursor of a negative number': cursor([-1]),
  'a cursor of many things': cursor([1e300, '2026-03-01T12:00:00.000Z', randomUUID(), { a: 1 }]),
  'a cursor of the feed that is not': Buffer.from(
    `${randomUUID()}.9223372036854775807.9223372036854775807`,
  ).toString('base64url'),
})
const longList = (item: unknown) => Array.from({ length: 100_000 }, () => item)
const millionInts = { label: 'a million numbers', raw: `[${'7,'.repeat(999_999)}7]` }
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const nestedObject = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

const wrongKinds = of({ 'a number': 7, 'a fraction': 0.5, 'a boolean': true, 'a text': canary })
const wrongShapes = [
  ...of({ 'an object': { a: canary }, 'a list': [canary], 'a list of null': [null] }),
  ...raw({ 'an object with __proto__': '{"__proto__":{"admin":true},"constructor":{"prototype":{}}}' }),
]

const badNumbers = of({
  'below every range': -2_147_483_648,
  'minus one': -1,
  zero: 0,
  'above every range': 2_147_483_647,
  'beyond 32 bits': 2_147_483_648,
  'a fraction': 1.5,
  'a number as text': '1',
}).concat(raw({ infinity: '1e400', 'minus zero': '-0', 'a long number': '9'.repeat(400) }))

const badDates = of({
  words: 'yesterday',
  'a day that is not': '2026-02-30T25:61:00Z',
  'the year 0': '0000-01-01T00:00:00Z',
  'after the last year': '+275760-09-13T00:00:00Z',
  'no offset': '2026-03-01T12:00:00',
  'a number': 1_772_366_400_000,
  'long ago': '1970-01-01T00:00:00Z',
  'the last year': '9999-12-31T23:59:59.999Z',
})

const badJson = [
  ...of({
    'a NUL in a key': { [`a\0${canary}`]: 1 },
    'a lone surrogate inside': { text: `${canary}\udfff` },
    '1 MiB inside': { text: canary.repeat(mebibyte / canary.length) },
    'a list': [1, 2],
    'a text': 'text',
    'an empty object': {},
  }),
  ...raw({
    '63 levels': nestedObject(63),
    '65 levels': nestedObject(65),
    '200 levels': nestedObject(200),
    '100 000 levels': nested(100_000),
    'keys of Object':
      '{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}},"toString":"x","hasOwnProperty":1}',
    infinity: '{"n":1e400}',
    'a long number': `{"n":${'9'.repeat(400)}}`,
  }),
  millionInts,
]

/** An id of the same type that names nothing; or, of an id that is no id, itself. */
export function missingLike(id: string, project: string = randomUUID()): string {
  const ref = decodeId(id)
  if (!ref) return id
  return encodeId({ ...ref, id: randomUUID(), ...(ref.projectId && { projectId: project }) })
}

const anyId = (type: NodeType) => encodeId({ type, id: randomUUID(), projectId: randomUUID(), position: 1 })

function badIds(type: NodeType | null, foreign: string | undefined): Hostile[] {
  const other = type === 'Message' ? 'Run' : 'Message'
  const missing = anyId(type ?? 'Session')
  return of({
    'no id at all': canary,
    'an empty id': '',
    'a NUL in an id': `ses_\0`,
    '1 MiB of id': `ses_${'A'.repeat(mebibyte)}`,
    'an id of another kind': anyId(other),
    'an id that names nothing': missing,
    'an id in another spelling': `${missing}=`,
    'an id cut short': missing.slice(0, -4),
    'a lone surrogate in an id': `ses_\ud800`,
    'the prefix of another kind': missing.replace(/^[a-z]+/, idPrefixes[other]),
    'a number': 12,
    ...(foreign && { 'an id of another project': foreign }),
  })
}

export interface Slot {
  /** The named type of the field, without lists and `!`. */
  type: string
  list: boolean
  enumeration: boolean
  object: boolean
  cursor: boolean
  /** For an ID: the node type that is meant, and one of another project. */
  node: NodeType | null
  foreign?: string | undefined
}

/** What is tried on one field. `odd` of the odd but possible texts are chosen by the seed; null takes all. */
export function hostileFor(slot: Slot, random: () => number, odd: number | null): Hostile[] {
  const always: Hostile[] = [
    { label: 'missing', absent: true },
    { label: 'null', value: null },
  ]
  if (slot.list) {
    const item = slot.type === 'ID' ? anyId(slot.node ?? 'Session') : canary
    return [
      ...always,
      ...of({ 'an empty list': [], 'a list of null': [null], 'a list of lists': [[[canary]]] }),
      ...of({ 'a long list': longList(slot.object ? {} : item), 'a list of one hostile text': ['a\0'] }),
      ...some(random, 2, [...wrongKinds, ...wrongShapes]),
      // A second each: on every list in the long form, else on one of four.
      ...(odd === null || random() < 0.25 ? [millionInts] : []),
    ]
  }
  if (slot.object)
    return [...always, ...of({ 'an unknown field': { nothingLikeIt: 1 } }), ...wrongKinds, ...wrongShapes]
  const shapes = some(random, 2, [...wrongShapes])
  const oddOnes = odd === null ? oddTexts : some(random, odd, oddTexts)
  if (slot.enumeration)
    return [
      ...always,
      ...of({ 'no such value': 'NOPE', 'a name of Object': '__proto__' }),
      ...wrongKinds,
      ...shapes,
    ]
  switch (slot.type) {
    case 'ID':
      return [...always, ...shapes, ...badIds(slot.node, slot.foreign)]
    case 'Int':
    case 'Float':
      return [...always, ...shapes, ...badNumbers]
    case 'Boolean':
      return [...always, ...shapes, ...of({ 'a number': 1, 'a text': 'true' })]
    case 'DateTime':
      return [...always, ...shapes, ...badDates, badTexts[0] as Hostile]
    case 'JSON':
      return [...always, ...badJson]
    case 'String':
      return [
        ...always,
        ...shapes,
        ...some(random, 1, wrongKinds.slice(0, 3)),
        ...badTexts,
        ...(slot.cursor ? forgedCursors : oddOnes),
      ]
    default:
      throw new Error(`no hostile values are known for the scalar ${slot.type}: add them here`)
  }
}

const mark = '@@raw@@'
/** The JSON text of a body, with raw parts put in as they are. */
export function jsonWith(build: (value: unknown) => unknown, hostile: Hostile): string {
  if (hostile.raw === undefined) return JSON.stringify(build(hostile.value))
  return JSON.stringify(build(mark)).replace(`"${mark}"`, () => hostile.raw as string)
}
