import type { Client } from './client.ts'

const password = 'correct horse battery'
let count = 0

/** One sign-in of a person, as one browser holds it. */
export interface SignIn {
  cookie: string
  signOut(): Promise<void>
}

/** Somebody who was invited, has taken the invitation up, and signs in as often as a test wants. */
export interface Person {
  principalId: string
  signIn(): Promise<SignIn>
}

export async function givenPerson(owner: Client, grants: object[]): Promise<Person> {
  count += 1
  const email = `person-${process.pid}-${count}@example.org`
  const { signInUrl, principal } = await owner.do<{ signInUrl: string; principal: { id: string } }>(
    'createPrincipal',
    { kind: 'PERSON', name: 'Ada', grants },
    'signInUrl principal{id}',
  )
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${owner.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: owner.url, ...headers },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }
  const code = signInUrl.slice(signInUrl.search(/[^/=]+$/))
  await post('/auth/redeem', { code, name: 'Ada', email, password })
  return {
    principalId: principal.id,
    async signIn() {
      const cookies = (await post('/api/auth/sign-in/email', { email, password })).headers.getSetCookie()
      for (const each of cookies)
        if (!/HttpOnly.*SameSite=Lax/i.test(each))
          throw new Error('a cookie is open to scripts or other sites')
      const cookie = cookies.map((each) => each.split(';')[0]).join('; ')
      return { cookie, signOut: async () => void (await post('/api/auth/sign-out', {}, { cookie })) }
    },
  }
}
