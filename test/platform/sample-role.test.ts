import { ensureSampleRole } from '@wheelhouse/server/platform/sample-role'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { administer, freshDatabase } from '../kit/database.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
const open: pg.Client[] = []

beforeEach(async () => {
  database = await freshDatabase()
})
afterEach(async () => {
  for (const client of open.splice(0)) await client.end()
  await database.drop()
})

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  open.push(client)
  return client
}

async function sample(): Promise<pg.Client> {
  const role = await ensureSampleRole(database.url)
  if ('off' in role) throw new Error(role.off)
  return connect(role.url)
}

describe('the sample runtime’s database role', () => {
  test('works in a schema of its own, several servers at once', async () => {
    const clients = [await sample(), await sample()]
    await clients[0]?.query('CREATE TABLE numbers AS SELECT generate_series(1, 3) AS n')
    expect((await clients[1]?.query('SELECT sum(n)::int AS sum FROM numbers'))?.rows).toEqual([{ sum: 6 }])
  })

  test('reads and writes nothing else', async () => {
    const client = await sample()
    const { rows } = await client.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')",
    )
    expect(rows.length).toBeGreaterThan(10)
    for (const { name } of rows)
      await expect(client.query(`SELECT FROM public."${name}"`), name).rejects.toMatchObject({
        code: '42501',
      })
    for (const sql of [
      'CREATE TABLE public.mine ()',
      'CREATE SCHEMA mine',
      'CREATE TEMPORARY TABLE mine ()',
      'CREATE ROLE mine',
      "COPY sample.mine FROM PROGRAM 'true'",
      "SELECT pg_read_file('/etc/passwd')",
      'SET ROLE wheelhouse',
    ])
      await expect(client.query(sql), sql).rejects.toMatchObject({
        code: expect.stringMatching(/^42(501|P01)$/),
      })
  })

  test('has its statements ended after five seconds', async () => {
    const client = await sample()
    expect((await client.query('SHOW statement_timeout')).rows).toEqual([{ statement_timeout: '5s' }])
  })

  test('is off, with the reason, where the database’s user may not make roles', async () => {
    await administer(
      database.url,
      `CREATE ROLE plain_${database.name} LOGIN; GRANT SELECT ON installation TO plain_${database.name}`,
    )
    const url = new URL(database.url)
    url.username = `plain_${database.name}`
    expect(await ensureSampleRole(url.toString())).toEqual({
      off: "the database's user may not create roles (CREATEROLE)",
    })
    await administer(database.url, `DROP OWNED BY plain_${database.name}; DROP ROLE plain_${database.name}`)
  })

  test('is off, with the reason, where there is no database', async () => {
    const url = new URL(database.url)
    url.pathname = '/nowhere'
    expect(await ensureSampleRole(url.toString())).toEqual({
      off: expect.stringContaining('"nowhere" does not exist'),
    })
  })
})
