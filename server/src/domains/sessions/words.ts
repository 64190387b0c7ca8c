const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })

/**
 * Cuts a text into words for the search index, Chinese by dictionary and everything else at its spaces and marks, folded
 * (NFKC, lower case). Index and query are cut alike, which is what makes them meet.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = []
  for (const piece of segmenter.segment(text.normalize('NFKC').toLowerCase())) {
    if (piece.isWordLike) words.push(piece.segment)
  }
  return words
}
