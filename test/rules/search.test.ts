import {
  searchLimits,
  searchWords,
  snippetLength,
  snippetOf,
  tsqueryOf,
} from '@wheelhouse/server/domains/sessions/search/rules'
import { Refusal } from '@wheelhouse/server/platform/refusal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const marked = (text: string, ...words: string[]) => {
  const { snippet, highlights } = snippetOf(text, words)
  return highlights.map(({ start, end }) => snippet.slice(start, end))
}

describe('the words to look for', () => {
  test('are cut like the index: folded, each once, Chinese by dictionary', () => {
    expect(searchWords('Sales SALES, ＲＥＴＲＹ!')).toEqual(['sales', 'retry'])
    expect(searchWords('分析各地区销售额变化')).toContain('分析')
  })
  test('are at least one and not too many', () => {
    expect(searchWords(' … !')).toBeInstanceOf(Refusal)
    expect(searchWords('x'.repeat(searchLimits.characters + 1))).toBeInstanceOf(Refusal)
    const many = Array.from({ length: searchLimits.words + 1 }, (_, index) => `w${index}`).join(' ')
    expect(searchWords(many)).toBeInstanceOf(Refusal)
  })
  test('become a query in which nothing of them is an operator', () => {
    expect(tsqueryOf(["can't", 'a\\b', 'x'])).toBe("'can''t' & 'a\\\\b' & 'x':*")
  })
})

describe('a snippet', () => {
  test('of a short text is the text', () => {
    expect(snippetOf('The sales of May', ['sales'])).toEqual({
      snippet: 'The sales of May',
      highlights: [{ start: 4, end: 9 }],
    })
  })
  test('marks whole words, and the beginning of the last', () => {
    expect(marked('sale sales salesman', 'sales', 'sale')).toEqual(['sale', 'sales', 'sale'])
    expect(marked('resale Sale', 'sale')).toEqual(['Sale'])
    expect(marked('a c++ b', 'c', 'b')).toEqual(['c', 'b'])
  })
  test('marks Chinese wherever it is, and full-width letters', () => {
    expect(marked('请分析各地区销售额', '分析', '销售额')).toEqual(['分析', '销售额'])
    expect(marked('ＲＥＴＲＹ now', 'retry')).toEqual(['ＲＥＴＲＹ'])
  })
  test('of a long text lies around the first hit', () => {
    const text = `${'before '.repeat(200)}needle ${'after '.repeat(200)}`
    const { snippet } = snippetOf(text, ['needle'])
    expect(snippet.length).toBeLessThanOrEqual(snippetLength)
    expect(snippet).toMatch(/^…before .*needle after .*…$/)
    expect(marked(text, 'needle')).toEqual(['needle'])
  })
  test('without a hit is the beginning, with nothing marked', () => {
    const { snippet, highlights } = snippetOf('x '.repeat(500), ['y'])
    expect(snippet.startsWith('x x')).toBe(true)
    expect(highlights).toEqual([])
  })
  test('is bounded, cuts no letter in two, and marks in order, whatever the text', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('needle ', '分析', '😀', ' ', '\n'),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 300 }), (pieces) => {
        const text = pieces.join('')
        const { snippet, highlights } = snippetOf(text, ['needle', '分析'])
        expect(snippet.length).toBeLessThanOrEqual(snippetLength)
        expect(snippet).not.toMatch(/\p{Surrogate}/u)
        expect(text).toContain(snippet.replace(/^…|…$/g, ''))
        let last = 0
        for (const { start, end } of highlights) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(snippet.slice(start, end).toLowerCase()).toMatch(/needle|分析/)
          last = end
        }
      }),
    )
  })
})
