import type { StartRule } from '../../protocols/rules.ts'

const han = /\p{Script=Han}/u
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** A phrase as a pattern: Chinese anywhere, Latin as whole words; `analys*` takes every ending. */
function patternOf(phrase: string): string {
  const open = phrase.endsWith('*')
  const text = escaped((open ? phrase.slice(0, -1) : phrase).toLowerCase()).replace(/\s+/g, '\\s+')
  if (han.test(phrase)) return text
  return `(?<![\\p{L}\\p{N}])${text}${open ? '' : '(?![\\p{L}\\p{N}])'}`
}
const patterns = new WeakMap<readonly string[], RegExp>()
function hits(phrases: readonly string[], text: string): boolean {
  let pattern = patterns.get(phrases)
  if (!pattern) {
    pattern = phrases.length === 0 ? /(?!)/u : new RegExp(phrases.map(patternOf).join('|'), 'u')
    patterns.set(phrases, pattern)
  }
  return pattern.test(text)
}

/** Whether a rule hits a message: one of its alternatives has a phrase of each of its lists in it, and nothing speaks against it. */
export function startRuleHits(rule: StartRule, message: string): boolean {
  const text = message.normalize('NFKC').toLowerCase()
  if (rule.noneOf && hits(rule.noneOf, text)) return false
  return rule.anyOf.some(({ all }) => all.length > 0 && all.every((phrases) => hits(phrases, text)))
}
