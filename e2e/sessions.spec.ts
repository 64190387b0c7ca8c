import { expect, type Page, test } from './kit/test.ts'

const rowOf = (page: Page, title: string) => page.getByRole('row', { name: new RegExp(title) })
const peekOf = (page: Page) => page.getByRole('complementary', { name: 'Peek' })

test('filters live in the address, survive a reload, and are all visible and removable', async ({
  page,
  project,
}) => {
  const failed = await project.turn(await project.session('Import of May'), 'Import')
  await failed.fails('No feed.')
  const done = await project.turn(await project.session('Import of June'), 'Import')
  await done.completes('Imported.')
  await project.session('Something else')

  await page.goto(project.path('sessions'))
  await expect(page.getByText('3 sessions')).toBeVisible()
  await page.keyboard.press('/')
  await page.keyboard.type('Import')
  await expect(rowOf(page, 'Something else')).toBeHidden()
  await page.getByRole('button', { name: /^Filters/ }).click()
  await page.getByRole('menuitemcheckbox', { name: 'failed' }).click()
  await page.keyboard.press('Escape')
  await expect(rowOf(page, 'Import of June')).toBeHidden()
  await expect(rowOf(page, 'Import of May')).toBeVisible()
  await expect(page).toHaveURL(/q=Import/)
  await expect(page).toHaveURL(/FAILED/)

  await page.reload()
  await expect(rowOf(page, 'Import of May')).toBeVisible()
  await expect(rowOf(page, 'Import of June')).toBeHidden()
  await page.getByRole('button', { name: 'Remove filter failed' }).click()
  await expect(rowOf(page, 'Import of June')).toBeVisible()

  await page.getByRole('searchbox', { name: 'Find in titles' }).fill('nothing is called that')
  await expect(page.getByText('Nothing matches the filters')).toBeVisible()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect(rowOf(page, 'Something else')).toBeVisible()
})

test('what was said is found in English and in Chinese, marked, and one click from where it was said', async ({
  page,
  project,
}) => {
  const english = await project.turn(await project.session('May'), 'Why did the outdoor category decline?')
  await english.completes('Because it rained.')
  const chinese = await project.turn(await project.session('六月'), '分析各地区销售额变化')
  await chinese.completes('北方下降了百分之十二。')

  await page.goto(project.path('sessions'))
  await page.getByRole('combobox', { name: 'Where to look' }).selectOption('transcripts')
  const field = page.getByRole('searchbox', { name: 'Find in transcripts' })
  await field.fill('rained')
  const hits = page.getByRole('region', { name: 'Messages that match' })
  await expect(hits.getByRole('listitem')).toHaveCount(1)
  await expect(hits.locator('mark')).toHaveText('rained')

  await field.fill('销售额')
  await expect(hits.getByRole('link', { name: '六月' })).toBeVisible()
  await expect(hits.locator('mark').first()).toContainText('销售')
  await hits.getByRole('link', { name: '六月' }).click()
  await expect(page).toHaveURL(/event=2/)
  await expect(page.getByRole('complementary', { name: 'Event' })).toContainText('分析各地区销售额变化')
})

test('a saved view is shared by its link and fills only an empty address', async ({ page, project }) => {
  await project.session('Kept open')
  const closed = await project.session('Put away')
  await project.api.do('closeSession', { sessionId: closed }, 'session { id }')
  await page.goto(project.path('sessions?state=CLOSED'))
  await expect(rowOf(page, 'Put away')).toBeVisible()
  await expect(rowOf(page, 'Kept open')).toBeHidden()

  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Save view…' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Archive')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Archive' }).click()
  await page.getByRole('menuitem', { name: 'Copy link' }).click()
  const link = await page.evaluate(() => navigator.clipboard.readText())
  expect(new URL(link).search).toMatch(/^\?saved=/)

  await page.goto(link)
  await expect(page).toHaveURL(/state=CLOSED/)
  await expect(rowOf(page, 'Put away')).toBeVisible()
  await expect(rowOf(page, 'Kept open')).toBeHidden()

  const other = new URL(link)
  other.searchParams.set('state', 'OPEN')
  await page.goto(other.href)
  await expect(rowOf(page, 'Kept open')).toBeVisible()
  await expect(rowOf(page, 'Put away')).toBeHidden()
})

test('a session is made, walked to, renamed, closed, opened and deleted', async ({ page, project }) => {
  await page.goto(project.path('sessions'))
  await expect(page.getByText('No session yet')).toBeVisible()
  await page.getByRole('button', { name: 'New session' }).first().click()
  await page.getByRole('dialog').getByLabel('Title').fill('First draft')
  await page.getByRole('button', { name: 'Create session' }).click()
  await expect(page.getByRole('heading', { name: 'First draft', level: 1 })).toBeVisible()

  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await expect(rowOf(page, 'First draft')).toBeVisible()
  await page.keyboard.press('j')
  await peekOf(page).getByRole('button', { name: 'Rename…' }).click()
  await page.getByRole('dialog').getByLabel('Title').fill('Second draft')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await expect(rowOf(page, 'Second draft')).toBeVisible()

  await page.getByRole('link', { name: 'Second draft' }).click()
  const menu = page.getByRole('button', { name: /^More/ })
  await menu.click()
  await page.getByRole('menuitem', { name: 'Close session…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Close session' }).click()
  await expect(page.getByText('The session is closed. Nothing more will happen')).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeHidden()
  await page.getByRole('button', { name: 'Open it again' }).click()
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible()

  await menu.click()
  await page.getByRole('menuitem', { name: 'Delete session…' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('events')
  await dialog.getByRole('button', { name: 'Delete session' }).click()
  await expect(page.getByText('No session yet')).toBeVisible()
})

test('a session with a live run can’t be deleted, and the menu says why', async ({ page, project }) => {
  const sessionId = await project.session('Still at work')
  await project.turn(sessionId, 'Work')
  await page.goto(project.path(`sessions/${sessionId}`))
  await page.getByRole('button', { name: /^More/ }).click()
  const remove = page.getByRole('menuitem', { name: /^Delete session…/ })
  await expect(remove).toBeDisabled()
  await expect(remove).toContainText('A run is alive in this session')
})

test('case 40: of many sessions only a page is asked for and only the rows in view are in the document', async ({
  page,
  project,
}) => {
  await project.api.do(
    'updateProjectLimits',
    { projectId: project.id, limits: { maxOpenSessions: 1_000 } },
    'project { id }',
  )
  for (let batch = 0; batch < 6; batch += 1)
    await Promise.all(
      Array.from({ length: 25 }, (_, index) => project.session(`Session ${batch * 25 + index + 1}`)),
    )
  await page.goto(project.path('sessions'))
  await expect(page.getByText('150 sessions')).toBeVisible()
  expect(await page.getByRole('row').count()).toBeLessThan(60)
  const seen = new Set<string>()
  const list = page.getByRole('region', { name: 'Sessions' })
  await expect(async () => {
    for (const title of await list.getByRole('link').allTextContents()) seen.add(title)
    await list.evaluate((element) => element.scrollBy({ top: element.clientHeight / 2 }))
    expect(seen.size).toBe(150)
    expect(await page.getByRole('row').count()).toBeLessThan(60)
  }).toPass({ intervals: [20] })
})
