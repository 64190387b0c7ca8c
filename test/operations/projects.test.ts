import { createPrincipal, createToken } from '@wheelhouse/server/domains/access/principals/operations'
import type { Viewer } from '@wheelhouse/server/domains/access/rules'
import {
  createProject,
  findProject,
  listProjects,
  loadProjectLoads,
  loadProjects,
  savedViewsFor,
  saveView,
  updateProject,
  updateProjectLimits,
} from '@wheelhouse/server/domains/projects/operations'
import { defaultLimits, limitNames, limits, savedViewLimits } from '@wheelhouse/server/domains/projects/rules'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callOf, givenOwner, signIn, startPlatform, type TestPlatform } from '../kit/platform.ts'

let given: TestPlatform
let owner: Viewer
beforeAll(async () => {
  given = await startPlatform()
  owner = (await givenOwner(given)).viewer
})
afterAll(() => given.close())

const create = async (name: string, slug?: string, viewer = owner) =>
  (await createProject(given.platform, callOf(viewer), { name, slug })).projectId
const read = async (id: string) => (await loadProjects(given.db, [id]))[0]
const refusal = (code: string, more: object = {}) => expect.objectContaining({ code, ...more })

/** A service that holds these capabilities, on a project or on everything, by a token of its own. */
async function service(capabilities: string[], projectId?: string): Promise<Viewer> {
  const grants = [{ capabilities, ...(projectId !== undefined && { projectId }) }]
  const { principalId } = await createPrincipal(given.platform, callOf(owner), {
    kind: 'SERVICE',
    name: 'A service',
    grants,
  })
  const { secret } = await createToken(given.platform, callOf(owner), {
    name: 'its token',
    principalId,
    grants,
  })
  return signIn(given.platform, secret)
}

describe('a new project', () => {
  test('has default limits, counts of nothing, its event and its audit entry, all at once', async () => {
    const id = await create('Pricing study')
    expect(await read(id)).toMatchObject({ slug: 'pricing-study', version: 1, ...defaultLimits })
    expect(await loadProjectLoads(given.db, [id])).toMatchObject([
      { id, sessions: 0, openSessions: 0, liveRuns: 0, openApprovals: 0, inboxOpen: 0 },
    ])
    expect(await given.db.projectEvent.findMany({ where: { projectId: id } })).toMatchObject([
      { type: 'PROJECT_CREATED', payload: { name: 'Pricing study', slug: 'pricing-study' } },
    ])
    expect(await given.db.auditEntry.findMany({ where: { projectId: id } })).toMatchObject([
      {
        action: 'project.created',
        actorId: owner.principalId,
        channel: 'API',
        detail: { slug: 'pricing-study' },
      },
    ])
  })

  test('finds a free slug by itself, and refuses a given one that is taken', async () => {
    const first = await create('Twice')
    expect((await read(await create('Twice')))?.slug).toBe('twice-2')
    await expect(create('Other', 'twice')).rejects.toEqual(
      refusal('CONFLICT', { detail: { current: { type: 'Project', id: first } } }),
    )
    expect((await read(await create('定价研究')))?.slug).toMatch(/^project-[0-9a-f]{8}$/)
  })

  test('created many times at once under one name, all are there under different slugs', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => create('Rush')))
    const slugs = (await loadProjects(given.db, ids)).map((project) => project.slug)
    expect(new Set(slugs).size).toBe(8)
  })

  test('is created once under one key, and another input under the key is refused', async () => {
    const call = callOf(owner, 'createProject', 'key-1', { name: 'Once' })
    const first = await createProject(given.platform, call, { name: 'Once' })
    expect(await createProject(given.platform, call, { name: 'Once' })).toEqual(first)
    const other = callOf(owner, 'createProject', 'key-1', { name: 'Other' })
    await expect(createProject(given.platform, other, { name: 'Other' })).rejects.toEqual(
      refusal('IDEMPOTENCY_CONFLICT'),
    )
    expect(await given.db.project.count({ where: { name: 'Once' } })).toBe(1)
  })

  test('makes its creator an owner of it, unless it is one already', async () => {
    const maker = await service(['project.create'])
    const id = await create('Made by a service', undefined, maker)
    const grants = await given.db.grant.findMany({ where: { projectId: id } })
    expect(grants).toMatchObject([
      { principalId: maker.principalId, tokenId: null, capabilities: ['project.own'], sessionId: null },
    ])
    expect(await given.db.grant.count({ where: { projectId: await create('Made by the owner') } })).toBe(0)
  })
})

describe('a change of a project', () => {
  test('raises its version once, and changes nothing when nothing differs', async () => {
    const projectId = await create('To be changed')
    const change = {
      projectId,
      name: 'Changed',
      defaultModel: 'large',
      defaultThinkingLevel: 'HIGH' as const,
    }
    await updateProject(given.platform, callOf(owner), { ...change, expectedVersion: 1 })
    await updateProject(given.platform, callOf(owner), change)
    expect(await read(projectId)).toMatchObject({ name: 'Changed', defaultModel: 'large', version: 2 })
    const updates = { projectId, type: 'PROJECT_UPDATED' }
    expect(await given.db.projectEvent.findMany({ where: updates })).toMatchObject([
      { payload: { version: 2, changed: ['name', 'defaultModel', 'defaultThinkingLevel'] } },
    ])
    expect(
      await given.db.auditEntry.findMany({ where: { projectId, action: 'project.updated' } }),
    ).toMatchObject([{ detail: { name: { from: 'To be changed', to: 'Changed' } } }])
    await updateProject(given.platform, callOf(owner), { projectId, defaultModel: '' })
    expect(await read(projectId)).toMatchObject({
      defaultModel: null,
      defaultThinkingLevel: 'HIGH',
      version: 3,
    })
  })

  test('meant for another version is a conflict that names the project, and writes nothing', async () => {
    const projectId = await create('Contested')
    const late = { projectId, expectedVersion: 2 }
    const conflict = refusal('CONFLICT', { detail: { current: { type: 'Project', id: projectId } } })
    const rename = updateProject(given.platform, callOf(owner), { ...late, name: 'Late' })
    await expect(rename).rejects.toEqual(conflict)
    const widen = updateProjectLimits(given.platform, callOf(owner), {
      ...late,
      limits: { maxConcurrentRuns: 5 },
    })
    await expect(widen).rejects.toEqual(conflict)
    expect(await read(projectId)).toMatchObject({ name: 'Contested', maxConcurrentRuns: 4, version: 1 })
  })

  test('of many at one version, exactly one wins', async () => {
    const projectId = await create('Raced')
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) =>
        updateProject(given.platform, callOf(owner), {
          projectId,
          name: `Racer ${index}`,
          expectedVersion: 1,
        }),
      ),
    )
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
    expect((await read(projectId))?.version).toBe(2)
  })

  test('to a slug that is taken is a conflict, also when both come at once', async () => {
    const [one, other] = [await create('Slug one'), await create('Slug other')]
    const take = (projectId: string, slug: string) =>
      updateProject(given.platform, callOf(owner), { projectId, slug })
    await expect(take(one, 'slug-other')).rejects.toEqual(refusal('CONFLICT'))
    const outcomes = await Promise.allSettled([take(one, 'wanted'), take(other, 'wanted')])
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes.find((outcome) => outcome.status === 'rejected')).toMatchObject({
      reason: { code: 'CONFLICT' },
    })
  })

  test('of a project that is not there is NOT_FOUND', async () => {
    const change = updateProject(given.platform, callOf(owner), {
      projectId: given.platform.ids.next(),
      name: 'Nothing',
    })
    await expect(change).rejects.toEqual(refusal('NOT_FOUND'))
  })
})

describe('limits', () => {
  test.each(limitNames)(
    'of %s: the database takes both ends, and keeps who changed it and why',
    async (name) => {
      const projectId = await create(`Limit of ${name}`)
      for (const value of [limits[name].min, limits[name].max]) {
        await updateProjectLimits(given.platform, callOf(owner), {
          projectId,
          limits: { [name]: value },
          reason: 'because',
        })
        expect((await read(projectId))?.[name]).toBe(value)
      }
      const entries = await given.db.auditEntry.findMany({
        where: { projectId, action: 'project.limits.updated' },
        orderBy: { id: 'asc' },
      })
      expect(entries.at(-1)).toMatchObject({
        reason: 'because',
        detail: { [name]: { from: limits[name].min, to: limits[name].max } },
      })
    },
  )

  test('beyond a range are refused by the rule, and by the database too', async () => {
    const projectId = await create('Out of range')
    for (const name of limitNames) {
      const low = updateProjectLimits(given.platform, callOf(owner), {
        projectId,
        limits: { [name]: limits[name].min - 1 },
      })
      await expect(low).rejects.toEqual(refusal('INVALID_INPUT'))
      const around = given.db.project.update({
        where: { id: projectId },
        data: { [name]: limits[name].min - 1 },
      })
      await expect(around).rejects.toThrow()
    }
  })
})

describe('the list of projects', () => {
  test('is filtered before it is paged: a page of a member is full of what it sees', async () => {
    const mine: string[] = []
    let member = await service(['project.read'], await create('Seen 0'))
    mine.push(member.grants[0]?.projectId as string)
    for (let index = 1; index < 4; index += 1) {
      await create(`Unseen ${index}`)
      const projectId = await create(`Seen ${index}`)
      mine.push(projectId)
      member = {
        ...member,
        grants: [...member.grants, { capabilities: ['project.read'], projectId }],
        tokenGrants: null,
      }
    }
    const first = await listProjects(given.db, member, { first: 3, after: null })
    expect(first.map((row) => row.id)).toEqual([...mine].reverse())
    const last = first[2] as (typeof first)[number]
    const next = await listProjects(given.db, member, {
      first: 3,
      after: [last.createdAt.toISOString(), last.id],
    })
    expect(next.map((row) => row.id)).toEqual([mine[0]])
  })

  test('finds by slug only what the caller sees', async () => {
    const member = await service(['session.read'], await create('By slug'))
    await create('Hidden by slug')
    expect((await findProject(given.db, member, 'by-slug'))?.name).toBe('By slug')
    expect(await findProject(given.db, member, 'hidden-by-slug')).toBeNull()
    expect(await findProject(given.db, member, 'not-there')).toBeNull()
  })
})

describe('a saved view', () => {
  const view = { screen: 'sessions', name: 'Mine', state: { states: ['OPEN'] } }
  const save = (viewer: Viewer, projectId: string, more: object = {}) =>
    saveView(given.platform, callOf(viewer), { projectId, ...view, ...more })

  test('is kept under its name, replaced under its name, and deleted', async () => {
    const projectId = await create('Views')
    const first = await save(owner, projectId)
    const second = await save(owner, projectId, { state: { states: [] } })
    expect(second).toEqual(first)
    expect(await savedViewsFor(given.db, owner, projectId, 'sessions')).toMatchObject([
      { state: { states: [] } },
    ])
    const ref = { projectId, id: first.viewId as string }
    expect(await save(owner, projectId, { view: ref, delete: true })).toEqual({
      viewId: null,
      deletedId: first.viewId,
    })
    expect(await savedViewsFor(given.db, owner, projectId, 'sessions')).toEqual([])
  })

  test('is seen by others only when it is shared, and changed by its owner only', async () => {
    const projectId = await create('Shared views')
    const member = await service(['project.read'], projectId)
    const { viewId } = await save(owner, projectId)
    const ref = { projectId, id: viewId as string }
    expect(await savedViewsFor(given.db, member, projectId, 'sessions')).toEqual([])
    await expect(save(member, projectId, { view: ref })).rejects.toEqual(refusal('NOT_FOUND'))
    await save(owner, projectId, { shared: true })
    expect(await savedViewsFor(given.db, member, projectId, 'sessions')).toMatchObject([{ id: viewId }])
    await expect(save(member, projectId, { view: ref })).rejects.toEqual(refusal('PERMISSION_DENIED'))
    await expect(save(member, projectId, { view: ref, delete: true })).rejects.toEqual(
      refusal('PERMISSION_DENIED'),
    )
  })

  test('of another project is not there, whoever names it', async () => {
    const [here, there] = [await create('Views here'), await create('Views there')]
    const { viewId } = await save(owner, there)
    await expect(save(owner, here, { view: { projectId: there, id: viewId } })).rejects.toEqual(
      refusal('NOT_FOUND'),
    )
  })

  test('saved many times at once is one', async () => {
    const projectId = await create('Views at once')
    const saved = await Promise.all(Array.from({ length: 6 }, () => save(owner, projectId)))
    expect(new Set(saved.map((outcome) => outcome.viewId)).size).toBe(1)
  })

  test('is strict JSON of a bounded size', async () => {
    const projectId = await create('Big views')
    const fits = 'x'.repeat(savedViewLimits.stateBytes - 2)
    await save(owner, projectId, { state: fits })
    for (const state of [`${fits}x`, { a: 'lone \ud800' }, Number.POSITIVE_INFINITY]) {
      await expect(save(owner, projectId, { state })).rejects.toEqual(refusal('INVALID_INPUT'))
    }
  })
})
