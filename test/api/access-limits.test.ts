import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { eventually } from '../kit/eventually.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

test('a token has at most 50 grants', async () => {
  const grants = (count: number) => Array.from({ length: count }, () => ({ capabilities: ['project.read'] }))
  await app.owner.do('createToken', { name: 'Many', grants: grants(50) }, 'token{id}')
  expect(await app.owner.refused('createToken', { name: 'Too many', grants: grants(51) })).toMatchObject({
    code: 'INVALID_INPUT',
    issues: [{ path: ['grants'] }],
  })
})

test('when a token was last used is written at most once a minute', async () => {
  const made = () =>
    app.owner.do<{ token: { id: string }; secret: string }>(
      'createToken',
      { name: 'Used', grants: [{ capabilities: ['project.read'] }] },
      'token{id} secret',
    )
  const [watched, other] = [await made(), await made()]
  const lastUsed = async ({ token }: typeof watched) => {
    const { node } = await app.owner.query<{ node: { lastUsedAt: string | null } }>(
      'query($id:ID!){node(id:$id){...on Token{lastUsedAt}}}',
      { id: token.id },
    )
    return node.lastUsedAt
  }
  const use = ({ secret }: typeof watched) => app.owner.as(secret).query('{viewer{channel}}')
  const began = app.clock.now().toISOString()
  expect(await lastUsed(watched)).toBeNull()
  await use(watched)
  await eventually(async () => (await lastUsed(watched)) === began)
  app.clock.advance(59_999)
  await use(watched)
  // What is noted behind a later request is there: so would this one be.
  await use(other)
  await eventually(async () => (await lastUsed(other)) !== null)
  expect(await lastUsed(watched)).toBe(began)
  app.clock.advance(1)
  await use(watched)
  await eventually(async () => (await lastUsed(watched)) === app.clock.now().toISOString())
})
