import { exportAudit, listAudit } from '@wheelhouse/server/domains/access/audit/operations'
import { csvLine } from '@wheelhouse/server/domains/access/audit/rules'
import {
  createPrincipal,
  createToken,
  grantAccess,
} from '@wheelhouse/server/domains/access/principals/operations'
import type { GrantFacts, Viewer } from '@wheelhouse/server/domains/access/rules'
import { createProject } from '@wheelhouse/server/domains/projects/operations'
import { encodeId } from '@wheelhouse/server/platform/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callOf, givenOwner, signIn, startPlatform, type TestPlatform } from '../kit/platform.ts'

let given: TestPlatform
let owner: Viewer
let A: string
let B: string
const project = async (name: string) =>
  (await createProject(given.platform, callOf(owner), { name, slug: undefined })).projectId
beforeAll(async () => {
  given = await startPlatform()
  owner = (await givenOwner(given)).viewer
  A = await project('Project A')
  B = await project('Project B')
})
afterAll(() => given.close())

const refusal = (code: string) => expect.objectContaining({ code })
const hour = 3_600_000

const principal = async (grants: GrantFacts[], name = 'Somebody', by = owner) =>
  (await createPrincipal(given.platform, callOf(by), { kind: 'SERVICE', name, grants })).principalId
const tokenFor = (principalId: string | undefined, grants: GrantFacts[], more: object = {}, by = owner) =>
  createToken(given.platform, callOf(by), { name: 'A token', principalId, grants, ...more })

/** Somebody with these capabilities, by a token as wide as they are. */
async function somebody(...grants: GrantFacts[]): Promise<Viewer & { secret: string }> {
  const { secret } = await tokenFor(await principal(grants), grants)
  return { ...(await signIn(given.platform, secret)), secret }
}

describe('the audit log', () => {
  const firstPage = { first: 100, after: null }

  test('of a project has nothing of another, and everything has all', async () => {
    await principal([{ capabilities: ['session.read'], projectId: B }], 'In B')
    const ofA = await listAudit(given.db, A, {}, firstPage)
    expect(ofA.length).toBeGreaterThan(0)
    expect(ofA.every((entry) => entry.projectId === A)).toBe(true)
    expect((await listAudit(given.db, null, {}, firstPage)).some((entry) => entry.projectId === B)).toBe(true)
  })

  test('is filtered by actor, action, subject, channel and time, each by itself', async () => {
    const actor = await somebody({ capabilities: ['project.own'], projectId: A })
    const from = given.clock.now()
    given.clock.advance(hour)
    const grants: GrantFacts[] = [{ capabilities: ['session.read'], projectId: A }]
    const { tokenId } = await tokenFor(undefined, grants, {}, { ...actor, channel: 'CONSOLE' })
    given.clock.advance(hour)
    const subjectId = encodeId({ type: 'Token', id: tokenId })
    const match = {
      actorId: actor.principalId,
      actions: ['token.created'],
      subjectId,
      channels: ['CONSOLE'],
      from,
      to: given.clock.now(),
    }
    expect(await listAudit(given.db, A, match, firstPage)).toMatchObject([{ subjectId }])
    const misses = {
      actorId: owner.principalId,
      actions: ['token.revoked'],
      subjectId: encodeId({ type: 'Token', id: given.platform.ids.next() }),
      channels: ['API'],
      from: given.clock.now(),
      to: new Date(from.getTime() + hour),
    }
    for (const [name, miss] of Object.entries(misses)) {
      expect(await listAudit(given.db, A, { ...match, [name]: miss }, firstPage), name).toEqual([])
    }
  })

  test('pages newest first without a gap or a repeat, entries of one instant included', async () => {
    const D = await project('Project D')
    for (let index = 0; index < 7; index += 1)
      await principal([{ capabilities: ['session.read'], projectId: D }])
    const all = await listAudit(given.db, D, {}, firstPage)
    const paged: typeof all = []
    for (;;) {
      const last = paged.at(-1)
      const rows = await listAudit(
        given.db,
        D,
        {},
        { first: 4, after: last ? [last.at.toISOString(), last.id] : null },
      )
      paged.push(...rows.slice(0, 4))
      if (rows.length <= 4) break
    }
    expect(paged).toEqual(all)
  })

  test('exports everything asked for, as text that no spreadsheet runs, and records that it did', async () => {
    const E = await project('Project E')
    const call = callOf(owner)
    const member = await principal(
      [{ capabilities: ['session.read'], projectId: E }],
      '=HYPERLINK("http://evil")',
    )
    const grant = { capabilities: ['turn.submit'], projectId: E }
    await grantAccess(given.platform, call, { principalId: member, grant, reason: '@SUM(A1), "really"' })
    const rows = await given.db.auditEntry.count({ where: { projectId: E } })
    let text = ''
    for await (const piece of await exportAudit(given.platform, owner, E, {})) text += piece
    expect(text.trimEnd().split('\r\n')).toHaveLength(rows + 1)
    expect(text).toContain(`"'@SUM(A1), ""really"""`)
    const exports = await given.db.auditEntry.findMany({ where: { projectId: E, action: 'audit.exported' } })
    expect(exports).toMatchObject([{ actorId: owner.principalId }])
    const member2 = await somebody({ capabilities: ['session.read'], projectId: E })
    await expect(exportAudit(given.platform, member2, E, {})).rejects.toEqual(refusal('PERMISSION_DENIED'))
    await expect(exportAudit(given.platform, member2, B, {})).rejects.toEqual(refusal('NOT_FOUND'))
  })

  test.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@x', "'@x"],
    ['\tx', "'\tx"],
    ['\rx', '"\'\rx"'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['plain = text', 'plain = text'],
  ])('writes the cell %j as %j', (text, cell) => {
    expect(csvLine([text])).toBe(`${cell}\r\n`)
  })

  test('is append-only', async () => {
    const entry = await given.db.auditEntry.findFirstOrThrow()
    const forge = given.db.auditEntry.update({ where: { id: entry.id }, data: { reason: 'other' } })
    await expect(forge).rejects.toThrow('append-only')
    await expect(given.db.auditEntry.delete({ where: { id: entry.id } })).rejects.toThrow('append-only')
  })
})
