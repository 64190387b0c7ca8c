import { regions } from './kit/page.ts'
import { expect, test } from './kit/test.ts'

test('the owner sends, steers, approves by keyboard and cancels; a second window sees it all live', async ({
  page,
  context,
  project,
}) => {
  const sessionId = await project.session('Regional sales decline')
  const second = await context.newPage()
  for (const window of [page, second]) await window.goto(project.path(`sessions/${sessionId}`))
  const [mine, theirs] = [regions(page), regions(second)]
  await expect(mine.live).toHaveAccessibleName('live')

  await mine.message.fill('Why did sales fall in May?')
  await mine.send.click()
  await expect(theirs.transcript.getByText('Why did sales fall in May?')).toBeVisible()

  const run = await project.agent.takes()
  await run.uses('list_data_sources', '3 sources')
  for (const { timeline } of [mine, theirs]) {
    await expect(timeline.getByText('list_data_sources')).toBeVisible()
    await expect(timeline.getByText('→ 3 sources, 41 ms')).toBeVisible()
  }

  await expect(page.getByText('goes to run 1 as guidance')).toBeVisible()
  await mine.message.fill('Only 2025, split by quarter')
  await mine.steer.click()
  expect(await run.isSteered()).toBe('Only 2025, split by quarter')
  for (const { timeline } of [mine, theirs])
    await expect(timeline.getByText('“Only 2025, split by quarter”')).toBeVisible()

  await run.asks('Scan about 14 GB of orders_2025?', { payload: { sql: 'select 1' } })
  await expect(theirs.timeline.getByRole('button', { name: 'Allow', exact: false }).first()).toBeVisible()
  await expect(mine.gate).toBeVisible()
  await mine.message.blur()
  await page.keyboard.press('a')
  expect(await run.isAnswered()).toBe('allow')
  for (const { timeline, gate } of [mine, theirs]) {
    await expect(gate).toBeHidden()
    await expect(timeline.getByText('allowed')).toBeVisible()
  }

  await run.streams('North fell 11.8 %')
  await expect(theirs.transcript.getByText('North fell 11.8 %')).toBeVisible()
  await page.getByRole('button', { name: 'Cancel run', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Cancel run 1?' })
  await dialog.getByLabel('Reason').fill('The question has changed')
  await dialog.getByRole('button', { name: 'Cancel run' }).click()
  expect(await run.isCancelled()).toBe('The question has changed')
  for (const { timeline, transcript } of [mine, theirs]) {
    await expect(timeline.getByText('reason: The question has changed')).toBeVisible()
    await expect(transcript.getByText('cancelled')).toBeVisible()
  }
  await expect(mine.send).toBeVisible()
})

test('a window that was offline has everything, once and in order, when it is back', async ({
  page,
  browser,
  server,
  ownerState,
  project,
}) => {
  const sessionId = await project.session('Watched from two places')
  const elsewhere = await browser.newContext({ storageState: ownerState, baseURL: server.url })
  const second = await elsewhere.newPage()
  for (const window of [page, second]) await window.goto(project.path(`sessions/${sessionId}?view=full`))
  const run = await project.turn(sessionId, 'Count the orders')
  await run.writes({ type: 'INFO', payload: { text: 'before' } })
  const away = regions(second)
  await expect(away.timeline.getByText('before')).toBeVisible()

  await elsewhere.setOffline(true)
  for (let step = 1; step <= 40; step += 1)
    await run.writes({ type: 'INFO', payload: { text: `while away ${step}` } })
  await run.completes('There are 2 400.')
  await expect(regions(page).transcript.getByText('There are 2 400.')).toBeVisible()
  await expect(away.transcript.getByText('There are 2 400.')).toBeHidden()
  await elsewhere.setOffline(false)

  await expect(away.transcript.getByText('There are 2 400.')).toHaveCount(1)
  await expect(away.live).toHaveAccessibleName('live')
  await expect(away.sequences).toHaveText(await regions(page).sequences.allTextContents())
  const read = await away.readAllSequences()
  expect(read).toEqual(read.map((_, index) => index + 1))
  expect(read.length).toBeGreaterThan(45)
  await elsewhere.close()
})
