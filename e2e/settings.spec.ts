import { givenProtocol, refundReview } from './kit/protocols.ts'
import { expect, type Project, test } from './kit/test.ts'

interface Settings {
  allowedProtocols: string[] | null
  routeCorrection: string
  skillDeny: string[]
  skillAllow: string[]
  mcpAllow: { server: string; tools: string[] }[]
}
async function settingsOf({ api, id }: Project): Promise<Settings> {
  const { project } = await api.query<{ project: Settings }>(
    'query($id: ID!) { project(id: $id) { allowedProtocols routeCorrection skillDeny skillAllow mcpAllow { server tools } } }',
    { id },
  )
  return project
}

test('an owner says what agents may work under and who undoes a wrong route', async ({ page, project }) => {
  await givenProtocol(project, refundReview)
  await page.goto(project.path('settings'))
  const section = page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'Protocols and routes' }) })
  await section.getByRole('radio', { name: 'Only these' }).check()
  await expect(section.getByRole('checkbox', { name: /General task/ })).toBeDisabled()
  await section.getByRole('checkbox', { name: /Refund review/ }).check()
  await section.getByRole('radio', { name: /An owner is asked first/ }).check()
  await section.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Saved')).toBeVisible()
  expect(await settingsOf(project)).toMatchObject({
    allowedProtocols: ['general-task', 'refund-review'],
    routeCorrection: 'OWNER_CONFIRMS',
  })

  // The protocols say so, where they are listed.
  await section.getByRole('link', { name: 'All protocols' }).click()
  await expect(page.getByRole('row', { name: /Data analysis/ })).toContainText('not allowed')
  await expect(page.getByRole('row', { name: /Refund review/ })).not.toContainText('not allowed')

  await page.goto(project.path('settings'))
  await section.getByRole('radio', { name: /^Every protocol/ }).check()
  await section.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await settingsOf(project)).allowedProtocols).toBeNull()
})

test('an owner hides skills, and all but the named tools of an MCP server', async ({ page, project }) => {
  await page.goto(project.path('settings'))
  const section = page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'Tools that agents are shown' }) })
  await section.getByRole('textbox', { name: 'Skills never shown' }).fill('deploy*\n\n deploy*\nrefund')
  await section.getByRole('button', { name: 'Name a server' }).click()
  await section.getByRole('textbox', { name: 'Server' }).fill('warehouse')
  await section.getByRole('textbox', { name: 'Its tools' }).fill('read_*')
  await section.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Saved')).toBeVisible()
  expect(await settingsOf(project)).toMatchObject({
    skillDeny: ['deploy*', 'refund'],
    skillAllow: [],
    mcpAllow: [{ server: 'warehouse', tools: ['read_*'] }],
  })

  // Somebody else was faster: what was typed stays, and is saved once it was seen.
  await project.api.do('updateProject', { projectId: project.id, routeCorrection: 'OFF' }, 'project { id }')
  await section.getByRole('textbox', { name: 'Only these skills' }).fill('report')
  await section.getByRole('button', { name: 'Save' }).click()
  await expect(section.getByRole('alert')).toContainText('CONFLICT')
  await expect(section.getByRole('textbox', { name: 'Only these skills' })).toHaveValue('report')
  await section.getByRole('button', { name: 'Remove warehouse' }).click()
  await section.getByRole('button', { name: 'Save' }).click()
  await expect
    .poll(() => settingsOf(project))
    .toMatchObject({ skillAllow: ['report'], mcpAllow: [], routeCorrection: 'OFF' })
})
