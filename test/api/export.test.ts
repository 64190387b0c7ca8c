import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { givenSession, type Story } from '../kit/story.ts'

let app: TestApp
let story: Story
beforeAll(async () => {
  app = await startApp()
  story = await (await givenSession(app)).run()
  await story.writes.complete()
})
afterAll(() => app.close())

const pathOf = async (format: string) => {
  const { session } = await app.owner.query<{ session: { exportPath: string } }>(
    'query($id:ID!,$format:ExportFormat!){session(id:$id){exportPath(format:$format)}}',
    { id: story.sessionId, format },
  )
  return session.exportPath
}
const get = (path: string, token?: string) =>
  fetch(`${app.url}${path}`, token ? { headers: { authorization: `Bearer ${token}` } } : {})

test('an export is downloaded from its path, with the credentials of the API', async () => {
  const types = { MARKDOWN: 'text/markdown', JSON: 'application/json', JSONL: 'application/x-ndjson' }
  for (const [format, type] of Object.entries(types)) {
    const response = await get(await pathOf(format), app.owner.token)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain(type)
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename=/)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.text()).toContain('Outdoor, by far.')
  }
})

test('it is refused without them, in another format, and for what is not there', async () => {
  const path = await pathOf('JSON')
  expect((await get(path)).status).toBe(401)
  expect((await get(path.replace('JSON', 'PDF'), app.owner.token)).status).toBe(400)
  expect((await get('/exports/sessions/nothing?format=JSON', app.owner.token)).status).toBe(404)
  const elsewhere = path.replace(/ses_(.)/, (_, letter: string) => `ses_${letter === 'A' ? 'B' : 'A'}`)
  const missing = await get(elsewhere, app.owner.token)
  expect([missing.status, await missing.json()]).toEqual([
    404,
    expect.objectContaining({ code: 'NOT_FOUND' }),
  ])
})
