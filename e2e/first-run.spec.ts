import { regions } from './kit/page.ts'
import { startServer } from './kit/server.ts'
import { expect, ownerIdentity, test } from './kit/test.ts'

test('from the one-time link to a session that really ran: owner, project, guided session, done', async ({
  browser,
}) => {
  test.setTimeout(120_000)
  const server = await startServer({ WHEELHOUSE_SAMPLE: '1' })
  const context = await browser.newContext({
    baseURL: server.url,
    storageState: { cookies: [], origins: [] },
  })
  try {
    const page = await context.newPage()
    await page.goto('/')
    await expect(page.getByRole('heading', { name: 'This server has no owner yet' })).toBeVisible()
    expect(server.welcomeUrl).not.toBeNull()
    await page.goto(server.welcomeUrl ?? '')
    await expect(page.getByText('Step 1 of 3')).toBeVisible()
    await page.getByRole('textbox', { name: 'Your name' }).fill(ownerIdentity.name)
    await page.getByRole('textbox', { name: 'E-mail' }).fill(ownerIdentity.email)
    await page.getByRole('textbox', { name: 'Password' }).fill(ownerIdentity.password)
    await page.getByRole('button', { name: 'Create the owner' }).click()

    await expect(page.getByText('Step 2 of 3')).toBeVisible()
    await page.getByRole('textbox', { name: 'Project name' }).fill('Retail insights')
    await page.keyboard.press('Enter')

    await expect(page.getByText('Step 3 of 3')).toBeVisible()
    // It waits for the sample agent, which is a process of its own.
    const start = page.getByRole('button', { name: 'Start the guided session' })
    await expect(start).toBeEnabled({ timeout: 30_000 })
    await start.click()
    const guide = page.getByRole('region', { name: 'Guided session' })
    const { gate, timeline, transcript, live, message, send } = regions(page)
    await expect(guide).toBeVisible()
    await expect(live).toHaveAccessibleName('live')
    await expect(timeline.getByText('list_data_sources')).toBeVisible()
    await expect(gate).toBeVisible()

    const second = await context.newPage()
    await second.goto('/p/retail-insights/inbox')
    await expect(second.getByRole('heading', { name: '1 thing waits for you' })).toBeVisible()
    await page.bringToFront()
    await page.keyboard.press('a')
    await expect(second.getByRole('heading', { name: 'Nothing waits for you' })).toBeVisible()
    await expect(transcript.getByText('said done')).toBeVisible({ timeout: 30_000 })
    await expect(transcript.getByText(/North/).first()).toBeVisible()
    await expect(guide.locator('li[data-met="true"]')).toHaveCount(3)

    await guide.getByRole('button', { name: 'Close the guide' }).click()
    await message.fill('哪个地区在五月到六月之间下降最多？')
    await send.click()
    await expect(gate).toBeVisible()
    await page.getByRole('button', { name: 'Cancel run', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel run 2?' })
    await dialog.getByLabel('Reason').fill('Seen enough')
    await dialog.getByRole('button', { name: 'Cancel run' }).click()
    await expect(transcript.getByText('cancelled')).toBeVisible()
    await expect(gate).toBeHidden()

    // The link worked once.
    const stranger = await browser.newContext({ storageState: { cookies: [], origins: [] } })
    const late = await stranger.newPage()
    await late.goto(server.welcomeUrl ?? '')
    await expect(late.getByRole('heading', { name: 'This link does not work any more' })).toBeVisible()
    await stranger.close()
  } finally {
    await context.close()
    await server.close()
  }
})
