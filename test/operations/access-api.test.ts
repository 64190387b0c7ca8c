import { type App, createApp } from '@wheelhouse/server/app'
import { readConfig } from '@wheelhouse/server/platform/config'
import { encodeId } from '@wheelhouse/server/platform/ids'
import { createLogger } from '@wheelhouse/server/platform/logger'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { givenOwner, startPlatform, type TestPlatform } from '../kit/platform.ts'

let given: TestPlatform
let app: App
let url: string
let owner: string

beforeAll(async () => {
  given = await startPlatform()
  owner = (await givenOwner(given)).secret
  const config = readConfig({ WHEELHOUSE_SAMPLE: '0' })
  const { clock, ids } = given.platform
  app = await createApp({
    db: given.db,
    databaseUrl: given.url,
    config,
    clock,
    ids,
    log: createLogger('silent'),
  })
  url = (await app.listen(0, '127.0.0.1')).url
})
afterAll(async () => {
  await app.close()
  await given.close()
})

type Data = Record<string, never>
interface Answer {
  data: Data
  errors?: { message: string; path?: string[]; extensions: { code: string; capability?: string } }[]
}

async function ask(token: string, query: string, variables: object = {}): Promise<Answer> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  })
  return (await response.json()) as Answer
}
/** The data of an answer that has no errors. */
async function data(token: string, query: string, variables: object = {}): Promise<Data> {
  const answer = await ask(token, query, variables)
  expect(answer.errors).toBeUndefined()
  return answer.data
}
const codes = (answer: Answer) => answer.errors?.map((error) => error.extensions.code)

const problem = `... on Problem { code message } ... on InvalidInput { issues { path } } ... on PermissionDenied { capability }`
async function mutate(token: string, name: string, input: object, selection: string): Promise<never> {
  const pascal = `${name[0]?.toUpperCase()}${name.slice(1)}`
  const query = `mutation($input: ${pascal}Input!) { ${name}(input: $input) { __typename ... on ${pascal}Success { ${selection} } ${problem} } }`
  return (await data(token, query, { input }))[name] as never
}

interface Tenant {
  projectId: string
  principalId: string
  tokenId: string
  grantId: string
  auditId: string
  /** A token that manages access and reads the log in the project, and nothing elsewhere. */
  manager: string
  /** A token that reads sessions in the project. */
  member: string
}

async function tenant(name: string): Promise<Tenant> {
  const created = await mutate(owner, 'createProject', { name }, 'project { id }')
  const projectId = (created as { project: { id: string } }).project.id
  const somebody = async (capabilities: string[]) => {
    const grants = [{ capabilities, projectId }]
    const input = { kind: 'SERVICE', name: `${name} service`, email: `${name}@example.test`, grants }
    const one: { principal: { id: string; grants: { id: string }[] } } = await mutate(
      owner,
      'createPrincipal',
      input,
      'principal { id grants { id } }',
    )
    const made: { secret: string; token: { id: string } } = await mutate(
      owner,
      'createToken',
      { name: `${name} token`, principalId: one.principal.id, grants },
      'secret token { id }',
    )
    return { ...made, principal: one.principal }
  }
  const manager = await somebody(['access.manage', 'audit.read'])
  const member = await somebody(['session.read'])
  const { auditLog } = await data(
    owner,
    'query($id: ID) { auditLog(projectId: $id, first: 1) { nodes { id } } }',
    {
      id: projectId,
    },
  )
  return {
    projectId,
    principalId: member.principal.id,
    tokenId: member.token.id,
    grantId: member.principal.grants[0]?.id as string,
    auditId: (auditLog as unknown as { nodes: { id: string }[] }).nodes[0]?.id as string,
    manager: manager.secret,
    member: member.secret,
  }
}

let a: Tenant
let b: Tenant
beforeAll(async () => {
  a = await tenant('alpha')
  b = await tenant('beta')
})

describe('a project’s manager', () => {
  const node = 'query($id: ID!) { node(id: $id) { __typename id } }'
  const kinds = ['projectId', 'principalId', 'tokenId', 'grantId', 'auditId'] as const

  test.each(kinds)('finds the %s of its own project, and not that of another', async (kind) => {
    expect((await data(a.manager, node, { id: a[kind] })).node).toMatchObject({ id: a[kind] })
    const other = await ask(a.manager, node, { id: b[kind] })
    expect(other.data.node).toBeNull()
    expect(codes(other)).toEqual(['NOT_FOUND'])
  })

  test.each(kinds)('gets for the %s of another project what a missing one gets', async (kind) => {
    const type = {
      projectId: 'Project',
      principalId: 'Principal',
      tokenId: 'Token',
      grantId: 'Grant',
      auditId: 'AuditEntry',
    } as const
    const missing = encodeId({ type: type[kind], id: given.platform.ids.next() })
    const [there, nowhere] = [
      await ask(a.manager, node, { id: b[kind] }),
      await ask(a.manager, node, { id: missing }),
    ]
    expect(there).toEqual(nowhere)
  })

  test('lists principals, tokens and grants of its project only', async () => {
    const { principals } = await data(
      a.manager,
      '{ principals(first: 100) { nodes { name email tokens { name } grants { project { id } } } } }',
    )
    const { nodes } = principals as unknown as { nodes: { name: string }[] }
    expect(nodes.map((node) => node.name).sort()).toEqual(['Owner', 'alpha service', 'alpha service'])
    expect(JSON.stringify(nodes)).not.toContain('beta')
    expect(nodes.find((node) => node.name === 'Owner')).toMatchObject({ email: null, tokens: [], grants: [] })
  })

  test('reads the log of its project only', async () => {
    const log = 'query($id: ID) { auditLog(projectId: $id, first: 100) { nodes { action project { id } } } }'
    const { auditLog } = await data(a.manager, log, { id: a.projectId })
    const { nodes } = auditLog as unknown as { nodes: { project: { id: string } }[] }
    expect(nodes.length).toBeGreaterThan(0)
    expect(new Set(nodes.map((node) => node.project.id))).toEqual(new Set([a.projectId]))
    expect(codes(await ask(a.manager, log, { id: b.projectId }))).toEqual(['NOT_FOUND'])
    expect(codes(await ask(a.manager, log))).toEqual(['PERMISSION_DENIED'])
  })

  test('exports the log of its project only, whatever path it is given', async () => {
    const path = 'query($id: ID) { auditExportPath(projectId: $id, filter: { channels: [API] }) }'
    const get = async (token: string, of: string) => {
      const { auditExportPath } = await data(owner, path, { id: of })
      return fetch(`${url}${auditExportPath}`, { headers: { authorization: `Bearer ${token}` } })
    }
    const own = await get(a.manager, a.projectId)
    expect(own.headers.get('content-type')).toContain('text/csv')
    expect(await own.text()).toContain('alpha token')
    expect((await get(a.manager, b.projectId)).status).toBe(404)
    expect((await get(a.member, a.projectId)).status).toBe(403)
  })

  test.each<[string, () => [string, object]]>([
    [
      'a grant to somebody there',
      () => [
        'grantAccess',
        { principalId: b.principalId, grant: { capabilities: ['audit.read'], projectId: a.projectId } },
      ],
    ],
    [
      'a grant there',
      () => [
        'grantAccess',
        { principalId: a.principalId, grant: { capabilities: ['audit.read'], projectId: b.projectId } },
      ],
    ],
    ['the end of a grant there', () => ['revokeGrant', { grantId: b.grantId }]],
    ['the end of a token there', () => ['revokeToken', { tokenId: b.tokenId }]],
    [
      'a token for somebody there',
      () => [
        'createToken',
        {
          name: 'x',
          principalId: b.principalId,
          grants: [{ capabilities: ['audit.read'], projectId: a.projectId }],
        },
      ],
    ],
    ['a change of the project there', () => ['updateProject', { projectId: b.projectId, name: 'x' }]],
    ['its limits there', () => ['updateProjectLimits', { projectId: b.projectId, limits: {} }]],
    ['a view there', () => ['saveView', { projectId: b.projectId, screen: 's', name: 'x', state: {} }]],
  ])('is refused %s as if it were not there', async (_what, call) => {
    const [name, input] = call()
    expect(await mutate(a.manager, name, input, '__typename')).toMatchObject({ __typename: 'NotFound' })
  })
})

describe('a member', () => {
  test('sees of others the name, and of itself the rest', async () => {
    const answer = await data(
      a.member,
      '{ principals { nodes { name email tokens { id } grants { id } } } viewer { principal { email tokens { id } grants { id } } } }',
    )
    expect(answer.viewer).toEqual({
      principal: { email: 'alpha@example.test', tokens: [{ id: a.tokenId }], grants: [{ id: a.grantId }] },
    })
    const { nodes } = answer.principals as unknown as {
      nodes: { email: string | null; tokens: { id: string }[] }[]
    }
    expect(nodes.filter((node) => node.email !== null).map((node) => node.tokens)).toEqual([
      [{ id: a.tokenId }],
    ])
  })

  test('is told which capability it lacks for what it sees', async () => {
    const input = { projectId: a.projectId, name: 'x' }
    expect(await mutate(a.member, 'updateProject', input, '__typename')).toMatchObject({
      __typename: 'PermissionDenied',
      capability: 'project.settings',
    })
    expect(await mutate(a.member, 'createProject', { name: 'x' }, '__typename')).toMatchObject({
      capability: 'project.create',
    })
    const query = 'query($id: ID) { project(id: $id) { name limits { runTimeoutMs } } }'
    const answer = await ask(a.member, query, { id: a.projectId })
    expect(answer.errors?.[0]?.extensions).toMatchObject({
      code: 'PERMISSION_DENIED',
      capability: 'project.read',
    })
  })

  test('learns its capabilities on each scope, and nothing about scopes that it does not see', async () => {
    const query = 'query($id: ID) { viewer { capabilities(projectId: $id) } }'
    expect((await data(a.member, query, { id: a.projectId })).viewer).toEqual({
      capabilities: ['session.read'],
    })
    expect((await data(a.member, query)).viewer).toEqual({ capabilities: [] })
    expect(codes(await ask(a.member, query, { id: b.projectId }))).toEqual(['NOT_FOUND'])
  })
})

describe('the owner', () => {
  test('gets a link for a person, the same under the same key', async () => {
    const input = { kind: 'PERSON', name: 'Ada', idempotencyKey: 'ada' }
    const create = () => mutate(owner, 'createPrincipal', input, 'principal { id } signInUrl')
    const first: { signInUrl: string } = await create()
    expect(first.signInUrl).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+\/welcome#code=[\w-]{43}$/)
    expect(await create()).toEqual(first)
  })

  test('sees in the log what each entry was about, and null for what is not there', async () => {
    const id = given.platform.ids.next()
    const subjectId = encodeId({ type: 'Token', id })
    await given.db.auditEntry.create({
      data: {
        id,
        at: given.clock.now(),
        action: 'token.created',
        subjectType: 'Token',
        subjectId,
        channel: 'SYSTEM',
      },
    })
    const { auditLog } = await data(
      owner,
      '{ auditLog(first: 100) { nodes { subjectType subjectId subject { __typename id } actor { name } } } }',
    )
    const { nodes } = auditLog as unknown as {
      nodes: { subjectId: string; subjectType: string; subject: { __typename: string; id: string } | null }[]
    }
    expect(nodes.find((node) => node.subjectId === subjectId)).toMatchObject({ subject: null, actor: null })
    const known = nodes.filter((node) => node.subjectId !== subjectId && node.subjectId !== null)
    expect(known.length).toBeGreaterThan(5)
    for (const node of known)
      expect(node.subject).toEqual({ __typename: node.subjectType, id: node.subjectId })
  })

  test('gets the issues of an input by their paths, and NOT_FOUND for an id that names nothing', async () => {
    const bad = { name: 'x', grants: [{ capabilities: ['session.read', 'nonsense'] }] }
    expect(await mutate(owner, 'createToken', bad, '__typename')).toMatchObject({
      issues: [{ path: ['grants', '0', 'capabilities', '1'] }],
    })
    const slug = { name: 'x', slug: 'Not A Slug' }
    expect(await mutate(owner, 'createProject', slug, '__typename')).toMatchObject({
      issues: [{ path: ['slug'] }],
    })
    const limits = { projectId: a.projectId, limits: { maxConcurrentRuns: 0 } }
    expect(await mutate(owner, 'updateProjectLimits', limits, '__typename')).toMatchObject({
      issues: [{ path: ['limits', 'maxConcurrentRuns'] }],
    })
    const forged = { name: 'x', grants: [{ capabilities: ['session.read'], projectId: a.principalId }] }
    expect(await mutate(owner, 'createToken', forged, '__typename')).toMatchObject({ __typename: 'NotFound' })
    expect(
      codes(await ask(owner, '{ auditLog(filter: { subjectId: "nonsense" }) { nodes { id } } }')),
    ).toEqual(['NOT_FOUND'])
    expect(codes(await ask(owner, '{ project { id } }'))).toEqual(['INVALID_INPUT'])
    expect(codes(await ask(owner, '{ projects(first: 101) { nodes { id } } }'))).toEqual(['INVALID_INPUT'])
    expect(codes(await ask(owner, '{ projects(after: "nonsense") { nodes { id } } }'))).toEqual([
      'INVALID_INPUT',
    ])
  })

  test('revokes a token once, after which it is not offered any more', async () => {
    const grants = [{ capabilities: ['session.read'] }]
    const made: { token: { id: string }; secret: string } = await mutate(
      owner,
      'createToken',
      { name: 'short', grants },
      'token { id } secret',
    )
    const gone = await mutate(
      owner,
      'revokeToken',
      { tokenId: made.token.id },
      'token { revokedAt allowedActions { action allowed } }',
    )
    expect(gone).toMatchObject({
      token: { revokedAt: expect.any(String), allowedActions: [{ action: 'revokeToken', allowed: false }] },
    })
    expect(codes(await ask(made.secret, '{ viewer { channel } }'))).toEqual(['UNAUTHENTICATED'])
  })
})

test('nobody without a token learns anything', async () => {
  for (const query of [
    '{ viewer { channel } }',
    '{ capabilities { name } }',
    '{ projects { nodes { id } } }',
    '{ principals { nodes { id } } }',
  ]) {
    expect(codes(await ask('x'.repeat(40), query))).toEqual(['UNAUTHENTICATED'])
  }
})

test('a person gets in by the first link, works by the cookie, and gets out, over HTTP', async () => {
  const code = app.firstOwnerPath?.split('#code=')[1]
  const send = (
    path: string,
    init: { body?: object; cookie?: string; headers?: Record<string, string> } = {},
  ) =>
    fetch(`${url}${path}`, {
      ...(init.body && { method: 'POST', body: JSON.stringify(init.body) }),
      headers: {
        ...(init.body && { 'content-type': 'application/json' }),
        ...(init.cookie !== undefined && { cookie: init.cookie }),
        origin: url,
        ...init.headers,
      },
    })
  const password = 'correct horse battery'
  const person = { code, name: 'Grace', email: 'grace@example.test', password }
  const redeemed = await send('/auth/redeem', { body: person })
  expect(redeemed.status).toBe(200)
  const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const cookie = cookieOf(redeemed)
  const body = { query: '{ viewer { channel principal { name } token { id } } }' }
  const answer = await send('/graphql', { body, cookie, headers: { 'x-wheelhouse-api': '1' } })
  expect(await answer.json()).toEqual({
    data: { viewer: { channel: 'CONSOLE', principal: { name: 'Grace' }, token: null } },
  })
  expect((await send('/graphql', { body, cookie })).status).toBe(403)
  expect(await (await send('/api/auth/get-session', { cookie })).json()).toMatchObject({
    user: { name: 'Grace' },
  })
  expect((await send('/exports/audit.csv', { cookie })).status).toBe(200)
  expect((await send('/api/auth/sign-out', { body: {}, cookie })).status).toBe(200)
  expect((await send('/exports/audit.csv', { cookie })).status).toBe(401)
  const again = await send('/api/auth/sign-in/email', { body: { email: person.email, password } })
  expect(await (await send('/auth/state', { cookie: cookieOf(again) })).json()).toEqual({
    needsFirstOwner: false,
    signedIn: true,
  })
  expect((await send('/auth/redeem', { body: { ...person, padding: 'x'.repeat(20_000) } })).status).toBe(400)
})

test('a full page of principals with their tokens and grants is not too much to ask', async () => {
  const grants = 'grants { id capabilities project { name } createdBy { name } }'
  await data(owner, `{ principals(first: 100) { nodes { name tokens { name ${grants} } ${grants} } } }`)
})
