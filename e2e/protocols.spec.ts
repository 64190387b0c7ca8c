import { givenProtocol, refundReview, refundReview2 } from './kit/protocols.ts'
import { expect, test } from './kit/test.ts'

test('a protocol is found by its name, its phases are drawn with what leads on, and each is explained', async ({
  page,
  project,
}) => {
  await givenProtocol(project, refundReview)
  await page.goto(project.path('inbox'))
  await expect(page.getByRole('banner').getByRole('status')).toHaveText('live')
  await page.keyboard.press('g')
  await page.keyboard.press('o')
  const table = page.getByRole('region', { name: 'Protocols' })
  await expect(table.getByRole('link', { name: 'Data analysis' })).toBeVisible()
  await page.keyboard.press('/')
  await page.keyboard.type('refund')
  await expect(table.getByRole('link')).toHaveText(['Refund review'])
  await expect(page).toHaveURL(/q=refund/)
  await table.getByRole('link', { name: 'Refund review' }).click()

  const graph = page.getByRole('region', { name: /^Phases of refund-review@1/ })
  await expect(graph.getByRole('button')).toHaveText([
    /look_into\s*initial.*3 actions/,
    /decide.*3 actions · 1 with approval/,
    /done\s*final/,
  ])
  await expect(graph).toContainText('after payments.read succeeds')
  await expect(graph).toContainText('after refund.pay fails')
  await expect(graph).toContainText('when refund_settled is true')
  const rules = page.getByRole('complementary', { name: 'Rules of the protocol' })
  await expect(rules).toContainText('REFUND_ASKED')
  await expect(rules).toContainText('Strict: a run can’t complete')

  // By the keyboard alone.
  await graph.getByRole('button', { name: /^Phase decide/ }).focus()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/phase=decide/)
  const phase = page.getByRole('complementary', { name: 'Phase decide' })
  await expect(phase.getByRole('listitem').filter({ hasText: 'refund.pay' }).first()).toContainText(
    'needs approval',
  )
  await phase.getByRole('button', { name: 'look_into' }).first().click()
  await expect(page.getByRole('complementary', { name: 'Phase look_into' })).toContainText(
    'everything that no protocol of the project governs',
  )
})

test('a new version appears where the protocol is open, and is compared with the one before in words and as text', async ({
  page,
  project,
}) => {
  await givenProtocol(project, refundReview)
  await page.goto(project.path('protocols/refund-review?tab=compare'))
  await expect(page.getByText('There is only one version')).toBeVisible()
  await givenProtocol(project, refundReview2)
  const words = page.getByRole('region', { name: 'What is different' })
  await expect(words.getByRole('listitem')).toContainText([
    'When the task was corrected: actions of the run go on → actions are refused (INTENT_STALE)',
    'Phase look_into',
    'allows customers.read',
    'Phase decide',
    'asks an owner before refund.decline',
  ])
  const text = page.getByRole('region', { name: 'As text' })
  await expect(text).toContainText('added: staleIntent: BLOCK')
  await page.getByRole('tab', { name: 'Definition' }).click()
  await page.getByText('As registered', { exact: true }).click()
  await expect(page.getByRole('region', { name: 'Definition of refund-review@2' })).toContainText(
    '# Refunds are money',
  )
})

test('where a protocol is used: the sessions whose task is under it', async ({ page, project }) => {
  const id = await project.session('Sales by region')
  await project.api.do(
    'submitTurn',
    { sessionId: id, text: 'Compare sales by region', protocol: 'data-analysis' },
    'cursor',
  )
  await page.goto(project.path('protocols/general-task?tab=use'))
  await expect(page.getByText('No session is under this version now')).toBeVisible()
  await page.goto(project.path('protocols'))
  await page
    .getByRole('row', { name: /Data analysis/ })
    .getByRole('link', { name: '1 session' })
    .click()
  const table = page.getByRole('region', { name: 'Sessions under data-analysis@1' })
  await expect(table.getByRole('row').nth(1)).toContainText('Compare sales by region')
  await table.getByRole('link', { name: 'Sales by region' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Sales by region' })).toBeVisible()
})

test('a protocol is registered: what is wrong is named at its place, mended, and the phases are there; then its next version', async ({
  page,
  project,
}) => {
  await page.goto(project.path('protocols'))
  await expect(page.getByRole('button', { name: 'New protocol' })).toBeVisible()
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Jump to anything' })
  await palette.getByRole('textbox').fill('new protocol')
  await palette.getByText('New protocol').click()
  const editor = page.getByRole('textbox', { name: 'Definition' })
  const write = async (text: string) => {
    await editor.click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.insertText(text)
  }
  // What the schema can say is said while it is written.
  await write(refundReview.replace('final: true', 'final: perhaps'))
  const wrong = page.getByRole('region', { name: 'Not as the schema says' })
  await expect(wrong).toContainText('phases[2].final')
  // What can't be read is marked where it breaks, and the last that could is still drawn.
  await write(refundReview.replace('[orders.read, payments.read, ungoverned]', '[orders.read'))
  await expect(page.getByRole('region', { name: 'This can’t be read' })).toContainText(/line \d+/)
  const graph = page.getByRole('region', { name: /^Phases of the draft/ })
  await expect(graph.getByRole('button')).toHaveCount(3)

  // What only the server can say is named by it, at its place, and what was typed stays.
  await write(refundReview.replace('- to: decide', '- to: decide_later'))
  await expect(page.getByText('As the schema says.')).toBeVisible()
  await page.getByRole('button', { name: 'Register' }).click()
  const refused = page.getByRole('region', { name: 'What kept it from being registered' })
  const flaw = refused.getByRole('button', { name: /UNKNOWN_PHASE/ })
  await expect(flaw).toContainText('line 10')
  await expect(flaw).toContainText('phases[0].transitions[0].to')
  await expect(editor).toContainText('decide_later')
  // It is kept even when the page is left, and the place is gone to with a click.
  await page.reload()
  await expect(editor).toContainText('decide_later')
  await page.getByRole('button', { name: 'Register' }).click()
  await flaw.click()
  await expect(editor).toBeFocused()
  await page.keyboard.press('End')
  for (const _ of '_later') await page.keyboard.press('Backspace')
  await page.getByRole('button', { name: 'Register' }).click()

  await expect(page.getByRole('heading', { level: 1, name: 'Refund review' })).toBeVisible()
  const phases = page.getByRole('region', { name: /^Phases of refund-review@1/ })
  await expect(phases.getByRole('button')).toHaveCount(3)

  // It is found by its name from anywhere.
  await page.keyboard.press('Control+k')
  await palette.getByRole('textbox').fill('refund-review')
  await expect(palette.getByText('refund-review@1')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(palette).toBeHidden()

  await page.getByRole('button', { name: 'New version' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'New version of Refund review' })).toBeVisible()
  await expect(editor).toContainText('# Refunds are money')
  await expect(editor).toContainText('version: 2')
  await write(refundReview2)
  await page.getByRole('button', { name: 'Register' }).click()
  await expect(page.getByRole('combobox', { name: 'Version' })).toHaveValue('2')
  await page.getByRole('tab', { name: 'Compare' }).click()
  await expect(page.getByRole('region', { name: 'What is different' })).toContainText(
    'asks an owner before refund.decline',
  )
})

test('what is built in is copied as a protocol of another name; the same version again is refused in words', async ({
  page,
  project,
}) => {
  await page.goto(project.path('protocols/data-analysis'))
  await page.getByRole('button', { name: 'Copy as a new protocol' }).click()
  const editor = page.getByRole('textbox', { name: 'Definition' })
  await expect(editor).toContainText('id: my-data-analysis')
  await page.getByText('JSON', { exact: true }).click()
  await expect(editor).toContainText('"id": "my-data-analysis"')
  await editor.click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(
    JSON.stringify({
      id: 'data-analysis',
      version: 2,
      title: 'Mine',
      initialPhase: 'only',
      phases: [{ name: 'only', allowedActions: ['ungoverned'], final: true }],
    }),
  )
  await page.getByRole('button', { name: 'Register' }).click()
  await expect(page.getByRole('alert')).toContainText('CONFLICT')
  await expect(editor).toContainText('"Mine"')
})
