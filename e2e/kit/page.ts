import { expect, type Page } from '@playwright/test'

export interface Preferences {
  theme?: 'system' | 'light' | 'dark'
  language?: 'en' | 'zh'
  timeZone?: string
  timeStyle?: 'automatic' | 'relative' | 'absolute'
}

/** Chosen in another window of the same browser: the open page follows without being loaded again. */
export async function setPreferences(page: Page, change: Preferences): Promise<void> {
  await page.evaluate((wanted) => {
    const key = 'wheelhouse.preferences'
    const next = { ...JSON.parse(localStorage.getItem(key) ?? '{}'), ...wanted }
    localStorage.setItem(key, JSON.stringify(next))
    dispatchEvent(new StorageEvent('storage', { key }))
  }, change)
}

/** The parts of the session page, by the names that people and screen readers know them by. */
export function regions(page: Page) {
  const timeline = page.getByRole('region', { name: 'Timeline' })
  const log = timeline.getByRole('log')
  const sequences = log.getByRole('button', { name: /^Open event \d+$/ })
  return {
    live: page.getByRole('banner').getByRole('status'),
    transcript: page.getByRole('region', { name: 'Transcript' }),
    timeline,
    log,
    sequences,
    message: page.getByRole('textbox', { name: 'Message' }),
    send: page.getByRole('button', { name: /^Send/ }),
    steer: page.getByRole('button', { name: /^Steer/ }),
    /** The first approval that waits for an answer in the timeline. */
    gate: timeline.locator('.tl-gate').first(),
    /** Walks the timeline from its start to its end and gives every row's sequence, in the order they stand. */
    async readAllSequences(): Promise<number[]> {
      const read: number[] = []
      // What is older is fetched when somebody comes to the top, and stands above then.
      let top: string | null = null
      const isTop = async () => {
        await log.evaluate((element) => element.scrollTo({ top: 0 }))
        const before = top
        top = await sequences.first().textContent()
        return top === before
      }
      await expect.poll(isTop, { intervals: [100] }).toBe(true)
      for (let still = 0; still < 3; ) {
        const shown = (await sequences.allTextContents()).map((text) => Number(text.slice(1)))
        // Older ones may come in above while it is read; whatever is in view is in order, each once.
        expect(shown).toEqual([...new Set(shown)].sort((a, b) => a - b))
        const fresh = shown.filter((sequence) => !read.includes(sequence))
        read.push(...fresh)
        const moved = await log.evaluate((element) => {
          const before = element.scrollTop
          element.scrollBy({ top: element.clientHeight / 2 })
          return element.scrollTop !== before
        })
        still = moved || fresh.length > 0 ? 0 : still + 1
      }
      return read.sort((a, b) => a - b)
    },
  }
}
