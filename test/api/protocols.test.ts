import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import type { Client } from '../kit/client.ts'
import { statementsOf } from '../kit/counting.ts'
import { principalWith } from '../kit/hostile-world.ts'
import { registerProtocol as register, refundReview as yaml } from '../kit/protocols.ts'
import { given, type Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
  await app.close()
})

const json = (change: object) =>
  JSON.stringify({
    id: 'triage',
    version: 1,
    title: 'Triage',
    initialPhase: 'sort',
    phases: [{ name: 'sort', allowedActions: ['*'], final: true }],
    ...change,
  })

const refused = (story: Story, definition: string, format = 'YAML') =>
  story.owner.refused('registerProtocol', { projectId: story.projectId, definition, format })

interface Listed {
  name: string
  protocolId: string
  version: number
  source: string | null
  format: string | null
  registeredBy: { id: string } | null
  registeredAt: string | null
  builtIn: boolean
  latest: boolean
  allowed: boolean
}
const everything = `name protocolId version title initialPhase governs extraction handoffTo staleIntent source format registeredAt
  builtIn latest allowed definition registeredBy{id} completion{requiredFacts requirements strict} startRules{id anyOf noneOf}
  phases{name allowedActions needsApproval final transitions{to on{action ok} when}}`
const list = async (story: Story, client: Client = story.owner, fields = everything) =>
  (
    await client.query<{ protocols: Listed[] }>(`query($p:ID!){protocols(projectId:$p){${fields}}}`, {
      p: story.projectId,
    })
  ).protocols
const names = async (story: Story) => (await list(story)).map(({ name }) => name)
/** What was written of protocols: rows, events, entries of the audit log. */
const written = async () =>
  Promise.all([
    app.db.protocolVersion.count(),
    app.db.projectEvent.count({ where: { type: 'PROTOCOL_REGISTERED' } }),
    app.db.auditEntry.count({ where: { action: 'protocol.registered' } }),
    app.db.idempotencyKey.count({ where: { operation: 'registerProtocol' } }),
  ])

describe('a project has', () => {
  test('the built-in protocols, with all that they say', async () => {
    const story = await given(app).project()
    const listed = await list(story)
    expect(listed).toMatchObject([
      { name: 'general-task@1', protocolId: 'general-task', version: 1, governs: [] },
      {
        name: 'data-analysis@1',
        governs: ['list_data_sources', 'inspect_schema', 'preview_table', 'run_sql_readonly'],
        extraction: true,
        completion: { requirements: 'ALL_MET', strict: true },
        initialPhase: 'scope',
      },
    ])
    for (const protocol of listed) {
      expect(protocol).toMatchObject({
        source: null,
        format: null,
        registeredBy: null,
        registeredAt: null,
        builtIn: true,
        latest: true,
        allowed: true,
      })
    }
  })

  test('what was registered in it, by whom and as it was written, and no other project has it', async () => {
    const story = await given(app).project()
    const other = await given(app).project()
    expect(await register(story, yaml(1))).toMatchObject({ protocol: { name: 'refund-review@1' } })
    await register(story, json({}), 'JSON')
    await register(story, yaml(2, 'Refund review, shorter'))
    expect(await names(story)).toEqual([
      'general-task@1',
      'data-analysis@1',
      'refund-review@2',
      'refund-review@1',
      'triage@1',
    ])
    const [, , second, first, third] = await list(story)
    expect(first).toMatchObject({
      title: 'Refund review',
      source: yaml(1),
      format: 'YAML',
      builtIn: false,
      latest: false,
      allowed: true,
      registeredAt: app.clock.now().toISOString(),
      registeredBy: { id: expect.stringMatching(/^pri_/) },
      phases: [
        {
          name: 'look',
          needsApproval: [],
          final: false,
          transitions: [{ to: 'decide', on: { action: 'refunds.read', ok: true }, when: null }],
        },
        { name: 'decide', needsApproval: ['refunds.pay'], final: true, transitions: [] },
      ],
      completion: { requiredFacts: { decided: true }, requirements: 'NONE', strict: true },
      startRules: [
        {
          id: 'REFUND_ASKED',
          anyOf: [
            {
              all: [
                ['refund', '退款'],
                ['please', '请'],
              ],
            },
          ],
        },
      ],
      definition: { id: 'refund-review', handoffTo: null, staleIntent: 'ALLOW' },
    })
    expect(second).toMatchObject({ latest: true, title: 'Refund review, shorter' })
    expect(third).toMatchObject({ source: json({}), format: 'JSON', latest: true })
    expect(await names(other)).toEqual(['general-task@1', 'data-analysis@1'])
  })

  test('an event and an entry of the audit log for each registration', async () => {
    const story = await given(app).project()
    await register(story, yaml(1))
    const { project } = await story.owner.query<{ project: { events: { events: object[] } } }>(
      'query($id:ID!){project(id:$id){events(filter:{types:[PROTOCOL_REGISTERED]}){events{type payload}}}}',
      { id: story.projectId },
    )
    expect(project.events.events).toMatchObject([
      { type: 'PROTOCOL_REGISTERED', payload: { protocol: 'refund-review@1', title: 'Refund review' } },
    ])
    expect(
      await app.db.auditEntry.findMany({
        where: { action: 'protocol.registered' },
        orderBy: { at: 'desc' },
        take: 1,
      }),
    ).toMatchObject([{ detail: { protocol: 'refund-review@1' } }])
  })
})

describe('a registered version never changes', () => {
  test('the same definition again is the same success, however it is written, and writes nothing', async () => {
    const story = await given(app).project()
    await register(story, yaml(1))
    const before = await written()
    await register(story, yaml(1))
    const [, , first] = await list(story)
    const { definition } = first as unknown as { definition: object }
    await register(story, JSON.stringify(definition), 'JSON')
    expect(await written()).toEqual(before)
    expect((await list(story))[2]).toMatchObject({ source: yaml(1), format: 'YAML' })
  })

  test('another definition under it, a number left out and a built-in id are CONFLICT, and write nothing', async () => {
    const story = await given(app).project()
    await register(story, yaml(1))
    const before = await written()
    for (const [definition, message] of [
      [yaml(1, 'Another title'), /next is 2/],
      [yaml(3), /is 2/],
      [yaml(1).replace('refund-review', 'general-task'), /built-in/],
      [yaml(2).replace('refund-review', 'data-analysis'), /built-in/],
      [yaml(2).replace('refund-review', 'new-one'), /is 1/],
    ] as const) {
      expect(await refused(story, definition)).toMatchObject({
        __typename: 'Conflict',
        code: 'CONFLICT',
        message: expect.stringMatching(message),
      })
    }
    expect(await written()).toEqual(before)
    await register(story, yaml(2))
  })

  test('and the database holds to it', async () => {
    const story = await given(app).project()
    await register(story, yaml(1))
    const change = (sql: string) => app.db.$executeRawUnsafe(sql)
    await expect(change(`UPDATE protocol_versions SET title = 'x'`)).rejects.toThrow()
    await expect(change('DELETE FROM protocol_versions')).rejects.toThrow()
    const copy = (version: number) =>
      `INSERT INTO protocol_versions SELECT project_id, id, ${version}, title,
         definition || '{"version": ${version}}', source, format, digest, registered_by, at FROM protocol_versions
        WHERE id = 'refund-review' ORDER BY at DESC LIMIT 1`
    await expect(change(copy(7))).rejects.toThrow(/follows none/)
  })

  test('of two at once, one is written', async () => {
    const story = await given(app).project()
    const twice = await Promise.all(
      ['One', 'Two', 'Three', 'Four'].map((title) =>
        story.owner.mutate(
          'registerProtocol',
          { projectId: story.projectId, definition: yaml(1, title), format: 'YAML' },
          'protocol{title}',
        ),
      ),
    )
    expect(twice.map(({ __typename }) => __typename).sort()).toEqual([
      'Conflict',
      'Conflict',
      'Conflict',
      'RegisterProtocolSuccess',
    ])
    expect(await names(story)).toContain('refund-review@1')
  })

  test('a retry under its key gets its success, another input under it is a conflict', async () => {
    const story = await given(app).project()
    const more = { idempotencyKey: `key ${story.projectId}` }
    await register(story, yaml(1), 'YAML', more)
    const before = await written()
    expect(await register(story, yaml(1), 'YAML', more)).toMatchObject({
      protocol: { name: 'refund-review@1' },
    })
    expect(
      await story.owner.refused('registerProtocol', {
        projectId: story.projectId,
        definition: yaml(2),
        format: 'YAML',
        ...more,
      }),
    ).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
    expect(await written()).toEqual(before)
  })
})

test('what is wrong with a definition is said at its place, by the name of the flaw, and nothing is written', async () => {
  const story = await given(app).project()
  const before = await written()
  const flawed = yaml(1).replace('to: decide', 'to: decided')
  expect(await refused(story, flawed)).toMatchObject({
    __typename: 'InvalidInput',
    code: 'INVALID_INPUT',
    issues: [
      {
        path: ['definition', 'phases', '0', 'transitions', '0', 'to'],
        message: 'UNKNOWN_PHASE: there is no such phase',
      },
      { path: ['definition', 'phases', '1'], message: expect.stringMatching(/^UNREACHABLE_PHASE: /) },
    ],
  })
  expect(await refused(story, 'a: [')).toMatchObject({ code: 'INVALID_INPUT' })
  expect(await refused(story, '{}', 'JSON')).toMatchObject({ code: 'INVALID_INPUT' })
  expect(await refused(story, yaml(1), 'JSON')).toMatchObject({ issues: [{ message: 'is not JSON' }] })
  expect(await written()).toEqual(before)
})

test('what another protocol of the project governs is not ungoverned in a new one, which is told so', async () => {
  const story = await given(app).project()
  await register(story, yaml(1))
  const payer = `id: payer
version: 1
title: Payer
initialPhase: pay
phases:
  - name: pay
    allowedActions: [ungoverned]
    needsApproval: [refunds.pay]
    final: true
`
  const other = await given(app).project()
  await register(other, payer)
  const before = await written()
  expect(await refused(story, payer)).toMatchObject({
    code: 'INVALID_INPUT',
    issues: [
      {
        path: ['definition', 'phases', '0', 'needsApproval', '0'],
        message: expect.stringMatching(/^ACTION_NOT_IN_PHASE: /),
      },
    ],
  })
  expect(await written()).toEqual(before)
  // What is registered stays as it is, and is the same success again.
  await register(other, yaml(1))
  await register(other, payer)
})

test('reading needs protocol.read, registering protocol.register; a project that is not there has none', async () => {
  const story = await given(app).project()
  const grants = (...capabilities: string[]) => [{ capabilities, projectId: story.projectId }]
  const reader = (await principalWith(app, 'protocol reader', grants('protocol.read', 'project.read'))).client
  const writer = (await principalWith(app, 'protocol writer', grants('protocol.register', 'protocol.read')))
    .client
  const visitor = (await principalWith(app, 'visitor', grants('project.read'))).client
  const input = { projectId: story.projectId, definition: yaml(1), format: 'YAML' }
  expect(await list(story, reader, 'name')).toHaveLength(2)
  expect(await reader.refused('registerProtocol', input)).toMatchObject({
    code: 'PERMISSION_DENIED',
    capability: 'protocol.register',
  })
  await writer.do('registerProtocol', input, 'protocol{name}')
  const question = 'query($p:ID!){protocols(projectId:$p){name}}'
  expect(await visitor.refusedQuery(question, { p: story.projectId })).toBe('PERMISSION_DENIED')
  const nowhere = `${story.projectId.slice(0, -6)}AAAAAA`
  expect(await app.owner.refusedQuery(question, { p: nowhere })).toBe('NOT_FOUND')
  expect(await app.owner.refused('registerProtocol', { ...input, projectId: nowhere })).toMatchObject({
    code: 'NOT_FOUND',
  })
})

test('the JSON Schema of a definition is served to whoever is signed in', async () => {
  const { protocolSchema } = await app.owner.query<{ protocolSchema: { required: string[] } }>(
    '{protocolSchema}',
  )
  expect(protocolSchema.required).toEqual(['id', 'version', 'title', 'initialPhase', 'phases'])
  expect(await app.owner.as('wh_nobody').refusedQuery('{protocolSchema}')).toBe('UNAUTHENTICATED')
})

test('the list costs the same few statements for many versions as for one, whatever is selected', async () => {
  const story = await given(app).project()
  await register(story, yaml(1))
  await list(story)
  const few = await statementsOf(() => list(story))
  for (let version = 2; version <= 12; version += 1) await register(story, yaml(version, `Review ${version}`))
  await list(story)
  expect(await statementsOf(() => list(story))).toBe(few)
  expect(few).toBeLessThanOrEqual(6)
})
