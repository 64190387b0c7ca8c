import { readFile } from 'node:fs/promises'
import { givenHistory } from './kit/history.ts'
import { regions } from './kit/page.ts'
import { expect, type Page, type Project, test } from './kit/test.ts'

/** What opening a session costs: requests, bytes that came with them, and elements in the document. */
async function costOfOpening(page: Page, project: Project, sessionId: string, last: number) {
  const sizes: Promise<number>[] = []
  page.on('response', (response) => {
    if (!response.url().endsWith('/graphql') || response.request().method() !== 'POST') return
    sizes.push(response.body().then((body) => body.length))
  })
  await page.goto(project.path(`sessions/${sessionId}`))
  await expect(
    regions(page).log.getByRole('button', { name: `Open event ${last}`, exact: true }),
  ).toBeVisible()
  await page.waitForLoadState('networkidle')
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  return { requests: sizes.length, bytes, rows: await regions(page).sequences.count() }
}

test('a session of 100 000 events opens as one of 200 does, and is read from either end', async ({
  page,
  context,
  project,
  server,
}) => {
  const small = await project.session(`Small ${project.slug}`)
  const large = await project.session(`Large ${project.slug}`)
  await givenHistory(server, `Small ${project.slug}`, 200)
  await givenHistory(server, `Large ${project.slug}`, 100_000)
  const first = await costOfOpening(await context.newPage(), project, small, 201)
  const cost = await costOfOpening(page, project, large, 100_001)
  expect(cost.requests).toBeLessThanOrEqual(first.requests)
  expect(cost.bytes).toBeLessThan(first.bytes * 1.3)
  expect(cost.rows).toBeLessThan(80)
  await expect(page.getByText('100,001 events').or(page.getByText('100001 events'))).toBeVisible()

  const { log, timeline } = regions(page)
  await page.keyboard.press('g')
  await page.keyboard.press('g')
  await expect(timeline.getByText('Beginning of the session')).toBeVisible()
  await expect(log.getByText('Session created')).toBeVisible()
  await page.keyboard.press('Shift+G')
  await expect(log.getByText('step 100000')).toBeVisible()
})

test('an event has a link that opens it in the middle of a long session', async ({
  page,
  project,
  server,
}) => {
  const sessionId = await project.session(`Long ${project.slug}`)
  await givenHistory(server, `Long ${project.slug}`, 5_000)
  await page.goto(project.path(`sessions/${sessionId}?event=2501`))
  const panel = page.getByRole('complementary', { name: 'Event' })
  await expect(panel.getByRole('heading', { name: 'Event #2501' })).toBeVisible()
  await expect(panel.getByText('"text": "step 2500"')).toBeVisible()
  const row = page.getByRole('button', { name: 'Open event 2501' })
  await expect(row).toBeInViewport()
  await expect(row).toHaveAttribute('aria-current', 'true')

  await page.keyboard.press('j')
  await expect(page).toHaveURL(/event=2502/)
  await panel.getByRole('button', { name: 'Copy link' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url())
  await page.keyboard.press('Escape')
  await expect(panel).toBeHidden()
  await expect(page).not.toHaveURL(/event=/)
})

test('a session opens at its live edge, also where a page of events folds into less than a screen of rows', async ({
  page,
  project,
}) => {
  const sessionId = await project.session('Much in little')
  const run = await project.turn(sessionId, 'Work')
  for (let round = 0; round < 30; round++)
    await run.writes(
      ...Array.from({ length: 9 }, (_, n) => ({ type: 'ANSWER_DELTA', payload: { text: `${n} ` } })),
      { type: 'INFO', payload: { text: `round ${round}` } },
    )
  await page.goto(project.path(`sessions/${sessionId}`))
  const { log, timeline } = regions(page)
  await expect(log.getByText('round 29')).toBeVisible()
  await expect(timeline.getByText('Beginning of the session')).toBeAttached()
  await expect(log.getByText('round 29')).toBeInViewport()
  await run.writes({ type: 'INFO', payload: { text: 'and more' } })
  await expect(log.getByText('and more')).toBeInViewport()
})

test('what arrives while the tail is paused, or while older events are read, is counted and never moves the page', async ({
  page,
  project,
}) => {
  const sessionId = await project.session('Much to read')
  const run = await project.turn(sessionId, 'Work')
  await run.writes(
    ...Array.from({ length: 60 }, (_, index) => ({ type: 'INFO', payload: { text: `note ${index}` } })),
  )
  await page.goto(project.path(`sessions/${sessionId}`))
  const { log, timeline } = regions(page)
  await expect(log.getByText('note 59')).toBeVisible()

  await timeline.getByRole('button', { name: 'Pause' }).click()
  await run.writes({ type: 'INFO', payload: { text: 'while paused 1' } })
  await run.writes({ type: 'INFO', payload: { text: 'while paused 2' } })
  await expect(timeline.getByRole('button', { name: /^2 new/ })).toBeVisible()
  await expect(log.getByText('while paused 1')).toBeHidden()
  await timeline.getByRole('button', { name: 'Go on' }).click()
  await expect(log.getByText('while paused 2')).toBeVisible()

  await log.evaluate((element) => element.scrollTo({ top: 0 }))
  await expect(log.getByText('note 3', { exact: true })).toBeInViewport()
  const before = await log.getByText('note 3', { exact: true }).boundingBox()
  await run.writes({ type: 'INFO', payload: { text: 'while reading' } })
  const pill = timeline.getByRole('button', { name: /^1 new/ })
  await expect(pill).toBeVisible()
  expect(await log.getByText('note 3', { exact: true }).boundingBox()).toEqual(before)
  await pill.click()
  await expect(log.getByText('while reading')).toBeInViewport()
})

test('compact folds what full shows, by button and by key, and the address remembers it', async ({
  page,
  project,
}) => {
  const sessionId = await project.session('Folded')
  const run = await project.turn(sessionId, 'Work')
  await run.uses('run_sql', '4 rows')
  await run.streams('North ')
  await run.streams('fell.')
  await page.goto(project.path(`sessions/${sessionId}`))
  const { log, sequences, timeline } = regions(page)
  await expect(log.getByText('North fell.')).toBeVisible()
  const folded = await sequences.count()
  await page.keyboard.press('v')
  await expect(page).toHaveURL(/view=full/)
  await expect(log.getByText('Route decided')).toBeVisible()
  expect(await sequences.count()).toBeGreaterThan(folded)

  await timeline.getByRole('button', { name: /^all types/ }).click()
  await page.getByRole('menuitemcheckbox', { name: 'Tools' }).click()
  await page.keyboard.press('Escape')
  await expect(log.getByText('Route decided')).toBeHidden()
  await expect(log.getByText('run_sql').first()).toBeVisible()
  await page.reload()
  await expect(log.getByText('run_sql').first()).toBeVisible()
  await expect(log.getByText('Route decided')).toBeHidden()
})

test('a session is exported, and copied as GraphQL and as a curl that works', async ({
  page,
  project,
  server,
}) => {
  const sessionId = await project.session('To take along')
  const run = await project.turn(sessionId, 'Why did sales fall?')
  await run.completes('Because it rained in 北方.')
  await page.goto(project.path(`sessions/${sessionId}`))
  const menu = page.getByRole('button', { name: /^More/ })
  for (const [format, ending] of Object.entries({ Markdown: 'md', JSON: 'json', 'JSON lines': 'jsonl' })) {
    await menu.click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: format, exact: true }).click()
    const file = await download
    expect(file.suggestedFilename()).toMatch(new RegExp(`\\.${ending}$`))
    const text = await readFile(await file.path(), 'utf8')
    expect(text).toContain('Because it rained in 北方.')
  }

  const clipboard = () => page.evaluate(() => navigator.clipboard.readText())
  await menu.click()
  await page.getByRole('menuitem', { name: 'Copy as curl' }).click()
  const curl = await clipboard()
  const [, body = ''] = /-d '(.*)'$/s.exec(curl) ?? []
  const { query, variables } = JSON.parse(body)
  const { session } = await server.owner.query<{ session: { title: string } }>(query, variables)
  expect(session.title).toBe('To take along')
  await menu.click()
  await page.getByRole('menuitem', { name: 'Copy as GraphQL' }).click()
  expect(await clipboard()).toContain(sessionId)
})

test('what an agent wrote is text, whatever it looks like', async ({ page, project }) => {
  const sessionId = await project.session('<b>bold</b> title')
  const run = await project.turn(sessionId, 'Say something')
  const attack = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>'
  await run.uses('run_sql', attack)
  await run.asks(attack, { payload: { html: attack } })
  await page.goto(project.path(`sessions/${sessionId}`))
  await expect(page.getByRole('heading', { name: '<b>bold</b> title' })).toBeVisible()
  await expect(regions(page).timeline.getByText('<script>').first()).toBeVisible()
  await page.goto(project.path('inbox'))
  await expect(
    page.getByRole('complementary', { name: 'Open item' }).getByText('<script>').first(),
  ).toBeVisible()
  await expect(page).not.toHaveTitle('owned')
  expect(await page.locator('img[src=x]').count()).toBe(0)
})
