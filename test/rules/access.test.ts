import {
  type HeldGrant,
  seesEmail,
  seesGrant,
  seesPrincipal,
  seesToken,
} from '@wheelhouse/server/domains/access/principals/rules'
import {
  allows,
  authorize,
  type Capability,
  capabilities,
  checkGrant,
  type GrantFacts,
  type GrantScope,
  sessionsWith,
  type Viewer,
  visibleProjects,
} from '@wheelhouse/server/domains/access/rules'
import type { Refusal } from '@wheelhouse/server/platform/refusal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const names = Object.keys(capabilities) as Capability[]
const A = { projectId: 'A' }
const B = { projectId: 'B' }
const A1 = { projectId: 'A', sessionId: 'A1' }
const A2 = { projectId: 'A', sessionId: 'A2' }
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

describe('the capability table', () => {
  test('holds every capability of the specification and nothing else', () => {
    const specified = `project.create, session.create, session.open, session.settings, session.export, session.import,
      session.rename, session.delete, session.goal, turn.submit, turn.cancel, turn.steer, approval.resolve, event.read,
      artifact.read, attachment.write, attachment.read, work.admit, work.claim, work.read, work.withdraw,
      evaluation.feedback, policy.read, policy.write, delivery.manage, project.register, fs.list, ops.read,
      access.manage, runtime.register, run.execute, protocol.register, intent.correct, protocol.handoff, routing.label,
      routing.configure, verifier.receipt, emergency.stop, source.manage, automation.manage, apps.list, workspace.open,
      memory.read, memory.write, project.own, project.read, project.settings, session.read, session.close,
      session.fork, work.manage, work.override, audit.read, evaluation.read, protocol.read, intake.record`
    expect([...names].sort()).toEqual(
      specified
        .split(',')
        .map((name) => name.trim())
        .sort(),
    )
  })

  test.each(names.map((name) => [name, capabilities[name].scopes as GrantScope[]] as const))(
    '%s is given on its scopes only',
    (name, scopes) => {
      const refusalOn: Record<GrantScope, Refusal | null> = {
        ALL: checkGrant(on({}, name), []),
        PROJECT: checkGrant(on(A, name), []),
        SESSION: checkGrant(on(A1, name), []),
      }
      for (const scope of ['ALL', 'PROJECT', 'SESSION'] as const) {
        expect(code(refusalOn[scope])).toBe(scopes.includes(scope) ? null : 'INVALID_INPUT')
      }
    },
  )

  test('refuses a grant of nothing, and of what is not in it', () => {
    expect(code(checkGrant({ capabilities: [] }, []))).toBe('INVALID_INPUT')
    expect(
      checkGrant({ capabilities: ['turn.submit', 'toString'] }, ['grants', '0'])?.detail.issues?.[0]?.path,
    ).toEqual(['grants', '0', 'capabilities', '1'])
  })
})

describe('a call is let through', () => {
  type Where = 'everything' | 'A' | 'A1' | 'A2' | 'B'
  const places: Record<Where, object> = { everything: {}, A, A1, A2, B }
  // Rows: where the grant is; columns: where the capability is asked for.
  const reach: Record<Where, Record<Where, boolean>> = {
    everything: { everything: true, A: true, A1: true, A2: true, B: true },
    A: { everything: false, A: true, A1: true, A2: true, B: false },
    A1: { everything: false, A: false, A1: true, A2: false, B: false },
    A2: { everything: false, A: false, A1: false, A2: true, B: false },
    B: { everything: false, A: false, A1: false, A2: false, B: true },
  }
  const all = Object.keys(places) as Where[]
  const cells = all.flatMap((held) => all.map((asked) => [held, asked, reach[held][asked]] as const))

  test.each(cells)('with a grant on %s, asked on %s: %s', (held, asked, allowed) => {
    const grant = on(places[held], 'turn.submit')
    expect(allows(person(grant), 'turn.submit', places[asked])).toBe(allowed)
    expect(allows(person(grant), 'turn.cancel', places[asked])).toBe(false)
    // A token needs it twice: of its principal and of its own.
    expect(allows(token([grant], [grant]), 'turn.submit', places[asked])).toBe(allowed)
    expect(allows(token([grant], []), 'turn.submit', places[asked])).toBe(false)
    expect(allows(token([], [grant]), 'turn.submit', places[asked])).toBe(false)
    expect(allows(token([on({}, 'project.own')], [grant]), 'turn.submit', places[asked])).toBe(allowed)
    expect(allows(token([grant], [on({}, 'project.own')]), 'turn.submit', places[asked])).toBe(allowed)
  })

  test.each(names)('by an owner, for %s', (name) => {
    expect(allows(person(on(A, 'project.own')), name, A1)).toBe(true)
    expect(allows(person(on(A, 'project.own')), name, B)).toBe(false)
    expect(allows(person(on(A, 'project.own')), name, {})).toBe(false)
  })

  test.each(names.filter((name) => name !== 'project.own'))(
    'but never by %s alone for anything else',
    (name) => {
      for (const other of names) expect(allows(person(on({}, name)), other, A1)).toBe(other === name)
    },
  )

  test('and what a token may is always part of what its principal may', () => {
    const scope = fc.constantFrom<object>({}, A, A1, A2, B)
    const grant = fc.record({ where: scope, held: fc.subarray(names, { minLength: 1, maxLength: 3 }) })
    const grants = fc.array(grant, { maxLength: 4 }).map((list) => list.map((g) => on(g.where, ...g.held)))
    fc.assert(
      fc.property(grants, grants, fc.constantFrom(...names), scope, (own, narrowing, name, where) => {
        if (allows(token(own, narrowing), name, where)) expect(allows(person(...own), name, where)).toBe(true)
      }),
    )
  })
})

describe('a refusal', () => {
  const viewer = person(on(A, 'session.read'), on(A1, 'turn.submit'))
  test.each([
    ['what it may do', 'session.read', A, null],
    ['a thing that it sees but may not do', 'turn.cancel', A, 'PERMISSION_DENIED'],
    ['a project that it does not see', 'turn.cancel', B, 'NOT_FOUND'],
    ['a project that is not there', 'session.read', { projectId: 'nowhere' }, 'NOT_FOUND'],
    ['something outside every project', 'project.create', {}, 'PERMISSION_DENIED'],
  ] as const)('for %s', (_what, capability, scope, expected) => {
    expect(code(authorize(viewer, capability, scope))).toBe(expected)
  })

  test('names the capability that is missing', () => {
    expect(authorize(viewer, 'turn.cancel', A)?.detail.capability).toBe('turn.cancel')
    expect(authorize(viewer, 'turn.cancel', B)?.detail.capability).toBeUndefined()
  })

  test('hides a session from who sees its project but not it', () => {
    const other = person(on(A1, 'session.read'))
    expect(code(authorize(other, 'turn.submit', A2, 'session.read'))).toBe('NOT_FOUND')
    expect(code(authorize(other, 'turn.submit', A1, 'session.read'))).toBe('PERMISSION_DENIED')
  })
})

describe('the visible set', () => {
  test.each<[string, Viewer, 'all' | string[]]>([
    ['nobody’s', person(), []],
    ['a session’s guest', person(on(A1, 'session.read')), ['A']],
    [
      'a member of two',
      person(on(A, 'session.read'), on(B, 'session.read'), on(A1, 'turn.submit')),
      ['A', 'B'],
    ],
    ['who holds anything on everything', person(on({}, 'project.create')), 'all'],
    ['a token narrowed to one', token([on({}, 'project.own')], [on(A, 'session.read')]), ['A']],
    ['a wide token of a narrow principal', token([on(B, 'project.own')], [on({}, 'project.own')]), ['B']],
    ['a token that misses its principal', token([on(B, 'project.own')], [on(A, 'session.read')]), []],
  ])('of projects: %s', (_who, viewer, expected) => {
    expect(visibleProjects(viewer)).toEqual(expected)
  })

  test('of sessions is what a capability is held on', () => {
    const viewer = token(
      [on(A1, 'session.read'), on(A2, 'turn.submit')],
      [on(A, 'session.read', 'turn.submit')],
    )
    expect(sessionsWith(viewer, 'session.read', 'A')).toEqual(['A1'])
    expect(sessionsWith(viewer, 'turn.submit', 'A')).toEqual(['A2'])
    expect(sessionsWith(person(on(A, 'session.read')), 'session.read', 'A')).toBe('all')
    expect(sessionsWith(viewer, 'session.read', 'B')).toEqual([])
  })
})

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

describe('of somebody else, a caller sees', () => {
  const managerOfA = person(on(A, 'access.manage'))
  const memberOfA = person(on(A, 'session.read'))
  const managerOfAll = person(on({}, 'access.manage'))

  test.each<[string, Viewer, HeldGrant[], boolean, boolean]>([
    ['a member, of a co-member', memberOfA, [held(A)], true, false],
    ['a member, of a guest of one session', memberOfA, [held(A1)], true, false],
    ['a member, of who holds something on everything', memberOfA, [held({})], true, false],
    ['a member, of a stranger', memberOfA, [held(B)], false, false],
    ['nobody, of who holds something on everything', person(), [held({})], false, false],
    ['a manager, of its member', managerOfA, [held(A), held(B)], true, true],
    ['a manager, of a stranger', managerOfA, [held(B)], false, false],
    ['a manager, of who holds something on everything', managerOfA, [held({})], true, false],
    ['who manages all, of anybody', managerOfAll, [], true, true],
  ])('%s', (_who, viewer, grants, name, email) => {
    expect(seesPrincipal(viewer, 'other', grants)).toBe(name)
    expect(seesEmail(viewer, 'other', grants)).toBe(email)
  })

  test('only grants on scopes that it manages', () => {
    expect([held(A), held(A1), held(B), held({})].map((grant) => seesGrant(managerOfA, grant))).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect(seesGrant(memberOfA, held(A))).toBe(false)
    expect(seesGrant(managerOfAll, held({}))).toBe(true)
  })

  test('only tokens that reach nothing but what it manages', () => {
    const theirs = { id: 'their-token', principalId: 'other' }
    expect(seesToken(managerOfA, theirs, [held(A), held(A1)])).toBe(true)
    expect(seesToken(managerOfA, theirs, [held(A), held(B)])).toBe(false)
    expect(seesToken(managerOfA, theirs, [held({})])).toBe(false)
    expect(seesToken(managerOfA, theirs, [])).toBe(false)
    expect(seesToken(memberOfA, theirs, [held(A)])).toBe(false)
    expect(seesToken(managerOfAll, theirs, [])).toBe(true)
  })
})

describe('of itself, a caller sees', () => {
  const mine = { principalId: 'me' }
  test('everything when it is a person, and what a token reaches when it is a token', () => {
    const narrow = token([on({}, 'project.own')], [on(A, 'session.read')])
    expect(seesGrant(person(on(B, 'session.read')), held(B, mine))).toBe(true)
    expect(seesGrant(narrow, held(A, mine))).toBe(true)
    expect(seesGrant(narrow, held(B, mine))).toBe(false)
    expect(seesToken(narrow, { id: 'sibling', ...mine }, [held(A, mine)])).toBe(true)
    expect(seesToken(narrow, { id: 'sibling', ...mine }, [held(B, mine)])).toBe(false)
    expect(seesToken(narrow, { id: 'my-token', ...mine }, [held(B, mine)])).toBe(true)
  })
})
