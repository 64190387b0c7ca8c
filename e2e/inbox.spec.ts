import { expect, type Page, test } from './kit/test.ts'

const parts = (page: Page) => ({
  heading: page.getByRole('heading', { level: 1 }).first(),
  answer: page.getByRole('region', { name: 'Answer' }),
  look: page.getByRole('region', { name: 'Look at' }),
  handled: page.getByRole('region', { name: 'Handled today' }),
  snoozed: page.getByRole('region', { name: 'Snoozed' }),
  pane: page.getByRole('complementary', { name: 'Open item' }),
  badge: page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Inbox/ }),
})

test('an empty inbox says that nothing waits and what will appear', async ({ page, project }) => {
  await page.goto(project.path('inbox'))
  await expect(page.getByRole('heading', { name: 'Nothing waits for you' })).toBeVisible()
  await expect(page.getByText('appear here as they happen')).toBeVisible()
})

test('case 22: each ask appears by itself and is answered with one key; the next one follows', async ({
  page,
  project,
}) => {
  await page.goto(project.path('inbox'))
  const { heading, answer, handled, pane, badge } = parts(page)
  await expect(heading).toHaveText('Nothing waits for you')

  const runs = []
  for (const title of ['Drop the index?', 'Mail everybody?'] as const) {
    const run = await project.turn(await project.session(`Session of ${title}`), 'Go on')
    await run.asks(title, { payload: { command: 'do it' } })
    runs.push(run)
  }
  const question = await project.turn(await project.session('Calendar'), 'Which quarter?')
  await question.asks('Fiscal or calendar?', {
    kind: 'QUESTION',
    options: ['fiscal', 'calendar'],
    defaultDecision: 'fiscal',
  })
  await expect(heading).toHaveText('3 things wait for you')
  await expect(badge).toHaveText(/3/)

  await expect(pane.getByRole('heading', { name: 'Drop the index?' })).toBeVisible()
  await expect(pane.getByText('command: do it')).toBeVisible()
  await page.keyboard.press('a')
  expect(await runs[0]?.isAnswered()).toBe('allow')

  await expect(pane.getByRole('heading', { name: 'Mail everybody?' })).toBeVisible()
  await page.keyboard.press('d')
  expect(await runs[1]?.isAnswered()).toBe('deny')

  await expect(pane.getByRole('heading', { name: 'Fiscal or calendar?' })).toBeVisible()
  await page.keyboard.press('2')
  expect(await question.isAnswered()).toBe('calendar')

  await expect(heading).toHaveText('Nothing waits for you')
  await expect(answer).toBeHidden()
  await expect(handled.getByRole('listitem')).toHaveCount(3)
})

test('allowing and steering is one step: the answer and the guidance both arrive', async ({
  page,
  project,
}) => {
  const run = await project.turn(await project.session('Sales'), 'Scan')
  await run.asks('Scan everything?')
  await page.goto(project.path('inbox'))
  await expect(parts(page).pane.getByRole('heading', { name: 'Scan everything?' })).toBeVisible()
  await page.keyboard.press('Shift+A')
  await page.getByLabel('What the agent should mind').fill('Only the outdoor category')
  await page.keyboard.press('Enter')
  expect(await run.isAnswered()).toBe('allow')
  expect(await run.isSteered()).toBe('Only the outdoor category')
})

test('failed work is acknowledged and put back by key; an open ask can’t be acknowledged away', async ({
  page,
  project,
}) => {
  const failing = await project.turn(await project.session('Nightly import'), 'Import')
  await failing.fails('The feed is gone.')
  const asking = await project.turn(await project.session('Scan'), 'Scan')
  await asking.asks('Scan it?')
  await page.goto(project.path('inbox'))
  const { heading, look, handled, pane } = parts(page)

  await expect(pane.getByRole('heading', { name: 'Scan it?' })).toBeVisible()
  await expect(pane.getByRole('button', { name: 'Snooze S' })).toBeVisible()
  await expect(pane.getByRole('button', { name: 'Acknowledge E' })).toBeHidden()

  await page.keyboard.press('j')
  await expect(pane.getByRole('heading', { name: 'Nightly import' })).toBeVisible()
  await expect(pane.getByText('The feed is gone.').first()).toBeVisible()
  await page.keyboard.press('e')
  await expect(look).toBeHidden()
  await expect(heading).toHaveText('1 thing waits for you')
  await handled.getByRole('button', { name: 'Nightly import' }).click()
  await pane.getByRole('button', { name: 'Put back' }).click()
  await expect(look.getByRole('listitem')).toHaveCount(1)
})

test('what is snoozed stays in sight under its own heading, with the time when it returns', async ({
  page,
  project,
}) => {
  const run = await project.turn(await project.session('Nightly import'), 'Import')
  await run.fails('The feed is gone.')
  await page.goto(project.path('inbox'))
  const { heading, snoozed } = parts(page)
  await expect(heading).toHaveText('1 thing waits for you')
  await page.keyboard.press('s')
  await page.getByRole('menuitem', { name: 'For an hour' }).click()
  await expect(snoozed.getByRole('listitem')).toContainText('Nightly import')
  await expect(snoozed.getByRole('listitem')).toContainText('back')
})

test('a kind that is filtered away is named, and one click shows everything again', async ({
  page,
  project,
}) => {
  const run = await project.turn(await project.session('Nightly import'), 'Import')
  await run.fails('The feed is gone.')
  await page.goto(project.path('inbox'))
  await page.getByRole('button', { name: 'kind: all' }).click()
  await page.getByRole('menuitem', { name: 'question' }).click()
  await expect(page).toHaveURL(/kind=QUESTION/)
  await expect(page.getByText('Nothing matches the filters')).toBeVisible()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect(parts(page).look.getByRole('listitem')).toHaveCount(1)
})

test('case 08: an answered approval is shown as answered when its session is opened again', async ({
  page,
  project,
}) => {
  const sessionId = await project.session('Answered long ago')
  const run = await project.turn(sessionId, 'Scan')
  const approvalId = await run.asks('Scan everything?')
  await project.api.do('resolveApproval', { approvalId, decision: 'deny', note: 'Too dear' }, 'run { id }')
  await run.completes('Then not.')
  await page.goto(project.path(`sessions/${sessionId}`))
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await expect(timeline.getByText('denied')).toBeVisible()
  await expect(timeline.getByText('Too dear')).toBeVisible()
  await expect(page.getByRole('button', { name: /^Allow/ })).toHaveCount(0)
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.keyboard.press('a')
  await page.goto(project.path('inbox'))
  await expect(page.getByRole('heading', { name: 'Nothing waits for you' })).toBeVisible()
})
