import type { Project } from './kit/test.ts'
import { expect, test } from './kit/test.ts'

/** Two turns that were completed: two checkpoints. */
async function givenTwoAnswers(project: Project): Promise<string> {
  const id = await project.session('Regional sales decline')
  await (await project.turn(id, 'Which region fell the most?')).completes('North, by 11.8 %.')
  await (await project.turn(id, 'Why?')).completes('The outdoor category.')
  return id
}

test('a fork from a checkpoint says what it will see, stands in the graph beside its parent, and is opened from there', async ({
  page,
  project,
}) => {
  const id = await givenTwoAnswers(project)
  await page.goto(project.path(`sessions/${id}/branches`))
  const graph = page.getByRole('region', { name: /Sessions as lanes/ })
  await expect(graph.getByRole('link', { name: 'Regional sales decline' })).toBeVisible()
  await expect(page.getByText('No fork yet')).toBeVisible()

  // Reached and used by the keyboard alone.
  await graph.getByRole('button', { name: /^Checkpoint 1 · after run 1/ }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Fork “Regional sales decline”' })
  const sight = dialog.getByRole('region', { name: 'What the fork will see' })
  await expect(sight).toContainText('North, by 11.8 %.')
  await expect(sight).not.toContainText('The outdoor category.')
  await dialog.getByRole('textbox', { name: 'Name of the fork' }).fill('Another reading')
  await dialog.getByRole('button', { name: 'Fork and open' }).click()

  await expect(page.getByRole('heading', { level: 1, name: 'Another reading' })).toBeVisible()
  const transcript = page.getByRole('region', { name: 'Transcript' })
  await expect(transcript).toContainText('North, by 11.8 %.')
  await expect(transcript).not.toContainText('The outdoor category.')

  await page.goto(project.path(`sessions/${id}/branches`))
  await expect(graph.getByRole('link', { name: 'Another reading' })).toBeVisible()
  await page.getByText('List', { exact: true }).click()
  const list = page.getByRole('region', { name: 'Sessions of this family' })
  await expect(list.getByRole('listitem').filter({ hasText: 'Another reading' }).last()).toContainText(
    'forked at checkpoint 1',
  )
  await expect(page).toHaveURL(/view=list/)
  await page.getByText('Graph', { exact: true }).click()
  await graph.getByRole('link', { name: 'Another reading' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Another reading' })).toBeVisible()
})

test('a fork made elsewhere appears in the graph that is open', async ({ page, project }) => {
  const id = await givenTwoAnswers(project)
  await page.goto(project.path(`sessions/${id}/branches`))
  const graph = page.getByRole('region', { name: /Sessions as lanes/ })
  const place = graph.getByRole('button', { name: /^Checkpoint 2/ })
  await expect(place).toBeVisible()
  const session = await project.api.query<{ session: { checkpoints: { nodes: { id: string }[] } } }>(
    'query($id: ID!) { session(id: $id) { checkpoints { nodes { id } } } }',
    { id },
  )
  const checkpointId = session.session.checkpoints.nodes[0]?.id
  await project.api.do(
    'forkSession',
    { sessionId: id, checkpointId, title: 'From elsewhere' },
    'session { id }',
  )
  await expect(graph.getByRole('link', { name: 'From elsewhere' })).toBeVisible()
  await expect(place).toBeVisible()
})
