import { regions } from './kit/page.ts'
import { expect, test } from './kit/test.ts'

test('a token is made, its secret shown once, used, seen in the list, and revoked', async ({
  page,
  project,
  server,
}) => {
  const name = `deploy ${project.slug}`
  await page.goto('/access?tab=tokens')
  await page.getByRole('button', { name: 'New token' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name)
  await dialog.getByRole('button', { name: 'Reader' }).click()
  await dialog.getByRole('button', { name: 'Create' }).click()
  await expect(dialog.getByText('This is the only time the secret is shown')).toBeVisible()
  await dialog.getByRole('button', { name: 'Copy secret' }).click()
  const secret = await page.evaluate(() => navigator.clipboard.readText())
  expect(secret.length).toBeGreaterThanOrEqual(32)
  const holder = server.owner.as(secret)
  const { viewer } = await holder.query<{ viewer: { capabilities: string[] } }>('{ viewer { capabilities } }')
  expect(viewer.capabilities.sort()).toEqual(['event.read', 'project.read', 'session.export', 'session.read'])
  await dialog.getByRole('button', { name: 'I have copied it' }).click()

  await page.reload()
  const row = page.getByRole('row', { name: new RegExp(name) })
  await expect(row).toContainText('active')
  await expect(page.getByText(secret)).toHaveCount(0)
  await row.getByRole('button', { name: 'Revoke' }).click()
  await expect(page.getByRole('dialog')).toContainText('stops within 5 seconds')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }).click()
  await expect(row).toContainText('revoked')
  expect(await holder.refusedQuery('{ viewer { capabilities } }')).toBe('UNAUTHENTICATED')
})

test('case 43: a member who only reads is offered nothing that would fail', async ({
  browser,
  page,
  project,
  server,
}) => {
  const sessionId = await project.session('Read by everybody')
  const run = await project.turn(sessionId, 'Scan')
  await run.asks('Scan everything?')
  const email = `reader-${project.slug}@example.com`

  await page.goto('/access')
  await page.getByRole('button', { name: 'New principal' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Ines Reader')
  await dialog.getByRole('textbox', { name: 'E-mail' }).fill(email)
  await dialog.getByLabel('Where').selectOption({ label: project.name })
  await dialog.getByRole('button', { name: 'Reader' }).click()
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByRole('button', { name: 'Copy link' }).click()
  const link = await page.evaluate(() => navigator.clipboard.readText())

  const other = await browser.newContext({ storageState: { cookies: [], origins: [] } })
  const reader = await other.newPage()
  await reader.goto(link)
  await expect(reader.getByRole('heading', { name: 'You are invited' })).toBeVisible()
  await reader.getByRole('textbox', { name: 'Password' }).fill('a long enough password')
  await reader.getByRole('button', { name: 'Accept' }).click()
  await expect(reader.getByRole('navigation', { name: 'Main' })).toBeVisible()

  await reader.goto(`${server.url}${project.path(`sessions/${sessionId}`)}`)
  const { timeline } = regions(reader)
  await expect(timeline.getByText('Scan everything?')).toBeVisible()
  await expect(timeline.getByText(/You may not answer this/)).toBeVisible()
  await expect(reader.getByText(/You may not write here/)).toBeVisible()
  for (const name of [/^Allow/, /^Deny/, /^Send/, /^Steer/, /^Cancel run/])
    await expect(reader.getByRole('button', { name, disabled: false })).toHaveCount(0)
  await reader.keyboard.press('a')
  await reader.getByRole('button', { name: /^More/ }).click()
  for (const name of [/^Rename/, /^Close session/, /^Delete session/])
    await expect(reader.getByRole('menuitem', { name }).and(reader.locator(':enabled'))).toHaveCount(0)
  await expect(reader.getByRole('menuitem', { name: 'Markdown' })).toBeEnabled()

  await reader.goto(`${server.url}${project.path('sessions')}`)
  await expect(reader.getByRole('link', { name: 'Read by everybody' })).toBeVisible()
  await expect(reader.getByRole('button', { name: 'New session' })).toHaveCount(0)
  await reader.goto(`${server.url}${project.path('settings')}`)
  await expect(reader.getByText('You may read these settings, not change them.').first()).toBeVisible()
  await expect(reader.getByRole('button', { name: /^Save/, disabled: false })).toHaveCount(0)
  await reader.goto(`${server.url}/health`)
  await expect(reader.getByText('You may not see this')).toBeVisible()

  const open = 'query($id: ID!) { approvals(projectId: $id, open: true) { nodes { state } } }'
  const { approvals } = await server.owner.query<{ approvals: { nodes: object[] } }>(open, { id: project.id })
  expect(approvals.nodes).toEqual([{ state: 'OPEN' }])
  await other.close()
})

test('a member whose access is withdrawn is told so while the page is open', async ({
  browser,
  project,
  server,
}) => {
  const email = `leaving-${project.slug}@example.com`
  const sessionId = await project.session('Seen for a while')
  const grants = [{ projectId: project.id, capabilities: ['project.read', 'session.read', 'event.read'] }]
  const { principal, signInUrl } = await project.api.do<{
    principal: { id: string; grants: { id: string }[] }
    signInUrl: string
  }>(
    'createPrincipal',
    { kind: 'PERSON', name: 'Leaving', email, grants },
    'principal { id grants { id } } signInUrl',
  )
  const other = await browser.newContext({ storageState: { cookies: [], origins: [] } })
  const member = await other.newPage()
  await member.goto(new URL(signInUrl, server.url).href)
  await member.getByRole('textbox', { name: 'Password' }).fill('a long enough password')
  await member.getByRole('button', { name: 'Accept' }).click()
  await expect(member.getByRole('navigation', { name: 'Main' })).toBeVisible()
  await member.goto(`${server.url}${project.path(`sessions/${sessionId}`)}`)
  await expect(regions(member).log.getByText('Session created')).toBeVisible()
  for (const { id } of principal.grants) await project.api.do('revokeGrant', { grantId: id }, 'grant { id }')
  await expect(member.getByText('Your access to this session was withdrawn.')).toBeVisible()
  await other.close()
})
