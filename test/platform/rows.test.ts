import { createProject } from '@wheelhouse/server/domains/projects/operations'
import { registerRuntime } from '@wheelhouse/server/domains/runs/runtimes/operations'
import { Prisma, rowsOf } from '@wheelhouse/server/platform/database'
import { rowsById, rowsByRef, tableOf } from '@wheelhouse/server/platform/rows'
import { transactSingle } from '@wheelhouse/server/platform/transaction'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callOf, givenOwner, startPlatform, type TestPlatform } from '../kit/platform.ts'

let given: TestPlatform
beforeAll(async () => {
  given = await startPlatform()
})
afterAll(() => given.close())

const moment = new Date('2026-03-01T12:00:00.123Z')
const values = Prisma.sql`
  SELECT 7::int AS int, 9007199254740993::int8 AS big, 0.5::float8 AS float, true AS yes, NULL::text AS nothing,
         'ä漢🎈'::text AS text, '00000000-0000-7000-8000-000000000001'::uuid AS uuid, '\\x00ff'::bytea AS bytes,
         '{"b":[1,null,"x"],"a":{}}'::jsonb AS json, ARRAY['a,b', NULL, '"c"']::text[] AS texts, ARRAY[1,2]::int[] AS ints,
         ${moment}::timestamptz AS moment, '2026-03-01 12:00:00+00'::timestamptz AS whole,
         '2026-03-01 12:00:00.123456+00'::timestamptz AS fine, '1969-12-31 23:59:59.9+00'::timestamptz AS before,
         ${['x', null, 'a"b\\c,{}']}::text[] AS given_texts, ${[1, 2]}::int[] AS given_ints, ${new Uint8Array([0, 255])}::bytea AS given_bytes,
         ${null}::int AS given_nothing, ${true}::boolean AS given_yes, ${moment}::timestamptz = '2026-03-01T12:00:00.123Z'::timestamptz AS same`

test('rows are the same by pg as in a transaction', async () => {
  const [byPg] = await rowsOf<Record<string, unknown>>(given.db, values)
  const [inside] = await given.db.$transaction((tx) => rowsOf<Record<string, unknown>>(tx, values))
  const plain = (row: Record<string, unknown> | undefined) =>
    Object.entries(row ?? {}).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? new Uint8Array(value) : value,
    ])
  expect(plain(byPg)).toEqual(plain(inside))
  expect(byPg).toMatchObject({ big: 9_007_199_254_740_993n, moment, same: true })
})

test('a statement in a transaction is part of it', async () => {
  const inserted = Prisma.sql`INSERT INTO idempotency_keys (principal_id, operation, key, digest, created_at)
    VALUES ('00000000-0000-7000-8000-000000000001', 'test', 'key', '\\x00', now()) RETURNING key`
  const count = Prisma.sql`SELECT count(*)::int AS count FROM idempotency_keys`
  const undone = given.db.$transaction(async (tx) => {
    expect(await rowsOf(tx, inserted)).toEqual([{ key: 'key' }])
    expect(await rowsOf(tx, count)).toEqual([{ count: 1 }])
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect(await rowsOf(given.db, count)).toEqual([{ count: 0 }])
})

test('a single statement that PostgreSQL gives up on because of its neighbours is tried again', async () => {
  await given.db.$executeRaw`
    CREATE FUNCTION give_up(code text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = code; END $$`
  const codes = ['40001', '40P01']
  const result = await transactSingle(given.platform, async ({ tx }) => {
    const code = codes.shift()
    return code ? rowsOf(tx, Prisma.sql`SELECT give_up(${code})`) : 'done'
  })
  expect(result).toBe('done')
  const refused = transactSingle(given.platform, ({ tx }) => rowsOf(tx, Prisma.sql`SELECT give_up('22012')`))
  await expect(refused).rejects.toMatchObject({ code: '22012' })
})

test('rows by reference are what Prisma reads', async () => {
  const { db, platform } = given
  const { viewer } = await givenOwner(given)
  const { projectId } = await createProject(platform, callOf(viewer), { name: 'Rows' })
  const names = ['one', 'two', 'three']
  for (const name of names)
    await registerRuntime(platform, callOf(viewer), {
      projectId,
      name,
      kinds: ['a', 'b'],
      maxConcurrentRuns: 2,
      tools: [{ name: 'tool', group: 'DATA', action: 'read' }],
    })
  const kept = await db.runtime.findMany({ where: { name: { not: 'two' } }, orderBy: { id: 'asc' } })
  expect(kept.length).toBe(2)
  const refs = [...kept, { projectId, id: viewer.principalId }]
  const found = await rowsByRef<{ id: string }>(db, tableOf('runtimes', Prisma.RuntimeScalarFieldEnum), refs)
  expect(found.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(kept)
  expect(
    await rowsById(db, tableOf('principals', Prisma.PrincipalScalarFieldEnum), [viewer.principalId]),
  ).toEqual([await db.principal.findUniqueOrThrow({ where: { id: viewer.principalId } })])
})
