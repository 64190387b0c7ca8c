import {
  decideGrants,
  decideRevocation,
  expiryOf,
  type HeldGrant,
} from '@wheelhouse/server/domains/access/principals/rules'
import {
  allows,
  type Capability,
  capabilities,
  exceeds,
  type GrantFacts,
  type Viewer,
} from '@wheelhouse/server/domains/access/rules'
import { Refusal } from '@wheelhouse/server/platform/refusal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const names = Object.keys(capabilities) as Capability[]
const A = { projectId: 'A' }
const B = { projectId: 'B' }
const A1 = { projectId: 'A', sessionId: 'A1' }
const _A2 = { projectId: 'A', sessionId: 'A2' }
const on = (scope: object, ...held: Capability[]): GrantFacts => ({ ...scope, capabilities: held })

const person = (...grants: GrantFacts[]): Viewer => ({
  principalId: 'me',
  principalKind: 'PERSON',
  tokenId: null,
  signInId: null,
  expiresAt: null,
  channel: 'CONSOLE',
  grants,
  tokenGrants: null,
})
const token = (grants: GrantFacts[], tokenGrants: GrantFacts[], more: Partial<Viewer> = {}): Viewer => ({
  ...person(...grants),
  tokenId: 'my-token',
  channel: 'API',
  tokenGrants,
  ...more,
})
const code = (refusal: Refusal | null) => refusal?.code ?? null

const held = (
  scope: { projectId?: string; sessionId?: string },
  more: Partial<HeldGrant> = {},
): HeldGrant => ({
  principalId: 'other',
  tokenId: null,
  capabilities: ['session.read'],
  projectId: scope.projectId ?? null,
  sessionId: scope.sessionId ?? null,
  ...more,
})

describe('giving', () => {
  const path = (index: number) => ['grants', String(index)]
  const give = (viewer: Viewer, forItself: boolean, ...grants: GrantFacts[]) =>
    code(decideGrants(viewer, grants, { forItself, path }))

  test.each<[string, Viewer, boolean, GrantFacts[], string | null]>([
    ['itself what it holds', person(on(A, 'turn.submit')), true, [on(A, 'turn.submit')], null],
    ['itself a part of what it holds', person(on(A, 'turn.submit')), true, [on(A1, 'turn.submit')], null],
    ['itself more', person(on(A, 'turn.submit')), true, [on(A, 'turn.cancel')], 'PERMISSION_DENIED'],
    ['itself wider', person(on(A1, 'turn.submit')), true, [on(A, 'turn.submit')], 'PERMISSION_DENIED'],
    [
      'itself ownership of what it manages',
      person(on(A, 'access.manage')),
      true,
      [on(A, 'project.own')],
      'PERMISSION_DENIED',
    ],
    ['itself something elsewhere', person(on(A, 'turn.submit')), true, [on(B, 'turn.submit')], 'NOT_FOUND'],
    [
      'others without managing access',
      person(on(A, 'turn.submit')),
      false,
      [on(A, 'turn.submit')],
      'PERMISSION_DENIED',
    ],
    [
      'others what it manages and holds',
      person(on(A, 'turn.submit', 'access.manage')),
      false,
      [on(A, 'turn.submit')],
      null,
    ],
    [
      'others what it manages but lacks',
      person(on(A, 'access.manage')),
      false,
      [on(A, 'turn.submit')],
      'PERMISSION_DENIED',
    ],
    [
      'others one good and one bad',
      person(on(A, 'project.own')),
      false,
      [on(A, 'turn.submit'), on(B, 'turn.submit')],
      'NOT_FOUND',
    ],
    [
      'others everything of its own project',
      person(on(A, 'project.own')),
      false,
      [on(A, 'project.own')],
      null,
    ],
    [
      'others something on everything',
      person(on(A, 'project.own')),
      false,
      [on({}, 'session.read')],
      'PERMISSION_DENIED',
    ],
    [
      'others by a token that is too narrow',
      token([on({}, 'project.own')], [on(A, 'access.manage')]),
      false,
      [on(A, 'turn.submit')],
      'PERMISSION_DENIED',
    ],
    [
      'what is no capability, before anything else',
      person(),
      true,
      [on(B, 'nonsense' as Capability)],
      'INVALID_INPUT',
    ],
  ])('%s', (_what, viewer, forItself, grants, expected) => {
    expect(give(viewer, forItself, ...grants)).toBe(expected)
  })

  test('never gives what the giver could not do itself', () => {
    const scope = fc.constantFrom<object>({}, A, A1, B)
    const grant = fc.record({ where: scope, names: fc.subarray(names, { minLength: 1, maxLength: 4 }) })
    const grants = fc.array(grant, { maxLength: 4 }).map((list) => list.map((g) => on(g.where, ...g.names)))
    fc.assert(
      fc.property(grants, grants, grant, fc.boolean(), (own, narrowing, wanted, forItself) => {
        const giver = token([on(A, 'access.manage'), ...own], [on({}, 'access.manage'), ...narrowing])
        const given = on(wanted.where, ...wanted.names)
        if (decideGrants(giver, [given], { forItself, path }) !== null) return
        for (const name of names) {
          if (allows(person(given), name, wanted.where)) expect(allows(giver, name, wanted.where)).toBe(true)
        }
        expect(exceeds(giver, given)).toBeNull()
      }),
    )
  })
})

describe('a token', () => {
  const now = new Date('2026-03-01T12:00:00Z')
  const later = new Date('2026-03-02T12:00:00Z')
  const latest = new Date('2026-03-03T12:00:00Z')
  test('ends in the future, or never', () => {
    expect(expiryOf(person(), undefined, now)).toBeNull()
    expect(expiryOf(person(), later, now)).toEqual(later)
    expect(expiryOf(person(), now, now)).toBeInstanceOf(Refusal)
  })
  test('ends no later than the token that makes it', () => {
    const short = token([], [], { expiresAt: later })
    expect(expiryOf(short, undefined, now)).toEqual(later)
    expect(expiryOf(short, later, now)).toEqual(later)
    expect(expiryOf(short, latest, now)).toBeInstanceOf(Refusal)
    expect(expiryOf(token([], [], { expiresAt: null }), undefined, now)).toBeNull()
  })
  test('may outlive the browser session in which it was made', () => {
    expect(expiryOf({ ...person(), expiresAt: later }, latest, now)).toEqual(latest)
  })

  const mine = { id: 'sibling', principalId: 'me' }
  const theirs = { id: 'their-token', principalId: 'other' }
  const submits = (scope: object, principalId: string) =>
    held(scope, { principalId, tokenId: 'x', capabilities: ['turn.submit'] })
  test.each<[string, Viewer, typeof mine, HeldGrant[], string | null]>([
    ['its person', person(on(A, 'turn.submit')), mine, [submits(A, 'me')], null],
    ['itself', token([], []), { id: 'my-token', principalId: 'me' }, [submits(A, 'me')], null],
    ['its like', token([on(A, 'turn.submit')], [on(A, 'turn.submit')]), mine, [submits(A, 'me')], null],
    [
      'a lesser sibling',
      token([on(A, 'turn.submit')], [on(A, 'session.read')]),
      mine,
      [submits(A, 'me')],
      'PERMISSION_DENIED',
    ],
    [
      'a sibling of another project',
      token([on({}, 'turn.submit')], [on(B, 'turn.submit')]),
      mine,
      [submits(A, 'me')],
      'NOT_FOUND',
    ],
    ['a manager of its scopes', person(on(A, 'access.manage')), theirs, [submits(A, 'other')], null],
    [
      'a manager of some of its scopes',
      person(on(A, 'access.manage')),
      theirs,
      [submits(A, 'other'), submits(B, 'other')],
      'NOT_FOUND',
    ],
    ['a member', person(on(A, 'turn.submit')), theirs, [submits(A, 'other')], 'NOT_FOUND'],
    ['who manages all', person(on({}, 'access.manage')), theirs, [], null],
  ])('is revoked by %s', (_who, viewer, facts, grants, expected) => {
    expect(code(decideRevocation(viewer, facts, grants))).toBe(expected)
  })
})
