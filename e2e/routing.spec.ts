import { decision, type ModelServer, startModel } from '../test/kit/model.ts'
import { startServer } from './kit/server.ts'
import { test as base, expect, type Project, type WorkerOptions } from './kit/test.ts'

const test = base.extend<object, WorkerOptions & { model: ModelServer }>({
  model: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures from here
    async ({}, use) => {
      const model = await startModel()
      await use(model)
      await model.close()
    },
    { scope: 'worker' },
  ],
  server: [
    async ({ model }, use) => {
      const server = await startServer({ WHEELHOUSE_MODEL_URL: model.url, WHEELHOUSE_MODEL_NAME: 'test' })
      await use(server)
      await server.close()
    },
    { scope: 'worker', timeout: 90_000 },
  ],
})

const sure = (confidence: number) => ({ target: 0.9, protocol: 0.9, relation: confidence })

/** A task by rule, gone on with, refined as the model says, and a message that it is not sure about. */
async function givenDecisions(project: Project, model: ModelServer): Promise<string> {
  const id = await project.session('Regional sales decline')
  const say = async (text: string) => (await project.turn(id, text)).fails('Stopped here.')
  await say('Analyse the sales data by region')
  await say('try again')
  model.says(JSON.stringify(decision({ protocol: 'data-analysis', confidence: sure(0.88) })))
  await say('split it by quarter')
  model.says(JSON.stringify(decision({ relation: 'REPLACE', confidence: sure(0.41) })))
  await say('and the weather?')
  return id
}

test('each decision says what was considered, how sure the model was, and what it had looked at', async ({
  page,
  project,
  model,
}) => {
  await givenDecisions(project, model)
  await page.goto(project.path('inbox'))
  await expect(page.getByRole('banner').getByRole('status')).toHaveText('live')
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  const table = page.getByRole('region', { name: 'Routing decisions' })
  await expect(table.getByRole('row')).toContainText([
    'Message',
    /and the weather\?.*side chat.*the classifier was not sure enough/,
    /split it by quarter.*refines.*the classifier.*0\.88/,
    /try again.*continues.*the task itself/,
    /Analyse the sales data by region.*new task.*data-analysis@1.*a rule/,
  ])

  // Walked and read by the keyboard.
  await page.keyboard.press('j')
  const pane = page.getByRole('complementary', { name: 'Decision' })
  await expect(pane).toContainText('and the weather?')
  const classifier = pane.getByRole('region', { name: 'Classifier' })
  await expect(classifier).toContainText(/\d+ ms · 120 tokens/)
  await expect(classifier).toContainText(/the relation\s*0\.41 too low, from 0\.75 on/)
  const seen = pane.getByRole('region', { name: 'What was looked at' })
  await expect(seen).toContainText(/Task r\d+, under data-analysis@1/)
  await expect(seen).toContainText('split it by quarter')
  await page.keyboard.press('j')
  await expect(pane).toContainText('split it by quarter')
  await expect(page).toHaveURL(/decision=/)

  // The address is the whole of it.
  await page.reload()
  await expect(pane.getByRole('region', { name: 'What was considered' })).toContainText('data-analysis@1')
  await pane.getByRole('link', { name: /^Run \d+/ }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Regional sales decline' })).toBeVisible()
})

test('filters stand in the address, and what is new waits until it is asked for', async ({
  page,
  project,
  model,
}) => {
  const id = await givenDecisions(project, model)
  await page.goto(project.path('routing'))
  const table = page.getByRole('region', { name: 'Routing decisions' })
  await expect(table.getByRole('row')).toHaveCount(5)
  await page.getByRole('button', { name: 'Add filter' }).click()
  const form = page.getByRole('dialog', { name: 'Add filter' })
  await form.getByRole('combobox', { name: 'Decided by' }).selectOption({ label: 'the classifier' })
  await form.getByRole('button', { name: 'Apply' }).click()
  await expect(table.getByRole('row')).toHaveCount(2)
  await expect(page).toHaveURL(/CLASSIFIER/)
  await page.getByRole('button', { name: 'Remove filter Decided by: the classifier' }).click()
  await expect(table.getByRole('row')).toHaveCount(5)

  await project.api.do('submitTurn', { sessionId: id, text: 'once more please' }, 'cursor')
  const fresh = page.getByRole('button', { name: '1 new message' })
  await expect(fresh).toBeVisible()
  await expect(table.getByRole('row')).toHaveCount(5)
  await fresh.click()
  await expect(table.getByRole('row').nth(1)).toContainText('once more please')
  await expect(fresh).toBeHidden()

  // Everything hidden names its cause, and gives the way back.
  await page.goto(project.path('routing?warnings=["CLASSIFIER_TIMEOUT"]'))
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect(table.getByRole('row')).toHaveCount(6)
})

test('what an owner decided otherwise leads to the decision that it corrects', async ({
  page,
  project,
  model,
}) => {
  const id = await project.session('Weather and sales')
  model.says(JSON.stringify(decision({ relation: 'SIDE_CHAT' })))
  const run = await project.turn(id, 'And what about the weather?')
  await project.api.do(
    'rerouteRun',
    { runId: run.id, relation: 'REPLACE', reason: 'It is a task of its own.' },
    'run { id }',
  )
  await page.goto(project.path('routing'))
  await page.getByRole('row', { name: /an owner/ }).click({ position: { x: 5, y: 5 } })
  const pane = page.getByRole('complementary', { name: 'Decision' })
  await expect(pane).toContainText('It is a task of its own.')
  await expect(pane).toContainText('Wei Zhang')
  await pane.getByRole('link', { name: /^side chat, under general-task@1/ }).click()
  await expect(pane).toContainText('the classifier')
})
