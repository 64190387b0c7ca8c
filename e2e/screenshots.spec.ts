import { fileURLToPath } from 'node:url'
import { regions, setPreferences } from './kit/page.ts'
import { expect, type Page, test } from './kit/test.ts'

const results = fileURLToPath(new URL('results/', import.meta.url))

/** As the README shows it; nothing blinks, nothing is half loaded. */
async function picture(page: Page, name: string): Promise<void> {
  await page.evaluate(() => document.fonts.ready)
  await page.mouse.move(0, 0)
  await page.screenshot({ path: `${results}${name}.png`, animations: 'disabled', caret: 'hide' })
}

test('pictures of a session and of the inbox', async ({ page, retail }) => {
  const { project, busySessionId } = retail
  await page.goto(project.path('inbox'))
  await setPreferences(page, { theme: 'light', language: 'en', timeZone: 'Asia/Shanghai' })
  await page.getByRole('button', { name: 'Scan about 14 GB of orders_2025?' }).click()
  await expect(page.getByRole('button', { name: /^Allow A/ })).toBeVisible()
  await page.getByRole('heading', { level: 1 }).first().click()
  await picture(page, 'inbox-light')

  await page.goto(project.path(`sessions/${busySessionId}`))
  await expect(regions(page).gate).toBeVisible()
  await expect(regions(page).transcript.getByText('Asks: Scan about 14 GB')).toBeVisible()
  await expect(
    page.getByRole('complementary', { name: 'Details' }).getByText('run_sql', { exact: true }),
  ).toBeVisible()
  await picture(page, 'session-light')
  await setPreferences(page, { theme: 'dark' })
  await picture(page, 'session-dark')
})
