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
    'When the task was corrected: ALLOW → BLOCK',
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
  await page.goto(project.path('protocols/data-analysis?tab=use'))
  const table = page.getByRole('region', { name: 'Sessions under data-analysis@1' })
  await expect(table.getByRole('row').nth(1)).toContainText('Compare sales by region')
  await table.getByRole('link', { name: 'Sales by region' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Sales by region' })).toBeVisible()
})
