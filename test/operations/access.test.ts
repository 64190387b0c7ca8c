import {
  authenticateToken,
  currentAccessEpoch,
  refreshViewers,
} from '@wheelhouse/server/domains/access/operations'
import {
  createPrincipal,
  createToken,
  grantAccess,
  listPrincipals,
  revokeGrant,
  revokeToken,
} from '@wheelhouse/server/domains/access/principals/operations'
import { allows, type GrantFacts, type Viewer } from '@wheelhouse/server/domains/access/rules'
import { createProject } from '@wheelhouse/server/domains/projects/operations'
import { encodeId } from '@wheelhouse/server/platform/ids'
import type { Hint } from '@wheelhouse/server/platform/wake'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { callOf, givenOwner, signIn, startPlatform, type TestPlatform } from '../kit/platform.ts'

let given: TestPlatform
let owner: Viewer
let A: string
let B: string
const project = async (name: string) =>
  (await createProject(given.platform, callOf(owner), { name, slug: undefined })).projectId
beforeAll(async () => {
  given = await startPlatform()
  owner = (await givenOwner(given)).viewer
  A = await project('Project A')
  B = await project('Project B')
})
afterAll(() => given.close())

const refusal = (code: string) => expect.objectContaining({ code })
const hour = 3_600_000

const principal = async (grants: GrantFacts[], name = 'Somebody', by = owner) =>
  (await createPrincipal(given.platform, callOf(by), { kind: 'SERVICE', name, grants })).principalId
const tokenFor = (principalId: string | undefined, grants: GrantFacts[], more: object = {}, by = owner) =>
  createToken(given.platform, callOf(by), { name: 'A token', principalId, grants, ...more })

/** Somebody with these capabilities, by a token as wide as they are. */
async function somebody(...grants: GrantFacts[]): Promise<Viewer & { secret: string }> {
  const { secret } = await tokenFor(await principal(grants), grants)
  return { ...(await signIn(given.platform, secret)), secret }
}

describe('a token', () => {
  const reads: GrantFacts[] = [{ capabilities: ['session.read'] }]

  test('has 256 random bits of which only the hash is kept, and a beginning to find it by', async () => {
    const { tokenId, secret } = await tokenFor(undefined, reads)
    expect(secret).toMatch(/^wh_[\w-]{43}$/)
    const row = await given.db.token.findUniqueOrThrow({ where: { id: tokenId } })
    expect(row.prefix).toBe(secret.slice(0, 8))
    expect(row.hash).toHaveLength(32)
    const [everything] = await given.db.$queryRawUnsafe<{ kept: boolean }[]>(
      `SELECT bool_or(t::text LIKE '%${secret.slice(3)}%') AS kept
         FROM (SELECT to_jsonb(tokens) AS t FROM tokens UNION ALL SELECT to_jsonb(audit_entries) FROM audit_entries) x`,
    )
    expect(everything?.kept).toBe(false)
  })

  type State = 'valid' | 'expired' | 'revoked' | 'of a disabled principal' | 'unknown'
  const lets: Record<State, boolean> = {
    valid: true,
    expired: false,
    revoked: false,
    'of a disabled principal': false,
    unknown: false,
  }
  const bring: Record<State, (tokenId: string, principalId: string) => Promise<unknown> | unknown> = {
    valid: () => given.clock.advance(hour - 1),
    expired: () => given.clock.advance(hour),
    revoked: (tokenId) => revokeToken(given.platform, callOf(owner), { tokenId }),
    'of a disabled principal': (_tokenId, id) =>
      given.db.principal.update({ where: { id }, data: { disabledAt: given.clock.now() } }),
    unknown: (tokenId) =>
      given.db.token.update({ where: { id: tokenId }, data: { hash: new Uint8Array(32) } }),
  }
  test.each(Object.entries(lets) as [State, boolean][])(
    '%s lets its caller in: %s',
    async (state, expected) => {
      const principalId = await principal(reads)
      const expiresAt = new Date(given.clock.now().getTime() + hour)
      const { tokenId, secret } = await tokenFor(principalId, reads, { expiresAt })
      await bring[state](tokenId, principalId)
      expect((await authenticateToken(given.platform, secret)) !== null).toBe(expected)
      // A watch that was opened before judges in the same way.
      const before: Viewer = { ...owner, principalId, tokenId, expiresAt }
      const [after] = await refreshViewers(given.platform, [before])
      expect(after !== null).toBe(expected || state === 'unknown')
    },
  )

  test('never comes back: revoked again it stays as it was, with one audit entry', async () => {
    const { tokenId } = await tokenFor(undefined, reads)
    await revokeToken(given.platform, callOf(owner), { tokenId, reason: 'leaked' })
    const first = await given.db.token.findUniqueOrThrow({ where: { id: tokenId } })
    given.clock.advance(hour)
    await revokeToken(given.platform, callOf(owner), { tokenId, reason: 'again' })
    expect(await given.db.token.findUniqueOrThrow({ where: { id: tokenId } })).toEqual(first)
    const subjectId = encodeId({ type: 'Token', id: tokenId })
    const entries = await given.db.auditEntry.findMany({ where: { subjectId, action: 'token.revoked' } })
    expect(entries).toMatchObject([{ reason: 'leaked', actorId: owner.principalId }])
  })

  test('shows when it was last used, noted at most once a minute', async () => {
    const { tokenId, secret } = await tokenFor(undefined, reads)
    const lastUsed = async () =>
      (await given.db.token.findUniqueOrThrow({ where: { id: tokenId } })).lastUsedAt
    expect(await lastUsed()).toBeNull()
    await signIn(given.platform, secret)
    const first = given.clock.now()
    await eventually(async () => expect(await lastUsed()).toEqual(first))
    given.clock.advance(59_999)
    await signIn(given.platform, secret)
    given.clock.advance(1)
    await signIn(given.platform, secret)
    await eventually(async () => expect(await lastUsed()).toEqual(given.clock.now()))
  })

  test('narrows its principal, and loses what its principal loses', async () => {
    const principalId = await principal([{ capabilities: ['session.read', 'turn.submit'], projectId: A }])
    const { secret } = await tokenFor(principalId, [{ capabilities: ['turn.submit'], projectId: A }])
    const viewer = await signIn(given.platform, secret)
    expect(allows(viewer, 'turn.submit', { projectId: A })).toBe(true)
    expect(allows(viewer, 'session.read', { projectId: A })).toBe(false)
    const [grant] = await given.db.grant.findMany({ where: { principalId, tokenId: null } })
    await revokeGrant(given.platform, callOf(owner), { grantId: grant?.id as string })
    expect(allows(await signIn(given.platform, secret), 'turn.submit', { projectId: A })).toBe(false)
  })

  test('is made by anybody for itself, and for others only by who manages access there', async () => {
    const member = await somebody({ capabilities: ['turn.submit'], projectId: A })
    const own: GrantFacts[] = [{ capabilities: ['turn.submit'], projectId: A }]
    await tokenFor(undefined, own, {}, member)
    const other = await principal(own)
    await expect(tokenFor(other, own, {}, member)).rejects.toEqual(refusal('PERMISSION_DENIED'))
    const manager = await somebody({ capabilities: ['turn.submit', 'access.manage'], projectId: A })
    await tokenFor(other, own, {}, manager)
    const beyond: GrantFacts[] = [{ capabilities: ['turn.cancel'], projectId: A }]
    await expect(tokenFor(other, beyond, {}, manager)).rejects.toEqual(refusal('PERMISSION_DENIED'))
    const stranger = await principal([{ capabilities: ['turn.submit'], projectId: B }])
    await expect(tokenFor(stranger, own, {}, manager)).rejects.toEqual(refusal('NOT_FOUND'))
  })

  test('on a project or a session that is not there is NOT_FOUND, and nothing is written', async () => {
    const before = await given.db.token.count()
    const nowhere = given.platform.ids.next()
    for (const scope of [{ projectId: nowhere }, { projectId: A, sessionId: nowhere }]) {
      await expect(tokenFor(undefined, [{ capabilities: ['session.read'], ...scope }])).rejects.toEqual(
        refusal('NOT_FOUND'),
      )
    }
    expect(await given.db.token.count()).toBe(before)
  })

  test('ends no later than the token that it was made with', async () => {
    const grants: GrantFacts[] = [{ capabilities: ['session.read'], projectId: A }]
    const expiresAt = new Date(given.clock.now().getTime() + hour)
    const short = await signIn(given.platform, (await tokenFor(undefined, grants, { expiresAt })).secret)
    const { tokenId } = await tokenFor(undefined, grants, {}, short)
    expect((await given.db.token.findUniqueOrThrow({ where: { id: tokenId } })).expiresAt).toEqual(expiresAt)
    const later = new Date(expiresAt.getTime() + 1)
    await expect(tokenFor(undefined, grants, { expiresAt: later }, short)).rejects.toEqual(
      refusal('INVALID_INPUT'),
    )
  })
})

describe('a right that is taken away', () => {
  test('moves the access epoch and wakes open watches, after the commit', async () => {
    const scoped: GrantFacts[] = [{ capabilities: ['session.read'], projectId: A }]
    const { tokenId } = await tokenFor(undefined, scoped)
    const principalId = await principal(scoped)
    const [grant] = await given.db.grant.findMany({ where: { principalId } })
    const heard: Hint[] = []
    const stop = given.platform.wake.listen((hints) => heard.push(...(hints === 'anything' ? [] : hints)))
    for (const take of [
      () => revokeToken(given.platform, callOf(owner), { tokenId }),
      () => revokeGrant(given.platform, callOf(owner), { grantId: grant?.id as string }),
    ]) {
      heard.length = 0
      const before = await currentAccessEpoch(given.platform)
      await take()
      expect(await currentAccessEpoch(given.platform)).toBeGreaterThan(before)
      expect(heard).toContainEqual({ topic: 'access' })
    }
    stop()
  })
})

describe('a grant', () => {
  const give = (by: Viewer, principalId: string, grant: GrantFacts) =>
    grantAccess(given.platform, callOf(by), { principalId, grant, reason: 'because' })

  test('is given by who manages access there, with its own audit entry in that project', async () => {
    const manager = await somebody({ capabilities: ['access.manage', 'turn.submit'], projectId: A })
    const member = await principal([{ capabilities: ['session.read'], projectId: A }])
    const { grantId } = await give(manager, member, { capabilities: ['turn.submit'], projectId: A })
    const subjectId = encodeId({ type: 'Grant', id: grantId })
    expect(await given.db.auditEntry.findMany({ where: { subjectId } })).toMatchObject([
      { action: 'access.granted', projectId: A, actorId: manager.principalId, reason: 'because' },
    ])
  })

  test.each<[string, string[], () => GrantFacts, string]>([
    [
      'without managing access',
      ['turn.submit'],
      () => ({ capabilities: ['turn.submit'], projectId: A }),
      'PERMISSION_DENIED',
    ],
    [
      'of what the giver lacks',
      ['access.manage'],
      () => ({ capabilities: ['turn.submit'], projectId: A }),
      'PERMISSION_DENIED',
    ],
    [
      'of ownership by a manager',
      ['access.manage'],
      () => ({ capabilities: ['project.own'], projectId: A }),
      'PERMISSION_DENIED',
    ],
    [
      'on everything by a project’s owner',
      ['project.own'],
      () => ({ capabilities: ['session.read'] }),
      'PERMISSION_DENIED',
    ],
    [
      'in another project',
      ['project.own'],
      () => ({ capabilities: ['session.read'], projectId: B }),
      'NOT_FOUND',
    ],
    [
      'on a scope that it can’t have',
      ['project.own'],
      () => ({ capabilities: ['project.create'], projectId: A }),
      'INVALID_INPUT',
    ],
  ])('%s is refused', async (_what, held, grant, code) => {
    const giver = await somebody({ capabilities: held, projectId: A })
    const member = await principal([{ capabilities: ['session.read'], projectId: A }])
    await expect(give(giver, member, grant())).rejects.toEqual(refusal(code))
    expect(await given.db.grant.count({ where: { principalId: member } })).toBe(1)
  })

  test('to somebody whom the giver does not see is NOT_FOUND', async () => {
    const manager = await somebody({ capabilities: ['project.own'], projectId: A })
    const stranger = await principal([{ capabilities: ['session.read'], projectId: B }])
    const grant = { capabilities: ['session.read'], projectId: A }
    await expect(give(manager, stranger, grant)).rejects.toEqual(refusal('NOT_FOUND'))
    await expect(give(manager, given.platform.ids.next(), grant)).rejects.toEqual(refusal('NOT_FOUND'))
  })

  test('of another project is not there for a manager, and its own can’t be taken by a member', async () => {
    const manager = await somebody({ capabilities: ['project.own'], projectId: A })
    const member = await somebody({ capabilities: ['session.read'], projectId: A })
    const taken = async (by: Viewer, projectId: string) => {
      const principalId = await principal([{ capabilities: ['turn.submit'], projectId }])
      const [grant] = await given.db.grant.findMany({ where: { principalId } })
      await revokeGrant(given.platform, callOf(by), { grantId: grant?.id as string })
    }
    await taken(manager, A)
    await expect(taken(manager, B)).rejects.toEqual(refusal('NOT_FOUND'))
    await expect(taken(member, A)).rejects.toEqual(refusal('NOT_FOUND'))
    const [own] = await given.db.grant.findMany({ where: { principalId: member.principalId, tokenId: null } })
    const mine = revokeGrant(given.platform, callOf(member), { grantId: own?.id as string })
    await expect(mine).rejects.toEqual(refusal('PERMISSION_DENIED'))
  })

  test('that makes the last owner of everything stays, also when two owners remove each other at once', async () => {
    const ownership = async (principalId: string) =>
      (
        await given.db.grant.findFirstOrThrow({
          where: { principalId, tokenId: null, projectId: null, revokedAt: null },
        })
      ).id
    const revoke = (grantId: string) => revokeGrant(given.platform, callOf(owner), { grantId })
    await expect(revoke(await ownership(owner.principalId))).rejects.toEqual(refusal('CONFLICT'))
    const second = await principal([{ capabilities: ['project.own'] }], 'Second owner')
    const outcomes = await Promise.allSettled([
      revoke(await ownership(owner.principalId)),
      revoke(await ownership(second)),
    ])
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes.find((outcome) => outcome.status === 'rejected')).toMatchObject({
      reason: { code: 'CONFLICT' },
    })
    // The owner of the other tests is one again, whichever of the two won.
    await given.db.grant.updateMany({ where: { principalId: owner.principalId }, data: { revokedAt: null } })
  })
})

describe('a new principal', () => {
  test('needs access.manage on every scope that it gets, and on everything when it gets none', async () => {
    const manager = await somebody({ capabilities: ['project.own'], projectId: A })
    const inA = { capabilities: ['session.read'], projectId: A }
    await principal([inA], 'New in A', manager)
    await expect(principal([], 'New', manager)).rejects.toEqual(refusal('PERMISSION_DENIED'))
    const inB = { capabilities: ['session.read'], projectId: B }
    await expect(principal([inA, inB], 'New', manager)).rejects.toEqual(refusal('NOT_FOUND'))
    expect(await given.db.principal.count({ where: { name: 'New' } })).toBe(0)
  })

  test('that is a person gets one invitation, the same for the same key', async () => {
    const input = { kind: 'PERSON' as const, name: 'Ada', email: 'ada@example.test', grants: [] }
    const call = callOf(owner, 'createPrincipal', 'ada', input)
    const first = await createPrincipal(given.platform, call, input)
    expect(first.invitationId).not.toBeNull()
    expect(await createPrincipal(given.platform, call, input)).toEqual(first)
    expect(await given.db.invitation.count({ where: { principalId: first.principalId } })).toBe(1)
    const service = await createPrincipal(given.platform, callOf(owner), { ...input, kind: 'SERVICE' })
    expect(service.invitationId).toBeNull()
  })
})

describe('the list of principals', () => {
  test('shows who shares a project, page by page, and nobody else', async () => {
    const C = await project('Project C')
    const viewer = await somebody({ capabilities: ['session.read'], projectId: C })
    const inC = { capabilities: ['session.read'], projectId: C }
    const shown = [await principal([inC]), await principal([inC]), await principal([inC])]
    await principal([{ capabilities: ['session.read'], projectId: B }], 'Stranger')
    const gone = await principal([inC], 'Gone')
    await given.db.grant.updateMany({ where: { principalId: gone }, data: { revokedAt: given.clock.now() } })
    const seen: string[] = []
    let after: [string, string] | null = null
    for (;;) {
      const rows = await listPrincipals(given.db, viewer, { first: 2, after })
      const page = rows.slice(0, 2)
      seen.push(...page.map((row) => row.id))
      if (rows.length <= 2) break
      const last = page[1] as (typeof page)[number]
      after = [last.createdAt.toISOString(), last.id]
    }
    const onEverything = await given.db.grant.findMany({
      where: { projectId: null, tokenId: null, revokedAt: null },
    })
    const expected = [
      ...shown,
      viewer.principalId,
      ...new Set(onEverything.map((grant) => grant.principalId)),
    ]
    expect([...seen].sort()).toEqual(expected.sort())
  })
})
