import { type Db, Prisma, rowsOf, type Tx } from '../../platform/database.ts'

type Reader = Db | Tx

/**
 * What each of these projects allows, and the digests of all versions that are registered in it, the newest of each
 * protocol first; nothing of a project that is not there. One statement, on the hot paths.
 */
export const versionsOf = (db: Reader, projectIds: readonly string[]) =>
  rowsOf<{ projectId: string; allowed: string[]; digests: string[] }>(
    db,
    Prisma.sql`
      SELECT p.id AS "projectId", p.allowed_protocols AS allowed, ARRAY(
               SELECT v.digest FROM protocol_versions v WHERE v.project_id = p.id ORDER BY v.id, v.version DESC
             ) AS digests
        FROM projects p WHERE p.id = ANY (${projectIds}::uuid[])`,
  )

/** What these digests stand for; more than once where several of the projects registered the same. */
export const definitionsOf = (db: Reader, projectIds: readonly string[], digests: readonly string[]) =>
  rowsOf<{ digest: string; definition: unknown }>(
    db,
    Prisma.sql`SELECT digest, definition FROM protocol_versions
                WHERE project_id = ANY (${projectIds}::uuid[]) AND digest = ANY (${digests}::text[])`,
  )

export interface RegisteredRow {
  id: string
  version: number
  format: 'YAML' | 'JSON'
  registeredBy: string
  at: Date
}

/** How the versions of a project came to be, without their texts. */
export const registeredIn = (db: Reader, projectId: string) =>
  rowsOf<RegisteredRow>(
    db,
    Prisma.sql`SELECT id, version, format, registered_by AS "registeredBy", at
                 FROM protocol_versions WHERE project_id = ${projectId}::uuid`,
  )

export interface VersionKey {
  projectId: string
  id: string
  version: number
}

/** The texts of these versions as they were written; those that are there, in no order. */
export const sourcesOf = (db: Reader, keys: readonly VersionKey[]) =>
  rowsOf<VersionKey & { source: string }>(
    db,
    Prisma.sql`
      SELECT v.project_id AS "projectId", v.id, v.version, v.source
        FROM unnest(${keys.map(({ projectId }) => projectId)}::uuid[], ${keys.map(({ id }) => id)}::text[],
                    ${keys.map(({ version }) => version)}::int[]) AS k(project_id, id, version)
        JOIN protocol_versions v USING (project_id, id, version)`,
  )

/** Orders the registrations in a project until the transaction ends, so that numbers follow and bounds hold. */
export const lockRegistrations = (tx: Tx, projectId: string) =>
  tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`protocols ${projectId}`}, 0))`

/** The digests of a protocol's versions by number, and how many versions the project has of all. */
export async function versionsNamed(tx: Tx, projectId: string, id: string) {
  const versions = await tx.protocolVersion.findMany({
    where: { projectId, id },
    select: { version: true, digest: true },
    orderBy: { version: 'desc' },
  })
  return { versions, inProject: await tx.protocolVersion.count({ where: { projectId } }) }
}

export const insertVersion = (tx: Tx, row: Prisma.ProtocolVersionUncheckedCreateInput) =>
  tx.protocolVersion.create({ data: row })
