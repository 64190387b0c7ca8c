import { regions, setPreferences } from './kit/page.ts'
import { expect, type Page, type Project, test } from './kit/test.ts'

/** Half an hour off the others, and never the zone of a machine that runs tests. */
const zone = 'America/St_Johns'

const clockIn = (iso: string, timeZone: string) =>
  new Date(iso).toLocaleTimeString('en-GB', { timeZone, hour12: false })

/** Every moment on the page: what it is and what is shown for it. */
const moments = (page: Page) =>
  page.locator('time').evaluateAll((elements) =>
    elements.map((element) => ({
      iso: element.getAttribute('datetime') ?? '',
      text: element.textContent ?? '',
    })),
  )

async function everyPage(project: Project) {
  const sessionId = await project.session('Clocks')
  const run = await project.turn(sessionId, 'Which time is it?')
  await run.uses('run_sql', '1 row')
  await run.fails('No clock.')
  return ['inbox', 'sessions', `sessions/${sessionId}`, `sessions/${sessionId}?event=2`, 'audit'].map(
    project.path,
  )
}

test('case 36: one chosen time zone is used on every page, and remembered', async ({ page, project }) => {
  const paths = await everyPage(project)
  await page.goto(paths[0] ?? '')
  await page.getByRole('button', { name: 'UTC. Settings of this browser' }).click()
  await page.getByLabel('Time zone').selectOption(zone)
  await page.getByLabel('Times').selectOption('absolute')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: `${zone}. Settings of this browser` })).toBeVisible()
  for (const path of paths) {
    await page.goto(path)
    await expect(page.locator('time').first()).toBeVisible()
    for (const { iso, text } of await moments(page)) expect(text).toContain(clockIn(iso, zone))
  }
})

test('a time tells both clocks and UTC, and a click copies it as ISO', async ({ page, project }) => {
  const [, , session = ''] = await everyPage(project)
  await page.goto(session)
  await setPreferences(page, { timeZone: zone })
  const time = regions(page)
    .transcript.getByRole('button', { name: /Copy \d{4}-/ })
    .first()
  const iso = (await time.locator('time').getAttribute('datetime')) ?? ''
  await time.hover()
  await expect(page.getByRole('tooltip')).toContainText(clockIn(iso, zone))
  await expect(page.getByRole('tooltip')).toContainText(`${clockIn(iso, 'UTC')} UTC`)
  await time.click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(iso)
})

test('language and theme are chosen once and hold in every window of the browser', async ({
  page,
  context,
  project,
}) => {
  await page.goto(project.path('sessions'))
  const second = await context.newPage()
  await second.goto(project.path('inbox'))
  await page.getByRole('button', { name: /Settings of this browser/ }).click()
  await page.getByLabel('Language').selectOption('zh')
  await page.getByLabel('主题').selectOption('dark')
  for (const window of [page, second]) {
    await expect(window.locator('html')).toHaveAttribute('lang', /^zh/)
    await expect(window.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
    await expect(window.getByRole('link', { name: '会话', exact: true })).toBeVisible()
  }
  await page.reload()
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
})
