const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })
/** The segmenter's work grows with the square of what it is given, so it gets a text in pieces of so many UTF-16 units. */
const pieceLength = 1_024
/** Words at a piece's end that the cut may have spoiled; the next piece begins with them. */
const cutAgain = 8

/** The words of a text in order, in time that grows with its length. */
function* segments(written: string): Generator<string> {
  const text = written.normalize('NFKC').toLowerCase()
  for (let start = 0; start < text.length; ) {
    const pieces = [...segmenter.segment(text.slice(start, start + pieceLength))]
    const ends = start + pieceLength >= text.length
    const whole = ends || pieces.length <= cutAgain ? pieces.length : pieces.length - cutAgain
    for (const piece of pieces.slice(0, whole)) if (piece.isWordLike) yield piece.segment
    start += pieces[whole]?.index ?? pieceLength
  }
}

/**
 * Cuts a text into words for the search index, Chinese by dictionary and everything else at its spaces and marks, folded
 * (NFKC, lower case). Index and query are cut alike, which is what makes them meet.
 */
export const wordsOf = (text: string): string[] => [...segments(text)]

/** So much of a tsvector, which holds at most a mebibyte, one message may take, with room for what the parser adds. */
const indexBytes = 500_000
/** What a word takes there beside its letters: its place, and what aligns it. */
const wordBytes = 5

/**
 * What of a message goes into the search index: its words, up to half a megabyte of index. What a longer one says after
 * that is kept and shown, and not found.
 */
export function indexOf(text: string): string {
  const words: string[] = []
  let bytes = 0
  for (const word of segments(text)) {
    bytes += Buffer.byteLength(word) + wordBytes
    if (bytes > indexBytes) break
    words.push(word)
  }
  return words.join(' ')
}
