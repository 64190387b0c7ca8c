import { regions } from './kit/page.ts'
import { type RunningServer, startServer } from './kit/server.ts'
import { expect, ownerIdentity, type Page, test } from './kit/test.ts'

const taskOf = (page: Page) =>
  page.getByRole('complementary', { name: 'Details' }).getByRole('region', { name: 'Task', exact: true })
const head = (page: Page) => page.locator('.session-head')

/** A project in which the agent that comes with the server is connected, and an open session of it. */
async function givenSample({ owner }: RunningServer) {
  const { project } = await owner.do<{ project: { id: string; slug: string } }>(
    'createProject',
    { name: 'Retail insights' },
    'project { id slug }',
  )
  const connected = async () => {
    const { project: now } = await owner.query<{ project: { runtimes: { state: string }[] } }>(
      'query($id:ID!){project(id:$id){runtimes{state}}}',
      { id: project.id },
    )
    return now.runtimes.some(({ state }) => state === 'CONNECTED')
  }
  await expect.poll(connected, { timeout: 30_000 }).toBe(true)
  const { session } = await owner.do<{ session: { id: string } }>(
    'createSession',
    { projectId: project.id, title: 'Regional sales' },
    'session { id }',
  )
  return `/p/${project.slug}/sessions/${session.id}`
}

async function says(page: Page, text: string) {
  const { message, send } = regions(page)
  // What is typed while a run lives is guidance for that run.
  await expect(send).toBeVisible()
  await message.fill(text)
  await send.click()
}
/** The state that the transcript shows of a run. */
const ended = (page: Page, number: number) =>
  expect(
    regions(page)
      .transcript.getByRole('article')
      .filter({ hasText: `run ${number}` })
      .filter({ hasText: 'said done' }),
  ).toBeVisible({ timeout: 30_000 })

test('an owner’s task from its analysis to a fork, in one window, and seen live in another', async ({
  browser,
  playwright,
}) => {
  test.setTimeout(180_000)
  const server = await startServer({ WHEELHOUSE_SAMPLE: '1' })
  const request = await playwright.request.newContext({ baseURL: server.url })
  try {
    const code = server.welcomeUrl?.split('#code=')[1]
    await request.post('/auth/redeem', { data: { code, ...ownerIdentity } })
    const context = await browser.newContext({
      baseURL: server.url,
      storageState: await request.storageState(),
      viewport: { width: 1440, height: 900 },
    })
    const path = await givenSample(server)
    const page = await context.newPage()
    const other = await context.newPage()
    for (const each of [page, other]) await each.goto(path)

    await test.step('an analysis is started by rule, goes through its phases, and its requirements are met', async () => {
      await says(page, 'Compare sales by region over the last two quarters')
      await ended(other, 1)
      await expect(
        taskOf(other).getByText('Compare sales by region over the last two quarters'),
      ).toBeVisible()
      await expect(taskOf(other).getByRole('button', { name: /^evidence: run_sql_readonly/ })).toBeVisible()
    })

    await test.step('“try again” goes on with the same task', async () => {
      await says(page, 'try again')
      await ended(other, 2)
      await expect(taskOf(other).getByText('r2', { exact: true })).toBeVisible()
    })

    await test.step('“split it by quarter” is beside the task, until one click makes it a part', async () => {
      await says(page, 'split it by quarter')
      await ended(page, 3)
      await regions(page).transcript.getByRole('button', { name: 'Make it part of the task' }).click()
      await expect(taskOf(other).getByText('split it by quarter')).toBeVisible()
      await says(page, 'try again')
      await ended(other, 4)
      await expect(regions(other).transcript.getByText(/Sales of 2026 by quarter/)).toBeVisible()
    })

    await test.step('a correction reaches the run that lives', async () => {
      await says(page, 'Which region’s sales fell the most between May and June, and why?')
      await expect(regions(page).gate).toBeVisible({ timeout: 30_000 })
      await other.bringToFront()
      await other.getByRole('button', { name: 'Correct task' }).click()
      const dialog = other.getByRole('dialog', { name: 'Correct the task' })
      await dialog
        .getByRole('textbox', { name: /^Task/ })
        .fill('Compare sales by category over the last two quarters')
      await dialog.getByLabel('Why').fill('Categories were meant.')
      await dialog.getByRole('button', { name: 'Correct', exact: true }).click()
      await page.bringToFront()
      await expect(
        taskOf(page).getByText('Compare sales by category over the last two quarters'),
      ).toBeVisible()
      await expect(regions(page).transcript.getByText(/The task was corrected\. Between Q1/)).toBeVisible({
        timeout: 30_000,
      })
      await regions(page).gate.getByRole('button', { name: /^Deny/ }).click()
      await ended(page, 5)
    })

    await test.step('an action before its turn is refused, and the reason stands where it was asked', async () => {
      await says(page, 'Compare sales by region, and run the SQL right away')
      await ended(page, 6)
      await other.bringToFront()
      const refused = regions(other).log.locator('.tl-row', { hasText: 'refused: not in phase' })
      await regions(other).log.evaluate((element) => element.scrollTo({ top: element.scrollHeight - 1_300 }))
      await expect(refused.first()).toBeVisible()
    })

    await test.step('the owner hands off to another protocol', async () => {
      await page.bringToFront()
      await page.getByRole('button', { name: 'Hand off' }).click()
      const dialog = page.getByRole('dialog', { name: 'Hand off to another protocol' })
      await dialog.getByLabel('To', { exact: true }).selectOption('general-task@1')
      await dialog.getByLabel('Why').fill('A text is wanted.')
      await dialog.getByRole('button', { name: 'Hand off' }).click()
      await expect(dialog).toBeHidden()
      await expect(head(other).getByText('general-task@1')).toBeVisible()
    })

    await test.step('a fork goes on from there, and nothing of its parent reaches it', async () => {
      const before = await taskOf(page).locator('.task-text').textContent()
      await page.getByRole('button', { name: 'Fork', exact: true }).click()
      await page.getByRole('button', { name: 'Fork and open' }).click()
      await expect(head(page).getByRole('heading', { name: /Regional sales \(/ })).toBeVisible()
      await other.bringToFront()
      await other.getByRole('button', { name: 'Correct task' }).click()
      const dialog = other.getByRole('dialog', { name: 'Correct the task' })
      await dialog.getByRole('textbox', { name: /^Task/ }).fill('Only the North')
      await dialog.getByLabel('Why').fill('The parent goes another way.')
      await dialog.getByRole('button', { name: 'Correct', exact: true }).click()
      await expect(taskOf(other).getByText('Only the North')).toBeVisible()
      await page.bringToFront()
      await page.reload()
      await expect(taskOf(page).locator('.task-text')).toHaveText(before ?? '')
    })
    await context.close()
  } finally {
    await request.dispose()
    await server.close()
  }
})
