import * as z from 'zod/mini'
import { apiHeaders, forgetClient } from '../data/client.ts'
import { disconnect } from '../data/live.ts'
import type { Problem } from '../data/outcome.ts'

const stateSchema = z.object({ needsFirstOwner: z.boolean(), signedIn: z.boolean() })
export type AuthState = z.infer<typeof stateSchema>

const invitationSchema = z.object({
  kind: z.enum(['FIRST_OWNER', 'INVITATION']),
  name: z.nullish(z.string()),
  email: z.nullish(z.string()),
})
export type Invitation = z.infer<typeof invitationSchema>

const problemSchema = z.object({
  code: z._default(z.string(), 'INTERNAL'),
  message: z._default(z.string(), ''),
  issues: z.optional(z.array(z.object({ path: z.array(z.coerce.string()), message: z.string() }))),
})

type Answer<Value> = { ok: true; value: Value } | { ok: false; problem: Problem }

async function call(path: string, body?: unknown): Promise<Answer<unknown>> {
  try {
    const response = await fetch(path, {
      method: body === undefined ? 'GET' : 'POST',
      credentials: 'same-origin',
      headers: { ...apiHeaders, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const value: unknown = await response.json().catch(() => ({}))
    if (response.ok) return { ok: true, value }
    const problem = problemSchema.parse(value ?? {})
    return { ok: false, problem: { ...problem, retryable: response.status >= 500 } }
  } catch (error) {
    return { ok: false, problem: { code: 'NETWORK', message: String(error), retryable: true } }
  }
}

/** Who is there: asked once per page load and after signing in or out. */
export async function readAuthState(): Promise<AuthState> {
  const answer = await call('/auth/state')
  if (!answer.ok) throw new Error(answer.problem.code)
  return stateSchema.parse(answer.value)
}

let remembered: Promise<AuthState> | undefined
export const authState = (): Promise<AuthState> => {
  remembered ??= readAuthState().catch((error: unknown) => {
    remembered = undefined
    throw error
  })
  return remembered
}
/** After signing in or out: nothing of the other person stays. */
export function authChanged(): void {
  remembered = undefined
  disconnect()
  forgetClient()
}

export async function readInvitation(code: string): Promise<Answer<Invitation>> {
  const answer = await call(`/auth/invitation?code=${encodeURIComponent(code)}`)
  return answer.ok ? { ok: true, value: invitationSchema.parse(answer.value) } : answer
}

export const redeem = (input: { code: string; name: string; email: string; password: string }) =>
  call('/auth/redeem', input)

export const signIn = (input: { email: string; password: string }) => call('/api/auth/sign-in/email', input)

export const signOut = () => call('/api/auth/sign-out', {})
