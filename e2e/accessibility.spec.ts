import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { givenFamily } from './kit/family.ts'
import { setPreferences } from './kit/page.ts'
import { givenProtocol, refundReview, refundReview2 } from './kit/protocols.ts'
import { expect, type Project, test } from './kit/test.ts'

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa']
/** Each theme with each language and each width. */
const looks = [
  { theme: 'light', language: 'en', width: 1280 },
  { theme: 'dark', language: 'zh', width: 1280 },
  { theme: 'light', language: 'zh', width: 390 },
  { theme: 'dark', language: 'en', width: 390 },
] as const

/** Every violation in every look of the page that is open, which is never loaded again in between. */
async function violationsOf(page: Page, name: string): Promise<string[]> {
  const found: string[] = []
  for (const { theme, language, width } of looks) {
    await page.setViewportSize({ width, height: 800 })
    await setPreferences(page, { theme, language })
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', theme)
    if (process.env.LOOKS) {
      const path = `results/looks/${name.replaceAll(/\W+/g, '-')}-${theme}-${language}-${width}.png`
      await page.screenshot({ path, animations: 'disabled' })
    }
    const { violations } = await new AxeBuilder({ page }).withTags(standards).setLegacyMode().analyze()
    for (const { id, nodes } of violations)
      for (const { target, failureSummary } of nodes)
        found.push(`${id} (${theme}, ${language}, ${width} px) ${target.join(' ')}: ${failureSummary}`)
  }
  return found
}

type Route = { name: string; open: (page: Page, project: Project) => Promise<void> }
const routes: Route[] = [
  {
    name: 'inbox',
    open: async (page, project) => {
      await page.goto(project.path('inbox'))
      await page.getByRole('button', { name: 'Scan about 14 GB of orders_2025?' }).click()
      await expect(page.getByRole('button', { name: /^Allow A/ })).toBeVisible()
    },
  },
  {
    name: 'sessions with a peek',
    open: async (page, project) => {
      await page.goto(project.path('sessions?state=OPEN'))
      await page.getByRole('row', { name: /Churn review/ }).click({ position: { x: 5, y: 5 } })
      await expect(page.getByRole('complementary', { name: 'Peek' })).toBeVisible()
    },
  },
  {
    name: 'transcript search',
    open: async (page, project) => {
      await page.goto(project.path('sessions?in=transcripts&q=churn'))
      await expect(page.getByRole('link', { name: 'Churn review' }).first()).toBeVisible()
    },
  },
  {
    name: 'session that waits for an answer',
    open: async (page, project) => {
      await page.goto(project.path('sessions'))
      await page.getByRole('link', { name: 'Regional sales decline' }).click()
      await expect(page.getByText('Scan about 14 GB of orders_2025?').first()).toBeVisible()
    },
  },
  {
    name: 'session with an open event',
    open: async (page, project) => {
      await page.goto(project.path('sessions'))
      await page.getByRole('link', { name: 'Churn review' }).click()
      await page.getByRole('button', { name: 'Open event 2', exact: true }).click()
      await expect(page.getByRole('complementary', { name: 'Event' })).toContainText('Is churn stable?')
    },
  },
  {
    name: 'branches of a session',
    open: async (page, project) => {
      const id = await givenFamily(project)
      await page.goto(project.path(`sessions/${id}/branches?view=graph`))
      await expect(page.getByRole('link', { name: 'Only the coast' })).toBeVisible()
    },
  },
  {
    name: 'branches as a list',
    open: async (page, project) => {
      const id = await givenFamily(project)
      await page.goto(project.path(`sessions/${id}/branches?view=list`))
      await expect(page.getByRole('link', { name: 'Only the coast' })).toBeVisible()
    },
  },
  {
    name: 'fork dialog',
    open: async (page, project) => {
      const id = await givenFamily(project)
      await page.goto(project.path(`sessions/${id}/branches?view=list`))
      await page.getByRole('button', { name: 'Fork…' }).click()
      await expect(page.getByRole('dialog').getByText('What the fork will see')).toBeVisible()
    },
  },
  {
    name: 'protocols',
    open: async (page, project) => {
      await page.goto(project.path('protocols'))
      await expect(page.getByRole('link', { name: 'Data analysis' })).toBeVisible()
    },
  },
  {
    name: 'phases of a protocol',
    open: async (page, project) => {
      await page.goto(project.path('protocols/data-analysis'))
      await expect(page.getByRole('button', { name: /^Phase synthesis/ })).toBeVisible()
    },
  },
  {
    name: 'phase of a protocol',
    open: async (page, project) => {
      await givenProtocol(project, refundReview)
      await page.goto(project.path('protocols/refund-review?phase=decide'))
      await expect(page.getByRole('complementary', { name: 'Phase decide' })).toBeVisible()
    },
  },
  {
    name: 'definition of a protocol',
    open: async (page, project) => {
      await page.goto(project.path('protocols/data-analysis?tab=definition'))
      await expect(page.getByText('query_planning').first()).toBeVisible()
    },
  },
  {
    name: 'versions of a protocol compared',
    open: async (page, project) => {
      await givenProtocol(project, refundReview)
      await givenProtocol(project, refundReview2)
      await page.goto(project.path('protocols/refund-review?tab=compare'))
      await expect(page.getByText('allows customers.read')).toBeVisible()
    },
  },
  {
    name: 'protocol that is written, with a flaw',
    open: async (page, project) => {
      await page.goto(project.path('protocols/new/draft'))
      await page.getByRole('textbox', { name: 'Definition' }).click()
      await page.keyboard.press('ControlOrMeta+End')
      await page.keyboard.insertText('extraction: perhaps')
      await expect(page.getByRole('region', { name: 'Not as the schema says' })).toBeVisible()
    },
  },
  {
    name: 'routing decisions',
    open: async (page, project) => {
      await page.goto(project.path('routing'))
      await expect(page.getByRole('row', { name: /Is churn stable/ })).toBeVisible()
    },
  },
  {
    name: 'routing decision',
    open: async (page, project) => {
      await page.goto(project.path('routing'))
      await page.getByRole('row', { name: /再次尝试/ }).click({ position: { x: 5, y: 5 } })
      await expect(page.getByRole('complementary', { name: 'Decision' })).toBeVisible()
    },
  },
  {
    name: 'project settings',
    open: async (page, project) => {
      await page.goto(project.path('settings'))
      await expect(page.getByRole('heading', { name: 'Limits' })).toBeVisible()
      await page.getByRole('radio', { name: 'Only these' }).check()
      await page.getByRole('button', { name: 'Name a server' }).click()
    },
  },
  {
    name: 'audit',
    open: async (page, project) => {
      await page.goto(project.path('audit'))
      await page
        .getByRole('row')
        .nth(1)
        .click({ position: { x: 5, y: 5 } })
      await expect(page.getByRole('complementary', { name: 'Audit entry' })).toBeVisible()
    },
  },
  {
    name: 'access, principals',
    open: async (page) => {
      await page.goto('/access')
      await page.getByRole('row', { name: /Wei Zhang/ }).click({ position: { x: 5, y: 5 } })
      await expect(page.getByRole('complementary', { name: 'Wei Zhang' })).toBeVisible()
    },
  },
  {
    name: 'access, tokens',
    open: async (page) => {
      await page.goto('/access?tab=tokens')
      await expect(page.getByRole('row', { name: /bootstrap/ })).toBeVisible()
    },
  },
  {
    name: 'access, capabilities',
    open: async (page) => {
      await page.goto('/access?tab=capabilities')
      await expect(page.getByText('turn.submit')).toBeVisible()
    },
  },
  {
    name: 'access, view as',
    open: async (page) => {
      await page.goto('/access?tab=view-as')
      await page.getByRole('combobox').first().selectOption({ label: 'Wei Zhang' })
      await expect(page.getByText('turn.submit')).toBeVisible()
    },
  },
  {
    name: 'new token',
    open: async (page) => {
      await page.goto('/access')
      await page.getByRole('button', { name: 'New token' }).click()
      await expect(page.getByRole('dialog', { name: 'New token' }).getByText('turn.submit')).toBeVisible()
    },
  },
  {
    name: 'health',
    open: async (page) => {
      await page.goto('/health')
      await expect(page.getByRole('heading', { name: 'Database' })).toBeVisible()
    },
  },
  {
    name: 'new project',
    open: async (page) => {
      await page.goto('/projects/new')
      await expect(page.getByRole('button', { name: 'Create the project' })).toBeVisible()
    },
  },
  {
    name: 'palette',
    open: async (page, project) => {
      await page.goto(project.path('inbox'))
      await page.getByRole('button', { name: /Jump to anything/ }).click()
      const palette = page.getByRole('dialog', { name: 'Jump to anything' })
      await palette.getByRole('textbox').fill('churn')
      await expect(palette.getByText('Churn review')).toBeVisible()
    },
  },
  {
    name: 'keyboard sheet',
    open: async (page, project) => {
      await page.goto(project.path('sessions'))
      await expect(page.getByRole('link', { name: 'Churn review' })).toBeVisible()
      await page.keyboard.press('?')
      await expect(page.getByRole('dialog', { name: 'Keyboard' })).toBeVisible()
    },
  },
  {
    name: 'page that does not exist',
    open: async (page) => {
      await page.goto('/nowhere')
      await expect(page.getByText('There is no such page')).toBeVisible()
    },
  },
]

test.describe('WCAG 2.2 AA, in both themes, both languages and on a phone', () => {
  for (const { name, open } of routes)
    test(name, async ({ page, retail }) => {
      await open(page, retail.project)
      expect(await violationsOf(page, name)).toEqual([])
    })

  test.describe('signed out', () => {
    test.use({ storageState: { cookies: [], origins: [] } })
    const doors = { 'sign-in': '/sign-in', 'a link that does not work any more': '/welcome#code=used' }
    for (const [name, path] of Object.entries(doors))
      test(name, async ({ page }) => {
        await page.goto(path)
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
        expect(await violationsOf(page, name)).toEqual([])
      })
  })
})
