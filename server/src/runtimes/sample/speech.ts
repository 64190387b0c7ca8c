import { setTimeout as pause } from 'node:timers/promises'

const [pieceLength, pieceEveryMs] = [6, 25]
const [mergeMs, mergeBytes] = [100, 4_096]

/**
 * Speaks a text piece by piece, as a model would, and writes the first piece at once, then what has gathered in 100 ms or
 * to 4 KiB: a write for every piece would cost more and show nothing more. Breaks off when it is interrupted.
 */
export async function speak(
  text: string,
  to: { write(text: string): Promise<unknown>; interrupted(): boolean; signal: AbortSignal },
): Promise<void> {
  let gathered = ''
  let lastWrite = Number.NEGATIVE_INFINITY
  const write = async () => {
    const pending = gathered
    gathered = ''
    lastWrite = performance.now()
    if (pending) await to.write(pending)
  }
  for (const piece of text.match(new RegExp(`.{1,${pieceLength}}`, 'gsu')) ?? []) {
    if (to.interrupted()) {
      gathered += ' …'
      break
    }
    gathered += piece
    if (performance.now() - lastWrite >= mergeMs || Buffer.byteLength(gathered) >= mergeBytes) await write()
    await pause(pieceEveryMs, undefined, { signal: to.signal })
  }
  await write()
}
