import { expect, test } from './kit/test.ts'

test('the palette jumps to pages, sessions and pasted ids, and runs what the page offers', async ({
  page,
  project,
}) => {
  const sessionId = await project.session('Quarterly forecast')
  const palette = page.getByRole('dialog', { name: 'Jump to anything' })
  const field = palette.getByRole('textbox')
  await page.goto(project.path('inbox'))
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()

  await page.keyboard.press('Control+k')
  await field.fill('quarterly')
  await expect(palette.getByText('Quarterly forecast')).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Quarterly forecast', level: 1 })).toBeVisible()

  await page.keyboard.press('Control+k')
  await field.fill('rename')
  await expect(palette.getByText('Rename…')).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Rename session' })).toBeVisible()
  await page.keyboard.press('Escape')

  await page.goto('/health')
  await expect(page.getByRole('heading', { name: 'Database' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await field.fill(sessionId)
  await expect(palette.getByText('Quarterly forecast')).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(new RegExp(sessionId))

  // Somebody who types faster than the server answers loses nothing.
  await page.goto('/health')
  await expect(page.getByRole('heading', { name: 'Database' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await field.fill(sessionId)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(new RegExp(sessionId))

  await page.keyboard.press('Control+k')
  await field.fill('nothing is called that')
  await expect(palette.getByText('Nothing found')).toBeVisible()
})

test('g and a letter goes anywhere, ? lists the keys that work here, Escape closes', async ({
  page,
  project,
}) => {
  await page.goto(project.path('inbox'))
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
  const places = {
    s: /sessions$/,
    o: /protocols$/,
    r: /routing$/,
    p: /settings$/,
    h: /health$/,
    u: /audit$/,
    a: /access/,
    i: /inbox$/,
  }
  for (const [key, url] of Object.entries(places)) {
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    await expect(page).toHaveURL(url)
  }
  await page.keyboard.press('?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard' })
  await expect(sheet.getByText('Jump to anything, run any command')).toBeVisible()
  await expect(sheet.getByRole('heading', { name: 'Inbox' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(sheet).toBeHidden()
})

test('keys do nothing while somebody types', async ({ page, project }) => {
  const sessionId = await project.session('Typed into')
  const run = await project.turn(sessionId, 'Scan')
  await run.asks('Scan everything?')
  await page.goto(project.path(`sessions/${sessionId}`))
  const message = page.getByRole('textbox', { name: 'Message' })
  await message.pressSequentially('a quick check, dad? v gs')
  await expect(message).toHaveValue('a quick check, dad? v gs')
  await expect(page).toHaveURL(new RegExp(`${sessionId}$`))
  await expect(page.getByRole('button', { name: /^Allow A/ })).toBeVisible()
})
