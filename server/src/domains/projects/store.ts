import { type Db, Prisma, type Tx } from '../../platform/database.ts'
import type { Ref } from '../../platform/ids.ts'
import type { Limits, McpAllow, RouteCorrection, ThinkingLevel } from './rules.ts'

type Reader = Db | Tx

export const projectsById = (db: Reader, ids: readonly string[]) =>
  db.project.findMany({ where: { id: { in: [...ids] } } })

export type ProjectRow = Awaited<ReturnType<typeof projectsById>>[number]

/** The counts of what is alive, under the project's id. */
export const projectLoadsById = async (db: Reader, ids: readonly string[]) =>
  (await db.projectLoad.findMany({ where: { projectId: { in: [...ids] } } })).map((row) => ({
    ...row,
    id: row.projectId,
  }))

export type ProjectLoadRow = Awaited<ReturnType<typeof projectLoadsById>>[number]

export const projectBySlug = (db: Reader, slug: string) => db.project.findUnique({ where: { slug } })

/** One page of the visible projects, newest first. `visible` filters before the page is cut. */
export const projectPage = (
  db: Reader,
  visible: 'all' | string[],
  first: number,
  after: [at: string, id: string] | null,
): Promise<ProjectRow[]> =>
  db.project.findMany({
    where: {
      ...(visible !== 'all' && { id: { in: visible } }),
      ...(after && {
        OR: [
          { createdAt: { lt: new Date(after[0]) } },
          { createdAt: new Date(after[0]), id: { lt: after[1] } },
        ],
      }),
    },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: first + 1,
  })

export const takenSlugs = async (tx: Tx, slugs: string[]): Promise<Set<string>> =>
  new Set(
    (await tx.project.findMany({ where: { slug: { in: slugs } }, select: { slug: true } })).map(
      (row) => row.slug,
    ),
  )

/** Inserts a project and its row of counts; false when the slug has been taken meanwhile. */
export async function insertProject(
  tx: Tx,
  project: { id: string; slug: string; name: string; createdAt: Date; createdBy: string } & Limits,
): Promise<boolean> {
  const { count } = await tx.project.createMany({ data: [project], skipDuplicates: true })
  if (count === 0) return false
  await tx.projectLoad.create({ data: { projectId: project.id } })
  return true
}

/** The project, its row held until the transaction ends. */
export async function lockProject(tx: Tx, id: string): Promise<ProjectRow | null> {
  await tx.$queryRaw`SELECT 1 FROM projects WHERE id = ${id}::uuid FOR UPDATE`
  return tx.project.findUnique({ where: { id } })
}

export interface ProjectChange extends Partial<Limits> {
  name?: string | undefined
  slug?: string | undefined
  defaultModel?: string | null | undefined
  defaultThinkingLevel?: ThinkingLevel | undefined
  routeCorrection?: RouteCorrection | undefined
  skillDeny?: string[] | undefined
  skillAllow?: string[] | undefined
  mcpAllow?: McpAllow[] | undefined
  allowedProtocols?: string[] | undefined
}

/** Changes a project at the version that was read, and raises it; false when it has moved. */
export async function updateProject(
  tx: Tx,
  id: string,
  version: number,
  change: ProjectChange,
): Promise<boolean> {
  const { count } = await tx.project.updateMany({
    where: { id, version },
    data: { ...change, version: { increment: 1 } } as object as Prisma.ProjectUpdateManyMutationInput,
  })
  return count === 1
}

/** Whether a write failed because another row has the same unique value. */
export const isUniqueViolation = (error: unknown) =>
  error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002'

export const savedViewsById = (db: Reader, refs: readonly Ref[]) =>
  db.savedView.findMany({ where: { OR: refs.map(({ projectId, id }) => ({ projectId, id })) } })

export type SavedViewRow = Awaited<ReturnType<typeof savedViewsById>>[number]

/** A screen's views that a person may use: its own and the shared ones, by name. */
export const savedViewsOfScreen = (
  db: Reader,
  projectId: string,
  screen: string,
  ownerId: string,
  most: number,
) =>
  db.savedView.findMany({
    where: { projectId, screen, OR: [{ ownerId }, { shared: true }] },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: most,
  })

export const savedViewOf = (
  tx: Tx,
  key: { projectId: string; ownerId: string; screen: string; name: string },
) => tx.savedView.findUnique({ where: { projectId_ownerId_screen_name: key } })

/** Orders the writes of one person's views in a project until the transaction ends, so that names and number hold. */
export const lockSavedViews = (tx: Tx, projectId: string, ownerId: string) =>
  tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`saved views ${projectId} ${ownerId}`}, 0))`

export const countSavedViews = (tx: Tx, projectId: string, ownerId: string) =>
  tx.savedView.count({ where: { projectId, ownerId } })

export const insertSavedView = (
  tx: Tx,
  view: {
    projectId: string
    id: string
    ownerId: string
    screen: string
    name: string
    state: Prisma.InputJsonValue
    shared: boolean
    createdAt: Date
    updatedAt: Date
  },
) => tx.savedView.create({ data: view })

export const updateSavedView = (
  tx: Tx,
  ref: Ref,
  change: { name: string; state: Prisma.InputJsonValue; shared?: boolean; updatedAt: Date },
) => tx.savedView.update({ where: { projectId_id: ref }, data: change })

export const deleteSavedView = (tx: Tx, ref: Ref) => tx.savedView.delete({ where: { projectId_id: ref } })
