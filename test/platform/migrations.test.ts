import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MigrationError, migrate } from '@wheelhouse/server/platform/migrations'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase } from '../kit/database.ts'

let directory: string
let database: Awaited<ReturnType<typeof freshDatabase>>

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'wheelhouse-migrations-'))
  database = await freshDatabase({ empty: true })
  write('20260101000000_first', 'CREATE TABLE one (n int);\nINSERT INTO one VALUES (1);\n')
  write('20260102000000_second', 'ALTER TABLE one ADD COLUMN m int;\n')
})
afterEach(async () => {
  await database.drop()
  rmSync(directory, { recursive: true, force: true })
})

function write(name: string, sql: string): void {
  mkdirSync(join(directory, name), { recursive: true })
  writeFileSync(join(directory, name, 'migration.sql'), sql)
}

async function rows<T extends object>(sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    return (await client.query<T>(sql)).rows
  } finally {
    await client.end()
  }
}

const applied = async () =>
  (
    await rows<{ migration_name: string }>(
      'SELECT migration_name FROM _prisma_migrations ORDER BY migration_name',
    )
  ).map((row) => row.migration_name)

describe('migrations', () => {
  test('bring an empty database up, in the order of their names, and leave a record as Prisma does', async () => {
    expect(await migrate(database.url, directory)).toEqual({
      applied: ['20260101000000_first', '20260102000000_second'],
    })
    expect(await rows('SELECT n, m FROM one')).toEqual([{ n: 1, m: null }])
    const [record] = await rows('SELECT * FROM _prisma_migrations ORDER BY migration_name')
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      // sha256sum of the file
      checksum: '3c56623967278e3fe74ddaea5dc9c5f3450a7101c11a296d4f670910e2740e83',
      finished_at: expect.any(Date),
      migration_name: '20260101000000_first',
      logs: null,
      rolled_back_at: null,
      started_at: expect.any(Date),
      applied_steps_count: 1,
    })
  })

  test('are applied once', async () => {
    await migrate(database.url, directory)
    expect(await migrate(database.url, directory)).toEqual({ applied: [] })
    write('20260103000000_third', 'CREATE TABLE three ();')
    expect(await migrate(database.url, directory)).toEqual({ applied: ['20260103000000_third'] })
  })

  test('are applied once by servers that start together', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => migrate(database.url, directory)))
    expect(results.flatMap((result) => result.applied)).toEqual([
      '20260101000000_first',
      '20260102000000_second',
    ])
    expect(await rows('SELECT n FROM one')).toHaveLength(1)
  })

  test('that fail change nothing, say where, and can be corrected', async () => {
    write(
      '20260103000000_third',
      'CREATE TABLE three ();\nINSERT INTO one VALUES (3, 3);\nINSERT INTO nowhere VALUES (1);',
    )
    const failure = await migrate(database.url, directory).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(MigrationError)
    expect(String(failure)).toMatch(
      /migration 20260103000000_third failed at line 3: relation "nowhere" does not exist \(42P01\)\. It changed nothing/,
    )
    expect(await rows("SELECT to_regclass('three') AS three, count(*)::int AS ones FROM one")).toEqual([
      { three: null, ones: 1 },
    ])
    expect(await applied()).toEqual(['20260101000000_first', '20260102000000_second'])
    write('20260103000000_third', 'CREATE TABLE three ();')
    expect(await migrate(database.url, directory)).toEqual({ applied: ['20260103000000_third'] })
  })

  test('that end their own transaction are refused', async () => {
    write('20260103000000_third', 'SELECT 1; COMMIT; BEGIN; CREATE TABLE three ();')
    await expect(migrate(database.url, directory)).rejects.toThrow(/ends its own transaction/)
    expect(await applied()).not.toContain('20260103000000_third')
  })

  test('that were edited after they were applied are refused before anything else runs', async () => {
    await migrate(database.url, directory)
    write('20260101000000_first', 'CREATE TABLE one (n bigint);')
    write('20260103000000_third', 'CREATE TABLE three ();')
    await expect(migrate(database.url, directory)).rejects.toThrow(
      /20260101000000_first differs from the one that was applied: put the released file back/,
    )
    expect(await applied()).not.toContain('20260103000000_third')
  })

  test('may be checked out with other line ends', async () => {
    await migrate(database.url, directory)
    write('20260102000000_second', 'ALTER TABLE one ADD COLUMN m int;\r\n')
    expect(await migrate(database.url, directory)).toEqual({ applied: [] })
  })

  test('of a newer server are not run past', async () => {
    await migrate(database.url, directory)
    rmSync(join(directory, '20260102000000_second'), { recursive: true })
    await expect(migrate(database.url, directory)).rejects.toThrow(
      /has migration 20260102000000_second, which this server does not know: it was used by a newer Wheelhouse/,
    )
  })

  test('that another tool left half-done are refused until they are dealt with', async () => {
    await migrate(database.url, directory)
    await rows(
      "UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '20260102000000_second'",
    )
    await expect(migrate(database.url, directory)).rejects.toThrow(/did not finish/)
    await rows('UPDATE _prisma_migrations SET rolled_back_at = now() WHERE finished_at IS NULL')
    await rows('ALTER TABLE one DROP COLUMN m')
    expect(await migrate(database.url, directory)).toEqual({ applied: ['20260102000000_second'] })
  })
})
