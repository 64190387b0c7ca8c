import { invalid, type Refusal } from '../../../platform/refusal.ts'
import { wordsOf } from '../words.ts'

/** What may be looked for at once. */
export const searchLimits = { characters: 200, words: 32 }
/** How long a snippet is at most, in UTF-16 units. */
export const snippetLength = 240
/** How much of a snippet comes before its first hit. */
const lead = 60
const maxHighlights = 32

/** Part of a text, in UTF-16 units from its start. */
export interface Span {
  start: number
  end: number
}

/** The words to look for, cut like the index: all must be there, the last may be the beginning of one. */
export function searchWords(text: string): string[] | Refusal {
  if ([...text].length > searchLimits.characters) {
    return invalid('text', `must be at most ${searchLimits.characters} characters`)
  }
  const words = [...new Set(wordsOf(text))]
  if (words.length === 0) return invalid('text', 'holds no word to look for')
  if (words.length > searchLimits.words) return invalid('text', `must be at most ${searchLimits.words} words`)
  return words
}

/** The words as a tsquery. Nothing of them is read as an operator. */
export const tsqueryOf = (words: readonly string[]): string =>
  words
    .map((word, index) => {
      const quoted = `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
      return index === words.length - 1 ? `${quoted}:*` : quoted
    })
    .join(' & ')

const escaped = (word: string) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

/** Where the words are in a text. Chinese has no marks between words, so there any occurrence counts. */
function occurrences(text: string, words: readonly string[]): Span[] {
  const patterns = words.map((word, index) => {
    if (/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai}/u.test(word))
      return escaped(word)
    const end = index === words.length - 1 ? '' : '(?![\\p{L}\\p{N}])'
    return `(?<![\\p{L}\\p{N}])${escaped(word)}${end}`
  })
  const spans: Span[] = []
  for (const match of text.matchAll(new RegExp(patterns.join('|'), 'giu'))) {
    spans.push({ start: match.index, end: match.index + match[0].length })
    // Further ones lie beyond any snippet that begins at the first.
    if (spans.length >= maxHighlights) break
  }
  return spans
}

const splitsPair = (text: string, at: number) =>
  /[\uD800-\uDBFF]/.test(text[at - 1] ?? '') && /[\uDC00-\uDFFF]/.test(text[at] ?? '')

/**
 * The part of a text around the first hit, at most 240 UTF-16 units with its ellipses, and where the words are in it.
 * A text whose folding moves its letters has no highlights.
 */
export function snippetOf(text: string, words: readonly string[]): { snippet: string; highlights: Span[] } {
  const folded = text.normalize('NFKC')
  const direct = occurrences(text, words)
  const spans = direct.length === 0 && folded.length === text.length ? occurrences(folded, words) : direct
  const first = spans[0]?.start ?? 0
  if (text.length <= snippetLength) return { snippet: text, highlights: spans }
  let start = Math.max(0, Math.min(first - lead, text.length - snippetLength + 1))
  if (start > 0) {
    // At the beginning of a word, where one is near.
    const space = text.slice(start, Math.min(start + 24, first)).search(/\s\S/)
    if (space >= 0) start += space + 1
    if (splitsPair(text, start)) start += 1
  }
  const before = start > 0 ? '…' : ''
  let end = Math.min(text.length, start + snippetLength - before.length)
  if (end < text.length) end -= 1
  if (splitsPair(text, end)) end -= 1
  const after = end < text.length ? '…' : ''
  return {
    snippet: `${before}${text.slice(start, end)}${after}`,
    highlights: spans
      .filter((span) => span.start >= start && span.end <= end)
      .map((span) => ({
        start: span.start - start + before.length,
        end: span.end - start + before.length,
      })),
  }
}
