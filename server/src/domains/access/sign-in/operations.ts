import { createHmac } from 'node:crypto'
import type { Db, Tx } from '../../../platform/database.ts'
import { encodeId } from '../../../platform/ids.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { type Platform, transact, type Unit } from '../../../platform/transaction.ts'
import { audit, authenticateToken, hashSecret } from '../operations.ts'
import {
  endToken,
  insertGrants,
  insertPrincipal,
  insertToken,
  ownersOfEverything,
  principalsById,
} from '../principals/store.ts'
import type { Capability, Channel } from '../rules.ts'
import { raiseAccessEpoch } from '../store.ts'
import { type Identity, type InvitationKind, invitationLifetimesMs, isOpen } from './rules.ts'
import * as store from './store.ts'

/** Keys for one purpose each, derived from the installation's secret, which itself goes nowhere. */
export async function deriveKey(platform: Pick<Platform, 'db'>, purpose: string): Promise<string> {
  return keyed(await store.installationSecret(platform.db), purpose)
}
const keyed = (secret: Uint8Array, purpose: string) =>
  createHmac('sha256', secret).update(purpose).digest('base64url')

const codeFor = (secret: Uint8Array, invitationId: string) => keyed(secret, `invitation ${invitationId}`)

/** Where a person redeems an invitation. The code stands behind `#`, so that it reaches no server log on its way. */
export async function invitationPath(platform: Pick<Platform, 'db'>, invitationId: string): Promise<string> {
  return `/welcome#code=${codeFor(await store.installationSecret(platform.db), invitationId)}`
}

async function newInvitation(unit: Unit, kind: InvitationKind, principalId: string | null): Promise<string> {
  const id = unit.ids.next()
  await store.insertInvitation(unit.tx, {
    id,
    kind,
    principalId,
    codeHash: hashSecret(codeFor(await store.installationSecret(unit.tx), id)),
    createdAt: unit.now,
    expiresAt: new Date(unit.now.getTime() + invitationLifetimesMs[kind]),
  })
  return id
}

/** Invites the person behind a principal, for 7 days; the link is `invitationPath` of the answer. */
export const invite = (unit: Unit, principalId: string) => newInvitation(unit, 'INVITATION', principalId)

const bootstrapName = 'bootstrap'
const system: { viewer: { principalId: null; channel: Channel } } = {
  viewer: { principalId: null, channel: 'SYSTEM' },
}

/**
 * Sees to it that somebody can own everything, at every start. With a bootstrap token, its owner and the token are
 * there afterwards (another token than last time replaces that one; one that was revoked stays revoked). While no
 * person owns everything, gives the path of a link, good for 24 hours and once, by which a person becomes an owner
 * (the bootstrap token's own, when there is one); a new start replaces the last one's link. Else null.
 */
export function ensureFirstOwner(
  platform: Platform,
  bootstrapToken: string | null,
): Promise<{ path: string } | null> {
  return transact(platform, async (unit) => {
    await store.lockInstallation(unit.tx)
    if (bootstrapToken !== null) await ensureBootstrapToken(unit, bootstrapToken)
    const owners = await ownersOfEverything(unit.tx)
    if (owners.some((owner) => owner.authUserId !== null)) return null
    await store.removeOpenFirstOwner(unit.tx)
    const id = await newInvitation(unit, 'FIRST_OWNER', owners[0]?.id ?? null)
    return { path: `/welcome#code=${codeFor(await store.installationSecret(unit.tx), id)}` }
  })
}

async function ensureBootstrapToken(unit: Unit, secret: string): Promise<void> {
  const hash = hashSecret(secret)
  const last = await store.bootstrapToken(unit.tx, bootstrapName)
  if (last && Buffer.from(last.hash).equals(Buffer.from(hash))) return
  if (last && (await endToken(unit.tx, last.id, unit.now, null))) {
    await raiseAccessEpoch(unit.tx)
    unit.hint({ topic: 'access' })
  }
  const owners = await ownersOfEverything(unit.tx)
  const owner = owners.find(({ id }) => id === last?.principalId) ?? owners[0]
  const principalId = owner?.id ?? (await newOwner(unit, { name: 'Owner', email: null }))
  const id = unit.ids.next()
  await insertToken(unit.tx, {
    id,
    principalId,
    name: bootstrapName,
    // Somebody chose this secret; showing the beginning of it would show what they chose.
    prefix: 'bootstrap',
    hash,
    createdAt: unit.now,
    createdBy: null,
    expiresAt: null,
  })
  await giveEverything(unit, principalId, id)
  await audit(unit, system, {
    action: 'token.created',
    subject: { type: 'Token', id },
    detail: { name: bootstrapName, principal: encodeId({ type: 'Principal', id: principalId }) },
  })
}

async function giveEverything(unit: Unit, principalId: string, tokenId: string | null): Promise<void> {
  const scope = { projectId: null, sessionId: null }
  const made = { createdAt: unit.now, createdBy: null }
  await insertGrants(unit.tx, [
    { id: unit.ids.next(), principalId, tokenId, capabilities: ['project.own'], ...scope, ...made },
  ])
}

/**
 * The token of a runtime that comes with the server, made at the first start together with its principal and grants on
 * everything. Its secret is derived, so that several servers on one database agree on it. Null when somebody revoked it
 * or disabled its principal, which stays so.
 */
export async function ensureBuiltInRuntime(
  platform: Platform,
  name: string,
  capabilities: readonly Capability[],
): Promise<string | null> {
  const secret = `wh_${await deriveKey(platform, `token of ${name}`)}`
  const hash = hashSecret(secret)
  await transact(platform, async (unit) => {
    await store.lockInstallation(unit.tx)
    if (await store.tokenByHash(unit.tx, hash)) return
    const made = { createdAt: unit.now, createdBy: null }
    const [principalId, tokenId] = [unit.ids.next(), unit.ids.next()]
    await insertPrincipal(unit.tx, { id: principalId, kind: 'RUNTIME', name, email: null, ...made })
    await insertToken(unit.tx, {
      id: tokenId,
      principalId,
      name,
      prefix: 'built in',
      hash,
      expiresAt: null,
      ...made,
    })
    const grant = { principalId, capabilities: [...capabilities], projectId: null, sessionId: null, ...made }
    await insertGrants(unit.tx, [
      { id: unit.ids.next(), tokenId: null, ...grant },
      { id: unit.ids.next(), tokenId, ...grant },
    ])
    const principal = encodeId({ type: 'Principal', id: principalId })
    await audit(unit, system, {
      action: 'principal.created',
      subject: { type: 'Principal', id: principalId },
      detail: { kind: 'RUNTIME', name },
    })
    await audit(unit, system, {
      action: 'token.created',
      subject: { type: 'Token', id: tokenId },
      detail: { name, principal },
    })
  })
  return (await authenticateToken(platform, secret)) === null ? null : secret
}

async function newOwner(unit: Unit, person: { name: string; email: string | null }): Promise<string> {
  const id = unit.ids.next()
  await insertPrincipal(unit.tx, { id, kind: 'PERSON', ...person, createdAt: unit.now, createdBy: null })
  await giveEverything(unit, id, null)
  await audit(unit, system, {
    action: 'principal.created',
    subject: { type: 'Principal', id },
    detail: { kind: 'PERSON', name: person.name },
  })
  return id
}

/** Whether no person owns everything yet, so that somebody should open the link that the server printed. */
export async function needsFirstOwner(platform: { db: Db | Tx }): Promise<boolean> {
  return !(await ownersOfEverything(platform.db)).some((owner) => owner.authUserId !== null)
}

/** The same words for a code that never was, was used, or is too old. */
const noInvitation = () =>
  new Refusal('NOT_FOUND', 'This link is not valid any more. Ask whoever runs this server for a new one.')

async function openInvitation(platform: Platform, code: string): Promise<store.InvitationRow> {
  const row = await store.invitationByHash(platform.db, hashSecret(code))
  if (!row || !isOpen(row, platform.clock.now())) throw noInvitation()
  return row
}

/** What an invitation is for. The code is checked by its hash; any that is not open is NOT_FOUND. */
export async function readInvitation(
  platform: Platform,
  code: string,
): Promise<{ kind: InvitationKind; name?: string; email?: string }> {
  const row = await openInvitation(platform, code)
  const kind = row.kind as InvitationKind
  if (kind === 'FIRST_OWNER' || row.principalId === null) return { kind }
  const [principal] = await principalsById(platform.db, [row.principalId])
  return {
    kind,
    ...(principal && { name: principal.name }),
    ...(principal?.email && { email: principal.email }),
  }
}

/**
 * Uses an invitation up: ties the person's sign-in to the principal that was invited, or makes the first owner.
 * `passwordHash` is better-auth's. One of several at once wins; an e-mail address that somebody signs in with is
 * CONFLICT, and the invitation stays open.
 */
export async function redeemInvitation(
  platform: Platform,
  code: string,
  person: Omit<Identity, 'password'>,
  passwordHash: string,
): Promise<void> {
  const { id: invitationId, kind, principalId: invited } = await openInvitation(platform, code)
  const { name, email } = person
  await transact(platform, async (unit) => {
    await store.lockInstallation(unit.tx)
    // The first owner's link is for the first only, whichever way that one came in.
    if (kind === 'FIRST_OWNER' && !(await needsFirstOwner({ db: unit.tx }))) throw noInvitation()
    if (!(await store.useInvitation(unit.tx, invitationId, unit.now))) throw noInvitation()
    const principalId = invited ?? (await newOwner(unit, { name, email }))
    const authUserId = unit.ids.next()
    await store.insertAuthUser(unit.tx, {
      id: authUserId,
      accountId: unit.ids.next(),
      name,
      email,
      password: passwordHash,
      now: unit.now,
    })
    if (!(await store.tieAuthUser(unit.tx, principalId, { authUserId, name, email }))) throw noInvitation()
    await audit(
      unit,
      { viewer: { principalId, channel: 'CONSOLE' } },
      { action: 'invitation.redeemed', subject: { type: 'Principal', id: principalId }, detail: { name } },
    )
  }).catch((error: unknown) => {
    if (!store.isUniqueViolation(error)) throw error
    throw new Refusal('CONFLICT', 'Somebody signs in with this e-mail address already.', {
      issues: [{ path: ['email'], message: 'is taken' }],
    })
  })
}

/** Records that a person signed in. */
export async function noteSignIn(platform: Platform, authUserId: string): Promise<void> {
  const principal = await store.principalByAuthUser(platform.db, authUserId)
  if (!principal) return
  const { id } = principal
  await transact(platform, (unit) =>
    audit(
      unit,
      { viewer: { principalId: id, channel: 'CONSOLE' } },
      { action: 'person.signed-in', subject: { type: 'Principal', id } },
    ),
  )
}
