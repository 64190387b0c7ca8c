import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../platform/database.ts'
import { type Call, transactOnce } from '../../platform/idempotency.ts'
import type { Ref } from '../../platform/ids.ts'
import { appendToProject, type Json } from '../../platform/journal.ts'
import { accept, invalid, notFound, Refusal } from '../../platform/refusal.ts'
import { canonicalJson, jsonFlaw } from '../../platform/strict-json.ts'
import { type Platform, transact, type Unit } from '../../platform/transaction.ts'
import { audit, grantOwnership } from '../access/operations.ts'
import { allows, seesProject, type Viewer, visibleProjects } from '../access/rules.ts'
import {
  allowedList,
  changeLimits,
  defaultLimits,
  type LimitName,
  type Limits,
  limitNames,
  type McpAllow,
  type RouteCorrection,
  savedViewLimits,
  shortOf,
  slugCandidates,
  type ThinkingLevel,
  type ToolSettings,
} from './rules.ts'
import * as store from './store.ts'

export type { ProjectLoadRow, ProjectRow, SavedViewRow } from './store.ts'

export const loadProjects = store.projectsById
export const loadProjectLoads = store.projectLoadsById
export const loadSavedViews = store.savedViewsById

/** A page of the projects that the caller can see, newest first; one row more than asked for. */
export const listProjects = (
  db: Db,
  viewer: Viewer,
  page: { first: number; after: [at: string, id: string] | null },
) => store.projectPage(db, visibleProjects(viewer), page.first, page.after)

/** The project with this slug, if the caller can see it. */
export async function findProject(db: Db, viewer: Viewer, slug: string): Promise<store.ProjectRow | null> {
  const row = await store.projectBySlug(db, slug)
  return row && seesProject(viewer, row.id) ? row : null
}

const slugTaken = (viewer: Viewer, holder: store.ProjectRow | null) =>
  new Refusal(
    'CONFLICT',
    'Another project has this slug.',
    holder && seesProject(viewer, holder.id) ? { current: { type: 'Project', id: holder.id } } : {},
  )

/**
 * Creates a project with default limits. Without `slug` it gets a free one from its name; a given slug that is taken is
 * CONFLICT. The creator owns it: a principal that holds no `project.own` there is granted it (what a token narrows stays
 * narrow).
 */
export function createProject(
  platform: Platform,
  call: Call,
  input: { name: string; slug?: string | undefined },
): Promise<{ projectId: string }> {
  return transactOnce(platform, call, async (unit) => {
    const id = unit.ids.next()
    const slug = await insertWithSlug(unit, call, { id, name: input.name, slug: input.slug })
    const scope = { projectId: id }
    if (!allows({ ...call.viewer, tokenGrants: null }, 'project.own', scope))
      await grantOwnership(unit, call, id)
    await appendToProject(unit, id, {
      type: 'PROJECT_CREATED',
      payload: { name: input.name, slug, by: call.viewer.principalId },
    })
    await audit(unit, call, {
      action: 'project.created',
      subject: { type: 'Project', id },
      projectId: id,
      detail: { name: input.name, slug },
    })
    return scope
  })
}

async function insertWithSlug(
  unit: Unit,
  call: Call,
  project: { id: string; name: string; slug: string | undefined },
): Promise<string> {
  const wanted =
    project.slug === undefined ? slugCandidates(project.name, shortOf(project.id)) : [project.slug]
  const taken = await store.takenSlugs(unit.tx, wanted)
  // The best free one, and behind it the one that nobody else can want, should the first be lost to a race.
  const free = wanted.filter((slug) => !taken.has(slug))
  for (const slug of new Set([free[0], free.at(-1)])) {
    if (slug === undefined) continue
    const row = {
      id: project.id,
      slug,
      name: project.name,
      createdAt: unit.now,
      createdBy: call.viewer.principalId,
    }
    if (await store.insertProject(unit.tx, { ...row, ...defaultLimits })) return slug
  }
  throw slugTaken(call.viewer, await store.projectBySlug(unit.tx, wanted[0] ?? ''))
}

async function lockAtVersion(
  unit: Unit,
  projectId: string,
  expectedVersion: number | undefined,
): Promise<store.ProjectRow> {
  const project = await store.lockProject(unit.tx, projectId)
  if (!project) throw notFound()
  if (expectedVersion !== undefined && expectedVersion !== project.version) {
    throw new Refusal('CONFLICT', `The project is at version ${project.version} by now.`, {
      current: { type: 'Project', id: projectId },
    })
  }
  return project
}

/** Writes a change of the locked project with its event and its audit entry. */
async function save(
  unit: Unit,
  call: Call,
  project: store.ProjectRow,
  change: store.ProjectChange,
  entry: { action: string; changed: { [key: string]: Json }; reason?: string | undefined },
): Promise<void> {
  if (!(await store.updateProject(unit.tx, project.id, project.version, change))) {
    throw new Error('a locked project moved')
  }
  const payload = {
    version: project.version + 1,
    changed: Object.keys(entry.changed),
    by: call.viewer.principalId,
  }
  await appendToProject(unit, project.id, { type: 'PROJECT_UPDATED', payload })
  await audit(unit, call, {
    action: entry.action,
    subject: { type: 'Project', id: project.id },
    projectId: project.id,
    reason: entry.reason,
    detail: entry.changed,
  })
}

/**
 * Changes a project's name, slug and the defaults of sessions created from then on; what is absent stays, an empty
 * `defaultModel` removes the default, empty `allowedProtocols` allow all. Changes nothing (and no version) when nothing differs. Another version than
 * `expectedVersion`, and a slug that is taken, are CONFLICT.
 */
export function updateProject(
  platform: Platform,
  call: Call,
  input: {
    projectId: string
    name?: string | undefined
    slug?: string | undefined
    defaultModel?: string | undefined
    defaultThinkingLevel?: ThinkingLevel | undefined
    routeCorrection?: RouteCorrection | undefined
    skillDeny?: string[] | undefined
    skillAllow?: string[] | undefined
    mcpAllow?: McpAllow[] | undefined
    allowedProtocols?: string[] | undefined
    expectedVersion?: number | undefined
  },
): Promise<void> {
  return transact(platform, async (unit) => {
    const project = await lockAtVersion(unit, input.projectId, input.expectedVersion)
    const wanted = {
      name: input.name,
      slug: input.slug,
      defaultModel: input.defaultModel === '' ? null : input.defaultModel,
      defaultThinkingLevel: input.defaultThinkingLevel,
      routeCorrection: input.routeCorrection,
      skillDeny: input.skillDeny,
      skillAllow: input.skillAllow,
      mcpAllow: input.mcpAllow?.map(({ server, tools }) => ({ server, tools })),
      allowedProtocols: input.allowedProtocols && allowedList(input.allowedProtocols),
    }
    const servers = wanted.mcpAllow?.map(({ server }) => server) ?? []
    if (new Set(servers).size < servers.length) throw invalid('mcpAllow', 'names a server twice')
    const present = { ...project, ...planSettingsOf(project) }
    const names = (Object.keys(wanted) as (keyof typeof wanted)[]).filter(
      (name) => wanted[name] !== undefined && !isDeepStrictEqual(wanted[name], present[name]),
    )
    if (names.length === 0) return
    if (names.includes('slug')) {
      const holder = await store.projectBySlug(unit.tx, wanted.slug as string)
      if (holder) throw slugTaken(call.viewer, holder)
    }
    const change = Object.fromEntries(names.map((name) => [name, wanted[name]]))
    const changed = Object.fromEntries(
      names.map((name) => [name, { from: present[name], to: wanted[name] ?? null }]),
    ) as { [key: string]: Json }
    await save(unit, call, project, change, { action: 'project.updated', changed })
  }).catch((error: unknown) => {
    // Only the slug is unique: it was taken between the look and the write.
    throw store.isUniqueViolation(error) ? slugTaken(call.viewer, null) : error
  })
}

/** Changes limits; what is absent stays. Runs, sessions and asks that exist keep what they were created under. */
export function updateProjectLimits(
  platform: Platform,
  call: Call,
  input: {
    projectId: string
    limits?: Partial<Record<LimitName, number | undefined>> | undefined
    reason?: string | undefined
    expectedVersion?: number | undefined
  },
): Promise<void> {
  return transact(platform, async (unit) => {
    const project = await lockAtVersion(unit, input.projectId, input.expectedVersion)
    const { limits, changed } = accept(changeLimits(limitsOf(project), input.limits ?? {}))
    if (Object.keys(changed).length === 0) return
    await save(unit, call, project, limits, {
      action: 'project.limits.updated',
      changed: changed as { [key: string]: Json },
      reason: input.reason,
    })
  })
}

/** What of a runtime's tools is shown in a project. */
export const planSettingsOf = (project: store.ProjectRow): ToolSettings => ({
  skillDeny: project.skillDeny,
  skillAllow: project.skillAllow,
  mcpAllow: (project.mcpAllow ?? []) as unknown as McpAllow[],
})

export const limitsOf = (project: Limits): Limits =>
  Object.fromEntries(limitNames.map((name) => [name, project[name]])) as Limits

/** The caller's own views of a screen and those that others share, by name; at most 500. */
export const savedViewsFor = (db: Db, viewer: Viewer, projectId: string, screen: string) =>
  store.savedViewsOfScreen(db, projectId, screen, viewer.principalId, 500)

/** Whether a view is there for this caller: its own, or shared in a project that it sees. */
export const seesView = (viewer: Viewer, view: store.SavedViewRow) =>
  seesProject(viewer, view.projectId) && (view.shared || view.ownerId === viewer.principalId)

/**
 * Keeps a view under its name, replaces the state of the one named by `viewId` (or of one's own view of that name),
 * or deletes it. A view is changed by its owner, and deleted by its owner or whoever holds `project.settings`.
 * `state` is strict JSON of at most 16 KiB; a person keeps at most 200 views in a project.
 */
export async function saveView(
  platform: Platform,
  call: Call,
  input: {
    projectId: string
    screen: string
    name: string
    state: Json
    shared?: boolean | undefined
    view?: Ref | undefined
    delete?: boolean | undefined
  },
): Promise<{ viewId: string | null; deletedId: string | null }> {
  const flaw = jsonFlaw(input.state, ['state'])
  if (flaw) throw invalid(flaw.path, flaw.message)
  if (Buffer.byteLength(canonicalJson(input.state)) > savedViewLimits.stateBytes) {
    throw invalid('state', `must be at most ${savedViewLimits.stateBytes} bytes`)
  }
  return transactOnce(platform, call, async (unit) => {
    const { projectId } = input
    const key = { projectId, ownerId: call.viewer.principalId, screen: input.screen, name: input.name }
    await store.lockSavedViews(unit.tx, projectId, key.ownerId)
    const named = await store.savedViewOf(unit.tx, key)
    const view = input.view
      ? await changeableView(unit, call, input.view, projectId, input.delete === true)
      : named
    if (input.delete) {
      if (!view) throw notFound()
      await store.deleteSavedView(unit.tx, { projectId, id: view.id })
      return { viewId: null, deletedId: view.id }
    }
    if (view) {
      if (named && named.id !== view.id) {
        throw new Refusal('CONFLICT', 'You have another view of this name.', {
          current: { type: 'SavedView', projectId, id: named.id },
        })
      }
      await store.updateSavedView(
        unit.tx,
        { projectId, id: view.id },
        {
          name: input.name,
          state: input.state as never,
          ...(input.shared !== undefined && { shared: input.shared }),
          updatedAt: unit.now,
        },
      )
      return { viewId: view.id, deletedId: null }
    }
    if ((await store.countSavedViews(unit.tx, projectId, key.ownerId)) >= savedViewLimits.perPerson) {
      throw new Refusal('CAPACITY', `You keep ${savedViewLimits.perPerson} views here. Delete one first.`)
    }
    const id = unit.ids.next()
    const times = { createdAt: unit.now, updatedAt: unit.now }
    await store.insertSavedView(unit.tx, {
      ...key,
      id,
      state: input.state as never,
      shared: input.shared ?? false,
      ...times,
    })
    return { viewId: id, deletedId: null }
  })
}

async function changeableView(
  unit: Unit,
  call: Call,
  ref: Ref,
  projectId: string,
  deleting: boolean,
): Promise<store.SavedViewRow> {
  const [view] = await store.savedViewsById(unit.tx, [ref])
  if (!view || view.projectId !== projectId || !seesView(call.viewer, view)) throw notFound()
  if (view.ownerId === call.viewer.principalId) return view
  if (deleting && allows(call.viewer, 'project.settings', { projectId })) return view
  throw new Refusal(
    'PERMISSION_DENIED',
    'This view belongs to somebody else. Save it under a name of your own.',
  )
}
