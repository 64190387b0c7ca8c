import { expect, ownerIdentity, test } from './kit/test.ts'

test.use({ storageState: { cookies: [], origins: [] } })

test('who is signed out is led to sign in, and from there to where they wanted to go', async ({
  page,
  project,
}) => {
  await page.goto(project.path('sessions?state=CLOSED'))
  await expect(page).toHaveURL(/\/sign-in/)
  await page.getByRole('textbox', { name: 'E-mail' }).fill(ownerIdentity.email)
  await page.getByRole('textbox', { name: 'Password' }).fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByText('E-mail or password is not right.')).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'E-mail' })).toHaveValue(ownerIdentity.email)

  await page.getByRole('textbox', { name: 'Password' }).fill(ownerIdentity.password)
  await page.getByRole('textbox', { name: 'Password' }).press('Enter')
  await expect(page).toHaveURL(/\/sessions\?state=CLOSED/)

  await page.getByRole('button', { name: /Settings of this browser/ }).click()
  await expect(page.getByText(`Signed in as ${ownerIdentity.name}`)).toBeVisible()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
})

test('signing in leads to no other site, whatever the address says', async ({ page }) => {
  await page.goto('/sign-in?next=//example.com/')
  await page.getByRole('textbox', { name: 'E-mail' }).fill(ownerIdentity.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(ownerIdentity.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible()
  expect(new URL(page.url()).hostname).toBe('127.0.0.1')
})

test('a link that was used, or made up, says what to do', async ({ page }) => {
  await page.goto('/welcome#code=made-up')
  await expect(page.getByRole('heading', { name: 'This link does not work any more' })).toBeVisible()
  await page.getByRole('link', { name: 'I have an account: sign in' }).click()
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
})
