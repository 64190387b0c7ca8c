import { regions } from './kit/page.ts'
import { expect, type Page, type Project, test } from './kit/test.ts'

const details = (page: Page) => page.getByRole('complementary', { name: 'Details' })
const taskOf = (page: Page) => details(page).getByRole('region', { name: 'Task', exact: true })
const historyOf = (page: Page) => details(page).getByRole('region', { name: 'History' })
const head = (page: Page) => page.locator('.session-head')

/** A session whose live run works on an analysis. */
async function analysis(project: Project, title: string) {
  const sessionId = await project.session(title)
  await project.api.do(
    'submitTurn',
    { sessionId, text: 'Compare sales by region', protocol: 'data-analysis' },
    'cursor',
  )
  return { sessionId, run: await project.agent.takes() }
}

async function correct(page: Page, change: { text?: string; requirement?: string; note: string }) {
  await page.getByRole('button', { name: 'Correct task' }).click()
  const dialog = page.getByRole('dialog', { name: 'Correct the task' })
  if (change.text !== undefined) await dialog.getByRole('textbox', { name: /^Task/ }).fill(change.text)
  if (change.requirement !== undefined) {
    await dialog.getByRole('button', { name: 'Add a requirement' }).click()
    await dialog
      .getByRole('textbox', { name: /^Requirement \d+$/ })
      .last()
      .fill(change.requirement)
  }
  await dialog.getByLabel('Why').fill(change.note)
  return dialog
}

test('a task is corrected while its run lives, reverted, and its history says who, why and what', async ({
  page,
  project,
}) => {
  const { sessionId, run } = await analysis(project, 'Sales')
  await page.goto(project.path(`sessions/${sessionId}`))
  await expect(taskOf(page).getByText('Compare sales by region')).toBeVisible()
  await expect(taskOf(page).getByText('r1', { exact: true })).toBeVisible()

  const dialog = await correct(page, {
    text: 'Compare sales by category',
    requirement: 'Only 2026.',
    note: 'Categories were meant.',
  })
  await expect(dialog.getByLabel('Run 1 too, at once')).toBeChecked()
  await dialog.getByRole('button', { name: 'Correct', exact: true }).click()
  await expect(dialog).toBeHidden()
  await expect(taskOf(page).getByText('Compare sales by category')).toBeVisible()
  await expect(taskOf(page).getByText('Only 2026.')).toBeVisible()
  await expect(historyOf(page).getByText('“Categories were meant.”')).toBeVisible()
  await expect(historyOf(page).locator('ins', { hasText: 'category' })).toBeVisible()
  await expect(historyOf(page).locator('del', { hasText: 'region' })).toBeVisible()
  await expect(regions(page).timeline.getByText('Task corrected')).toBeVisible()

  await historyOf(page).getByRole('button', { name: 'Go back to r1' }).click()
  const revert = page.getByRole('dialog', { name: 'Go back to r1?' })
  await expect(revert.locator('ins', { hasText: 'region' })).toBeVisible()
  await revert.getByLabel('Reason').fill('Regions after all.')
  await revert.getByRole('button', { name: 'Go back' }).click()
  await expect(taskOf(page).getByText('Compare sales by region')).toBeVisible()
  await expect(taskOf(page).getByText('r3', { exact: true })).toBeVisible()
  await expect(taskOf(page).getByText('acts under')).toBeHidden()
  await expect(taskOf(page).getByText('Only 2026.')).toBeHidden()
  await run.fails('Enough')
})

test('a correction that leaves the live run alone says what the run acts under, until it is bound', async ({
  page,
  project,
}) => {
  const { sessionId, run } = await analysis(project, 'Later')
  await page.goto(project.path(`sessions/${sessionId}`))
  const dialog = await correct(page, { text: 'Compare sales by month', note: 'Next time.' })
  await dialog.getByLabel('From the next turn on').check()
  await dialog.getByRole('button', { name: 'Correct', exact: true }).click()
  await expect(taskOf(page).getByText('Run 1 acts under r1, the task is at r2.')).toBeVisible()
  await taskOf(page).getByRole('button', { name: 'Bind run 1 to r2' }).click()
  const bind = page.getByRole('dialog', { name: 'Bind run 1 to r2?' })
  await bind.getByLabel('Reason').fill('Now, please.')
  await bind.getByRole('button', { name: 'Bind' }).click()
  await expect(taskOf(page).getByText('Run 1 acts under')).toBeHidden()
  await run.fails('Enough')
})

test('two who correct at once: the second is told what the task is now, and keeps what was typed', async ({
  page,
  context,
  project,
}) => {
  const { sessionId, run } = await analysis(project, 'At once')
  const other = await context.newPage()
  for (const each of [page, other]) await each.goto(project.path(`sessions/${sessionId}`))
  const late = await correct(page, { text: 'Compare orders by region', note: 'Orders.' })
  const early = await correct(other, { text: 'Compare profit by region', note: 'Profit.' })
  await early.getByRole('button', { name: 'Correct', exact: true }).click()
  await expect(taskOf(other).getByText('Compare profit by region')).toBeVisible()

  await page.bringToFront()
  await late.getByRole('button', { name: 'Correct', exact: true }).click()
  await expect(late.getByText('The task has moved to r2 meanwhile')).toBeVisible()
  await expect(late.getByText('“Compare profit by region”')).toBeVisible()
  await expect(late.getByRole('textbox', { name: /^Task/ })).toHaveValue('Compare orders by region')
  await late.getByRole('button', { name: 'Go on from r2' }).click()
  await late.getByRole('button', { name: 'Correct', exact: true }).click()
  await expect(late).toBeHidden()
  await expect(taskOf(page).getByText('Compare orders by region')).toBeVisible()
  await expect(taskOf(other).getByText('Compare orders by region')).toBeVisible()
  await run.fails('Enough')
})

test('a strict protocol with open goals lets go only when an owner overrides it', async ({
  page,
  project,
}) => {
  const { sessionId, run } = await analysis(project, 'Strict')
  await page.goto(project.path(`sessions/${sessionId}`))
  const corrected = await correct(page, { requirement: 'Name the region.', note: 'It matters.' })
  await corrected.getByRole('button', { name: 'Correct', exact: true }).click()
  await expect(taskOf(page).getByText('Name the region.')).toBeVisible()

  await page.getByRole('button', { name: 'Hand off' }).click()
  const dialog = page.getByRole('dialog', { name: 'Hand off to another protocol' })
  await dialog.getByLabel('To', { exact: true }).selectOption('general-task@1')
  await dialog.getByLabel('Why').fill('A text is wanted.')
  await dialog.getByRole('button', { name: 'Hand off' }).click()
  await expect(dialog.getByText('The protocol is strict, and goals of it are open.')).toBeVisible()
  await expect(dialog.getByRole('listitem').getByText('Name the region.')).toBeVisible()
  await dialog.getByLabel('Leave it with goals open').check()
  await dialog.getByRole('button', { name: 'Hand off' }).click()
  await expect(dialog).toBeHidden()
  await expect(head(page).getByText(/general-task@1/)).toBeVisible()
  await run.fails('Enough')
})

test('a message that was taken as beside the task is made a part of it with one click', async ({
  page,
  project,
}) => {
  const { sessionId, run } = await analysis(project, 'Beside')
  await run.fails('Enough')
  const side = await project.turn(sessionId, 'Split it by quarter')
  await side.completes('That is beside the task.')
  await page.goto(project.path(`sessions/${sessionId}`))
  const { transcript } = regions(page)
  await transcript.getByRole('button', { name: 'Make it part of the task' }).click()
  await expect(taskOf(page).getByText('Split it by quarter')).toBeVisible()
  await expect(taskOf(page).getByText('r2', { exact: true })).toBeVisible()
  await expect(transcript.getByRole('button', { name: 'Make it part of the task' })).toBeHidden()

  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Route run 2 again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Route run 2 again' })
  await dialog.getByLabel('What the message is to the task').selectOption('leaves it alone')
  await dialog.getByLabel('Why').fill('It was beside it.')
  await dialog.getByRole('button', { name: 'Route again' }).click()
  await expect(dialog).toBeHidden()
  await expect(taskOf(page).getByText('Split it by quarter')).toBeHidden()
  await expect(historyOf(page).getByText('r3', { exact: true })).toBeVisible()
})
