import { regions } from './kit/page.ts'
import { startServer } from './kit/server.ts'
import { expect, givenProject, ownerIdentity, test } from './kit/test.ts'

test('a server that is killed is shown as lost, and after its return nothing is missing or doubled', async ({
  browser,
}) => {
  test.setTimeout(90_000)
  const server = await startServer()
  const context = await browser.newContext({
    baseURL: server.url,
    storageState: { cookies: [], origins: [] },
  })
  try {
    const code = server.welcomeUrl?.split('#code=')[1]
    await context.request.post('/auth/redeem', { data: { code, ...ownerIdentity } })
    const project = await givenProject(server.owner)
    const sessionId = await project.session('Through a crash')
    const run = await project.turn(sessionId, 'Work')
    await run.asks('Go on after the crash?')
    const page = await context.newPage()
    await page.goto(project.path(`sessions/${sessionId}?view=full`))
    const { live, gate, message, log, transcript, readAllSequences } = regions(page)
    await expect(gate).toBeVisible()
    await message.fill('kept while the server is away')

    await server.kill()
    await expect(live).toHaveAccessibleName(/^(reconnecting|stale)/)
    await expect(gate).toBeVisible()
    await server.restart()
    await expect(live).toHaveAccessibleName('live', { timeout: 30_000 })
    await expect(message).toHaveValue('kept while the server is away')

    await message.blur()
    await page.keyboard.press('a')
    await expect(gate).toBeHidden()
    await run.writes({ type: 'INFO', payload: { text: 'after the crash' } })
    await run.completes('Done after the crash.')
    await expect(log.getByText('after the crash', { exact: true })).toBeVisible()
    await expect(transcript.getByText('Done after the crash.')).toHaveCount(1)
    const read = await readAllSequences()
    expect(read).toEqual(read.map((_, index) => index + 1))
    await project.agent.leaves()
  } finally {
    await context.close()
    await server.close()
  }
})
