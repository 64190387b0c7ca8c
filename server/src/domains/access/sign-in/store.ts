import { type Db, Prisma, type Tx } from '../../../platform/database.ts'
import type { InvitationKind } from './rules.ts'

type Reader = Db | Tx

export type InvitationRow = Prisma.InvitationGetPayload<object>

export async function installationSecret(db: Reader): Promise<Uint8Array> {
  const row = await db.installation.findUnique({ where: { id: 1 } })
  if (!row) throw new Error('the database has no installation row')
  return row.secret
}

/** Orders the starts of several servers on one database, and everything else that asks who the owners are. */
export const lockInstallation = (tx: Tx) => tx.$executeRaw`SELECT 1 FROM installation FOR UPDATE`

export const insertInvitation = (
  tx: Tx,
  invitation: {
    id: string
    kind: InvitationKind
    principalId: string | null
    codeHash: Uint8Array<ArrayBuffer>
    createdAt: Date
    expiresAt: Date
  },
) => tx.invitation.create({ data: invitation })

export const removeOpenFirstOwner = (tx: Tx) =>
  tx.invitation.deleteMany({ where: { kind: 'FIRST_OWNER', usedAt: null } })

export const invitationByHash = (db: Reader, codeHash: Uint8Array<ArrayBuffer>) =>
  db.invitation.findUnique({ where: { codeHash } })

/** Marks an invitation used; false when somebody was faster or its time is over. */
export const useInvitation = async (tx: Tx, id: string, now: Date) =>
  (
    await tx.invitation.updateMany({
      where: { id, usedAt: null, expiresAt: { gt: now } },
      data: { usedAt: now },
    })
  ).count === 1

/** The bootstrap token that was made last, ended or not. */
export const bootstrapToken = (tx: Tx, name: string) =>
  tx.token.findFirst({ where: { name, createdBy: null }, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] })

export const tokenByHash = (tx: Tx, hash: Uint8Array<ArrayBuffer>) =>
  tx.token.findUnique({ where: { hash }, select: { id: true } })

/** A person's sign-in for better-auth: its user and its password's hash. */
export async function insertAuthUser(
  tx: Tx,
  user: { id: string; accountId: string; name: string; email: string; password: string; now: Date },
): Promise<void> {
  const times = { createdAt: user.now, updatedAt: user.now }
  await tx.authUser.create({ data: { id: user.id, name: user.name, email: user.email, ...times } })
  await tx.authAccount.create({
    data: {
      id: user.accountId,
      accountId: user.id,
      providerId: 'credential',
      userId: user.id,
      password: user.password,
      ...times,
    },
  })
}

export const principalByAuthUser = (db: Reader, authUserId: string) =>
  db.principal.findUnique({ where: { authUserId } })

/** Ties a principal to its sign-in; false when it has one already. */
export const tieAuthUser = async (
  tx: Tx,
  principalId: string,
  person: { authUserId: string; name: string; email: string },
) =>
  (
    await tx.principal.updateMany({
      where: { id: principalId, authUserId: null, disabledAt: null },
      data: person,
    })
  ).count === 1

export const isUniqueViolation = (error: unknown) =>
  error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002'
