import { betterAuth } from 'better-auth'
import { prismaAdapter } from 'better-auth/adapters/prisma'
import { hashPassword } from 'better-auth/crypto'
import { authenticatePerson } from '../domains/access/operations.ts'
import type { Viewer } from '../domains/access/rules.ts'
import {
  deriveKey,
  needsFirstOwner,
  noteSignIn,
  readInvitation,
  redeemInvitation,
} from '../domains/access/sign-in/operations.ts'
import { passwordLengths, readIdentity } from '../domains/access/sign-in/rules.ts'
import type { Config } from '../platform/config.ts'
import type { Logger } from '../platform/logger.ts'
import { invalid, notFound, Refusal } from '../platform/refusal.ts'
import type { Platform } from '../platform/transaction.ts'
import { withHashedSessions } from './hashed-sessions.ts'
import { createRateLimit } from './rate-limit.ts'
import { refusalResponse } from './refusal-response.ts'

/** How people get in. */
export interface Auth {
  /** Serves `/auth/*` and `/api/auth/*`; null for every other path. `address` is the client's, for rate limits. */
  handle(request: Request, address: string): Promise<Response | null>
  /** The person behind a request's session cookie, or null. */
  authenticateCookie(headers: Headers): Promise<Viewer | null>
}

/** What of better-auth is open: everything else of it (signing up, changing addresses, …) is not there. */
const open: Record<string, string> = {
  '/api/auth/sign-in/email': 'POST',
  '/api/auth/sign-out': 'POST',
  '/api/auth/get-session': 'GET',
}

const signInLimit = { window: 60, max: 10 }
const maxBodyBytes = 16_384
/** Set by us alone on the way in; what a client sends under this name is overwritten. */
const addressHeader = 'x-wheelhouse-client'

/**
 * Sign-in with e-mail and password by better-auth, on its tables in our database; and our own way in for the first
 * time, by invitation. Cookies are HttpOnly and SameSite=Lax, Secure when people come by https. Signing in and redeeming
 * are limited to 10 tries a minute and address.
 */
export async function createAuth(
  platform: Platform,
  config: Pick<Config, 'publicUrl'>,
  log: Logger,
): Promise<Auth> {
  const auth = betterAuth({
    database: withHashedSessions(prismaAdapter(platform.db, { provider: 'postgresql', transaction: true })),
    secret: await deriveKey(platform, 'sign-in'),
    basePath: '/api/auth',
    ...(config.publicUrl !== null && { baseURL: config.publicUrl }),
    // The origin that the browser itself came to, as its Host header says, and the public one.
    trustedOrigins: (request) => [
      ...(request ? [new URL(request.url).origin] : []),
      ...(config.publicUrl === null ? [] : [config.publicUrl]),
    ],
    user: { modelName: 'authUser' },
    session: { modelName: 'authSession' },
    account: { modelName: 'authAccount' },
    verification: { modelName: 'authVerification' },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLengths.min,
      maxPasswordLength: passwordLengths.max,
    },
    rateLimit: {
      enabled: true,
      storage: 'memory',
      window: 60,
      max: 600,
      customRules: { '/sign-in/email': signInLimit },
    },
    advanced: {
      cookiePrefix: 'wheelhouse',
      useSecureCookies: config.publicUrl?.startsWith('https:') ?? false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax' },
      ipAddress: { ipAddressHeaders: [addressHeader] },
      database: { generateId: () => platform.ids.next() },
    },
    databaseHooks: {
      session: { create: { after: async ({ userId }) => noteSignIn(platform, userId) } },
    },
    telemetry: { enabled: false },
    // Its messages may name addresses that somebody typed; ours say what happened without them.
    logger: { log: (level) => level === 'error' && log.error('sign-in failed inside better-auth') },
  })
  const redeemLimit = createRateLimit(platform.clock, signInLimit)

  /** A browser says which site a write comes from. Programs say nothing, and bring no cookie by themselves. */
  function refuseOtherSites(request: Request, own: string): void {
    const from = request.headers.get('origin')
    if (request.method === 'GET' || from === null || from === own || from === config.publicUrl) return
    throw new Refusal('PERMISSION_DENIED', 'This comes from another site.')
  }

  async function signedIn(headers: Headers) {
    const found = await auth.api.getSession({ headers, query: { disableRefresh: true } })
    if (!found) return null
    const { id, expiresAt } = found.session
    return { userId: found.user.id, id, expiresAt: new Date(expiresAt) }
  }

  async function authenticateCookie(headers: Headers): Promise<Viewer | null> {
    if (!headers.get('cookie')?.includes('wheelhouse.')) return null
    const signIn = await signedIn(headers)
    return signIn && authenticatePerson(platform, signIn.userId, signIn)
  }

  async function redeem(request: Request, address: string): Promise<Response> {
    const retryAfterMs = redeemLimit(address)
    if (retryAfterMs !== null) {
      throw new Refusal('RATE_LIMITED', 'Too many tries. Wait a minute.', { retryAfterMs })
    }
    const body = await readBody(request)
    const code = typeof body.code === 'string' ? body.code : ''
    await readInvitation(platform, code)
    const identity = readIdentity(body)
    if (Array.isArray(identity)) {
      throw new Refusal('INVALID_INPUT', 'The input is not valid.', { issues: identity })
    }
    const { name, email, password } = identity
    await redeemInvitation(platform, code, { name, email }, await hashPassword(password))
    const headers = withAddress(request, address)
    const signIn = await auth.api.signInEmail({ body: { email, password }, headers, asResponse: true })
    if (!signIn.ok) throw new Error('a new person could not be signed in')
    const answer = Response.json({ ok: true }, { headers: { 'cache-control': 'no-store' } })
    for (const cookie of signIn.headers.getSetCookie()) answer.headers.append('set-cookie', cookie)
    return answer
  }

  async function ours(request: Request, url: URL, address: string): Promise<Response> {
    switch (`${request.method} ${url.pathname}`) {
      case 'GET /auth/state': {
        const [needs, viewer] = await Promise.all([
          needsFirstOwner(platform),
          authenticateCookie(request.headers),
        ])
        return answerJson({ needsFirstOwner: needs, signedIn: viewer !== null })
      }
      case 'GET /auth/invitation':
        return answerJson(await readInvitation(platform, url.searchParams.get('code') ?? ''))
      case 'POST /auth/redeem':
        return redeem(request, address)
      default:
        throw notFound()
    }
  }

  return {
    authenticateCookie,
    async handle(request, address) {
      const url = new URL(request.url)
      try {
        const here = url.pathname.startsWith('/auth/')
        if (!here && !url.pathname.startsWith('/api/auth/')) return null
        refuseOtherSites(request, url.origin)
        if (here) return await ours(request, url, address)
        if (open[url.pathname] !== request.method) throw notFound()
        const answer = await auth.handler(await forBetterAuth(request, address))
        // The database has counted the sign-in's end; watches everywhere look now instead of in a second.
        if (url.pathname.endsWith('/sign-out')) platform.wake.send([{ topic: 'access' }])
        return answer
      } catch (error) {
        if (error instanceof Refusal) return refusalResponse(error)
        throw error
      }
    },
  }
}

function withAddress(request: Request, address: string): Headers {
  const headers = new Headers()
  request.headers.forEach((value, name) => {
    headers.append(name, value)
  })
  headers.set(addressHeader, address)
  return headers
}

/** The request made anew, whoever's implementation it came as, with the client's address and a bounded body. */
async function forBetterAuth(request: Request, address: string): Promise<Request> {
  const headers = withAddress(request, address)
  if (request.method === 'GET') return new Request(request.url, { headers })
  return new Request(request.url, { method: request.method, headers, body: await readText(request) })
}

/** Reads a body as it comes in, so that one without a length is bounded too. */
async function readText(request: Request): Promise<string> {
  const tooLong = () => invalid([], `the body must be at most ${maxBodyBytes} bytes`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) throw tooLong()
  const reader = request.body?.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) return Buffer.concat(chunks).toString('utf8')
    size += value.byteLength
    if (size > maxBodyBytes) {
      await reader?.cancel()
      throw tooLong()
    }
    chunks.push(value)
  }
}

const answerJson = (value: object) => Response.json(value, { headers: { 'cache-control': 'no-store' } })

/** A small JSON object; the content type keeps forms of other sites out. */
async function readBody(request: Request): Promise<Record<string, unknown>> {
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    throw invalid([], 'the body must be application/json')
  }
  const text = await readText(request)
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
      return body as Record<string, unknown>
    }
  } catch {}
  throw invalid([], 'the body must be a JSON object')
}
