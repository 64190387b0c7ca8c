import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import type { Client } from '../kit/client.ts'
import { eventually } from '../kit/eventually.ts'
import { givenSession } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

const get = (path: string, token?: string) =>
  fetch(`${app.url}${path}`, token ? { headers: { authorization: `Bearer ${token}` } } : {})
async function member(capabilities: string[]): Promise<{ client: Client; tokenId: string }> {
  const grants = [{ capabilities }]
  const { principal } = await app.owner.do<{ principal: { id: string } }>(
    'createPrincipal',
    { kind: 'SERVICE', name: capabilities.join(' '), grants },
    'principal{id}',
  )
  const { secret, token } = await app.owner.do<{ secret: string; token: { id: string } }>(
    'createToken',
    { name: 'token', principalId: principal.id, grants },
    'secret token{id}',
  )
  return { client: app.owner.as(secret), tokenId: token.id }
}

describe('outside of GraphQL', () => {
  test('/healthz answers anybody as long as the process lives', async () => {
    const response = await get('/healthz')
    expect([response.status, await response.json()]).toEqual([200, { status: 'alive' }])
  })

  test('/readyz answers anybody whether requests can be sent here, and tells nothing else', async () => {
    const response = await get('/readyz')
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        ready: true,
        checks: { database: 'reachable', migrations: 'current', sweeper: 'alive', process: 'serving' },
      },
    ])
  })

  test('/metrics answers who holds ops.read, and nobody else', async () => {
    expect((await get('/metrics')).status).toBe(401)
    const other = await member(['project.read'])
    expect((await get('/metrics', other.client.token)).status).toBe(403)
    const { client } = await member(['ops.read'])
    await givenSession(app)
    await app.owner.refusedQuery('{project(slug:"no-such-project"){id}}')
    const response = await get('/metrics', client.token)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/plain')
    const text = await response.text()
    for (const line of [
      /^wheelhouse_requests_total\{operation="mutation",code="OK"\} [1-9]/m,
      /^wheelhouse_requests_total\{operation="query",code="NOT_FOUND"\} [1-9]/m,
      /^wheelhouse_runtimes\{state="CONNECTED"\} 1$/m,
      /^wheelhouse_watchers\{stream="sessions"\} 0$/m,
      /^wheelhouse_overflows_total 0$/m,
      /^wheelhouse_database_size_bytes [1-9]/m,
      /^wheelhouse_health_status\{panel="database"\} 0$/m,
      /^wheelhouse_process_cpu_seconds_total /m,
    ]) {
      expect(text).toMatch(line)
    }
    expect(text).not.toContain(client.token)
  })
})

describe('over GraphQL', () => {
  test('serverInfo is for everybody', async () => {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{serverInfo{version apiVersion minimumClient features startedAt}}' }),
    })
    expect(await response.json()).toMatchObject({
      data: {
        serverInfo: { version: expect.stringMatching(/^\d+\.\d+\.\d+/), apiVersion: 1, minimumClient: 1 },
      },
    })
  })

  test('health is for who holds ops.read: panels with thresholds, age and trend', async () => {
    await app.pass(0)
    const { health } = await app.owner.query<{
      health: { status: string; panels: { key: string; metrics: { key: string; trend: object[] }[] }[] }
    }>(
      '{health{status checkedAt panels{key status summary checkedAt metrics{key value unit warnAbove failAbove trend{at value}}}}}',
    )
    expect(health.panels.map((panel) => panel.key)).toEqual([
      'database',
      'probe',
      'journal',
      'watchers',
      'sweeper',
      'runtimes',
      'runs',
      'approvals',
      'outbox',
      'process',
    ])
    const latency = health.panels[0]?.metrics.find(({ key }) => key === 'latency')
    expect(latency).toMatchObject({ unit: 'ms', warnAbove: 50, failAbove: 1_000 })
    expect(latency?.trend.length).toBeGreaterThan(0)
    const other = await member(['project.read'])
    expect(await other.client.refusedQuery('{health{status}}')).toBe('PERMISSION_DENIED')
  })

  test('a watch of health ends when its right is withdrawn', async () => {
    const { client, tokenId } = await member(['ops.read'])
    const watch = client.watch<{ status: string }>('subscription{health{status}}')
    await eventually(() => watch.items.length > 0)
    expect(watch.items[0]?.status).toMatch(/OK|WARN/)
    await app.pass(0)
    await app.owner.do('revokeToken', { tokenId }, 'token{id}')
    await app.pass(0)
    await watch.ended
    await watch.stop()
  })
})
