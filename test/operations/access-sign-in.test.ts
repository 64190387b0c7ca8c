import { randomBytes } from 'node:crypto'
import { authenticateToken } from '@wheelhouse/server/domains/access/operations'
import { createPrincipal } from '@wheelhouse/server/domains/access/principals/operations'
import { allows } from '@wheelhouse/server/domains/access/rules'
import { ensureFirstOwner, invitationPath } from '@wheelhouse/server/domains/access/sign-in/operations'
import { readIdentity } from '@wheelhouse/server/domains/access/sign-in/rules'
import { createLogger } from '@wheelhouse/server/platform/logger'
import { type Auth, createAuth } from '@wheelhouse/server/transports/auth'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { callOf, givenOwner, startPlatform, type TestPlatform } from '../kit/platform.ts'

const origin = 'http://wheelhouse.test:4600'
const day = 86_400_000
const person = { name: 'Ada Byron', email: 'Ada@Example.Test', password: 'correct horse battery' }

let given: TestPlatform
let auth: Auth
beforeEach(async () => {
  given = await startPlatform()
  auth = await createAuth(given.platform, { publicUrl: null }, createLogger('silent'))
})
afterEach(() => given.close())

/** Sends a request as a browser on our own origin would; each address is a client of its own. */
async function send(
  method: string,
  path: string,
  options: { body?: unknown; cookie?: string; address?: string; origin?: string; through?: Auth } = {},
): Promise<Response> {
  const headers = new Headers({ origin: options.origin ?? origin })
  if (options.body !== undefined) headers.set('content-type', 'application/json')
  if (options.cookie) headers.set('cookie', options.cookie)
  const body = options.body === undefined ? null : JSON.stringify(options.body)
  const request = new Request(`${origin}${path}`, { method, headers, body })
  const response = await (options.through ?? auth).handle(request, options.address ?? '192.0.2.1')
  if (!response) throw new Error(`${path} is not served here`)
  return response
}

const codeOf = (path: string) => path.slice(path.indexOf('#code=') + '#code='.length)
const cookieOf = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
const viewerOf = (cookie: string) => auth.authenticateCookie(new Headers({ cookie }))
const signIn = (body: object, address?: string) =>
  send('POST', '/api/auth/sign-in/email', { body, ...(address !== undefined && { address }) })

async function firstOwnerCode(): Promise<string> {
  const link = await ensureFirstOwner(given.platform, null)
  if (!link) throw new Error('there is an owner already')
  return codeOf(link.path)
}

describe('the first start', () => {
  test('prints a link by which a person becomes the owner of everything, and is signed in', async () => {
    expect(await (await send('GET', '/auth/state')).json()).toEqual({
      needsFirstOwner: true,
      signedIn: false,
    })
    const code = await firstOwnerCode()
    expect(await (await send('GET', `/auth/invitation?code=${code}`)).json()).toEqual({ kind: 'FIRST_OWNER' })
    const redeemed = await send('POST', '/auth/redeem', { body: { code, ...person } })
    expect(redeemed.status).toBe(200)
    const cookie = cookieOf(redeemed)
    const viewer = await viewerOf(cookie)
    expect(viewer).toMatchObject({
      principalKind: 'PERSON',
      tokenId: null,
      channel: 'CONSOLE',
      tokenGrants: null,
    })
    expect(viewer && allows(viewer, 'project.create', {})).toBe(true)
    expect(await (await send('GET', '/auth/state', { cookie })).json()).toEqual({
      needsFirstOwner: false,
      signedIn: true,
    })
    expect(await ensureFirstOwner(given.platform, null)).toBeNull()
  })

  test('started again prints another link, and the one before is void', async () => {
    const [first, second] = [await firstOwnerCode(), await firstOwnerCode()]
    expect(second).not.toBe(first)
    expect((await send('POST', '/auth/redeem', { body: { code: first, ...person } })).status).toBe(404)
    expect((await send('POST', '/auth/redeem', { body: { code: second, ...person } })).status).toBe(200)
  })

  test('by two servers at once leaves one link that works', async () => {
    const links = await Promise.all([0, 1, 2].map(() => ensureFirstOwner(given.platform, null)))
    const answers = await Promise.all(
      links.map((link) => send('GET', `/auth/invitation?code=${codeOf(link?.path ?? '')}`)),
    )
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
  })
})

describe('a bootstrap token', () => {
  const secret = () => randomBytes(24).toString('base64url')

  test('is the token of an owner of everything, the same over restarts', async () => {
    const token = secret()
    await ensureFirstOwner(given.platform, token)
    await ensureFirstOwner(given.platform, token)
    const viewer = await authenticateToken(given.platform, token)
    for (const capability of ['project.create', 'run.execute', 'work.claim'] as const) {
      expect(viewer && allows(viewer, capability, {})).toBe(true)
    }
    expect(await given.db.principal.findMany()).toMatchObject([{ name: 'Owner', kind: 'PERSON' }])
    expect(await given.db.token.count()).toBe(1)
  })

  test('that is another than last time replaces that one', async () => {
    const [old, fresh] = [secret(), secret()]
    await ensureFirstOwner(given.platform, old)
    await ensureFirstOwner(given.platform, fresh)
    expect(await authenticateToken(given.platform, old)).toBeNull()
    expect(await authenticateToken(given.platform, fresh)).not.toBeNull()
    expect(await given.db.principal.count()).toBe(1)
  })

  test('that was revoked stays revoked', async () => {
    const token = secret()
    await ensureFirstOwner(given.platform, token)
    await given.db.token.updateMany({ data: { revokedAt: given.clock.now() } })
    await ensureFirstOwner(given.platform, token)
    expect(await authenticateToken(given.platform, token)).toBeNull()
  })

  test('has an owner whom a person becomes by the link', async () => {
    const token = secret()
    const link = await ensureFirstOwner(given.platform, token)
    const redeemed = await send('POST', '/auth/redeem', {
      body: { code: codeOf(link?.path ?? ''), ...person },
    })
    const viewer = await viewerOf(cookieOf(redeemed))
    expect(viewer?.principalId).toBe((await authenticateToken(given.platform, token))?.principalId)
    expect(await given.db.principal.findMany()).toMatchObject([
      { name: 'Ada Byron', email: 'ada@example.test' },
    ])
    expect(await ensureFirstOwner(given.platform, token)).toBeNull()
  })

  test('set later belongs to the owner who is there', async () => {
    await send('POST', '/auth/redeem', { body: { code: await firstOwnerCode(), ...person } })
    const token = secret()
    await ensureFirstOwner(given.platform, token)
    expect(await authenticateToken(given.platform, token)).not.toBeNull()
    expect(await given.db.principal.count()).toBe(1)
  })
})

describe('an invitation', () => {
  async function invite(name = 'Grace', email = 'grace@example.test'): Promise<string> {
    const { viewer } = await givenOwner(given)
    const input = { kind: 'PERSON' as const, name, email, grants: [{ capabilities: ['session.read'] }] }
    const { invitationId } = await createPrincipal(given.platform, callOf(viewer), input)
    return codeOf(await invitationPath(given.platform, invitationId ?? ''))
  }
  const redeem = (code: string, more: object = {}) =>
    send('POST', '/auth/redeem', { body: { code, ...person, ...more } })

  test('says for whom it is, and lets that person in with what it was granted', async () => {
    const code = await invite()
    expect(await (await send('GET', `/auth/invitation?code=${code}`)).json()).toEqual({
      kind: 'INVITATION',
      name: 'Grace',
      email: 'grace@example.test',
    })
    const viewer = await viewerOf(cookieOf(await redeem(code)))
    expect(viewer && allows(viewer, 'session.read', {})).toBe(true)
    expect(viewer && allows(viewer, 'turn.submit', {})).toBe(false)
  })

  type End = 'used' | 'too old' | 'not one' | 'empty'
  const ends: Record<End, (code: string) => Promise<string> | string> = {
    used: async (code) => {
      await redeem(code, { email: 'first@example.test' })
      return code
    },
    'too old': (code) => {
      given.clock.advance(7 * day)
      return code
    },
    'not one': () => randomBytes(32).toString('base64url'),
    empty: () => '',
  }
  test.each(Object.keys(ends) as End[])('that is %s gets the same answer', async (end) => {
    const code = await ends[end](await invite())
    const answer = { code: 'NOT_FOUND', message: expect.stringContaining('not valid any more') }
    for (const response of [await send('GET', `/auth/invitation?code=${code}`), await redeem(code)]) {
      expect(response.status).toBe(404)
      expect(await response.json()).toEqual(answer)
    }
  })

  test('is good up to the last moment', async () => {
    const code = await invite()
    given.clock.advance(7 * day - 1)
    expect((await redeem(code)).status).toBe(200)
  })

  test('redeemed many times at once lets one in', async () => {
    const code = await invite()
    const answers = await Promise.all(
      [0, 1, 2, 3].map((index) => redeem(code, { email: `racer-${index}@example.test` })),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 404, 404, 404])
    expect(await given.db.authUser.count()).toBe(1)
  })

  test('with an address that somebody has stays open for another one', async () => {
    await redeem(await invite('First'))
    const code = await invite('Second')
    const taken = await redeem(code)
    expect(taken.status).toBe(409)
    expect(await taken.json()).toMatchObject({ code: 'CONFLICT', issues: [{ path: ['email'] }] })
    expect((await redeem(code, { email: 'other@example.test' })).status).toBe(200)
  })

  test.each([
    ['name', ' '],
    ['name', 'x'.repeat(121)],
    ['name', 'lone \ud800'],
    ['name', undefined],
    ['email', 'no address'],
    ['email', `${'x'.repeat(250)}@example.test`],
    ['email', 7],
    ['password', 'x'.repeat(11)],
    ['password', 'x'.repeat(201)],
    ['password', 'twelve\0chars!'],
  ])('with the %s %j says what is wrong with it, and stays open', async (field, value) => {
    const code = await invite()
    const answer = await redeem(code, { [field]: value })
    expect(answer.status).toBe(400)
    const { issues } = (await answer.json()) as { issues: { path: string[]; message: string }[] }
    expect(issues.map((issue) => issue.path)).toEqual([[field]])
    expect(JSON.stringify(issues)).not.toContain('twelve')
    expect((await redeem(code)).status).toBe(200)
  })

  test('takes passwords of 12 and of 200 characters', () => {
    for (const length of [12, 200]) {
      expect(readIdentity({ ...person, password: 'x'.repeat(length) })).not.toBeInstanceOf(Array)
    }
  })
})

describe('signing in', () => {
  const { email, password } = person
  beforeEach(async () => {
    await send('POST', '/auth/redeem', { body: { code: await firstOwnerCode(), ...person } })
  })

  test('works with the address in any case, and is recorded', async () => {
    const answer = await signIn({ email: email.toUpperCase(), password })
    expect(answer.status).toBe(200)
    expect(await viewerOf(cookieOf(answer))).not.toBeNull()
    const entries = await given.db.auditEntry.findMany({ where: { action: 'person.signed-in' } })
    expect(entries.length).toBeGreaterThan(0)
    expect(entries[0]).toMatchObject({ channel: 'CONSOLE', actorId: expect.any(String) })
  })

  test('gives the same answer for a wrong password and for an unknown address', async () => {
    const wrong = await signIn({ email, password: 'wrong wrong wrong' })
    const unknown = await signIn({ email: 'nobody@example.test', password })
    expect([wrong.status, unknown.status]).toEqual([401, 401])
    expect(await wrong.json()).toEqual(await unknown.json())
  })

  test('is limited to ten tries a minute and address of the client', async () => {
    const tries: number[] = []
    for (let index = 0; index < 12; index += 1) {
      tries.push((await signIn({ email, password: 'wrong wrong wrong' }, '198.51.100.7')).status)
    }
    expect(tries).toEqual([...Array(10).fill(401), 429, 429])
    expect((await signIn({ email, password }, '198.51.100.8')).status).toBe(200)
  })

  test('sets a cookie that scripts and other sites can’t use, and that needs https where people come by it', async () => {
    const [plain] = (await signIn({ email, password })).headers.getSetCookie()
    expect(plain).toMatch(/HttpOnly/i)
    expect(plain).toMatch(/SameSite=Lax/i)
    expect(plain).not.toMatch(/Secure/i)
    const https = { publicUrl: 'https://wheelhouse.test' }
    const through = await createAuth(given.platform, https, createLogger('silent'))
    const answer = await send('POST', '/api/auth/sign-in/email', {
      body: { email, password },
      origin: https.publicUrl,
      address: '203.0.113.9',
      through,
    })
    expect(answer.headers.getSetCookie()[0]).toMatch(/; Secure/i)
  })

  test('from another site’s page is refused', async () => {
    const cookie = cookieOf(await signIn({ email, password }))
    const options = { body: {}, cookie, origin: 'http://evil.test' }
    expect((await send('POST', '/api/auth/sign-out', options)).status).toBe(403)
    expect(await viewerOf(cookie)).not.toBeNull()
  })

  test('ends with signing out, with the principal’s disabling, and with a forged cookie', async () => {
    const cookie = cookieOf(await signIn({ email, password }))
    expect(await viewerOf(`${cookie.slice(0, -6)}AAAA%3D`)).toBeNull()
    expect((await send('POST', '/api/auth/sign-out', { body: {}, cookie })).status).toBe(200)
    expect(await viewerOf(cookie)).toBeNull()
    const again = cookieOf(await signIn({ email, password }))
    await given.db.principal.updateMany({ data: { disabledAt: given.clock.now() } })
    expect(await viewerOf(again)).toBeNull()
  })

  test('is all that is open of it: nobody signs up or changes an address', async () => {
    for (const path of [
      'sign-up/email',
      'update-user',
      'change-email',
      'delete-user',
      'request-password-reset',
    ]) {
      const answer = await send('POST', `/api/auth/${path}`, {
        body: { ...person, newEmail: 'x@example.test' },
      })
      expect(answer.status, path).toBe(404)
    }
    expect(await given.db.authUser.count()).toBe(1)
  })

  test('leaves no password and no cookie in the database as they are', async () => {
    const cookie = cookieOf(await signIn({ email, password }))
    const [token] = decodeURIComponent(cookie.split('=')[1] ?? '').split('.')
    expect(token?.length).toBeGreaterThan(20)
    const [row] = await given.db.$queryRaw<{ text: string }[]>`
      SELECT string_agg(t::text, ' ') AS text
        FROM (SELECT to_jsonb(auth_accounts) AS t FROM auth_accounts UNION ALL SELECT to_jsonb(auth_sessions) FROM auth_sessions
              UNION ALL SELECT to_jsonb(audit_entries) FROM audit_entries) x`
    expect(row?.text).toContain('person.signed-in')
    for (const secret of [password, token ?? '']) expect(row?.text).not.toContain(secret)
  })
})
