import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@wheelhouse/server/platform/logger'
import { findBinaries } from '@wheelhouse/server/platform/postgres/binaries'
import { findProcess, runningProcesses, signal } from '@wheelhouse/server/platform/postgres/processes'
import { type Postgres, startPostgres } from '@wheelhouse/server/platform/postgres/supervisor'
import pg from 'pg'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { bundleFixture, type Running, startNode } from '../kit/processes.ts'

const isRoot = process.getuid?.() === 0
const nobody = 65_534
const log = createLogger('silent')

let parent: string
let fixture: string
const open: (() => Promise<void> | void)[] = []

beforeAll(() => {
  fixture = bundleFixture('platform/fixtures/run-postgres.ts')
})
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'wheelhouse-postgres-'))
  // As root, PostgreSQL runs as somebody who has to pass through here.
  chmodSync(parent, 0o755)
})
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
  rmSync(parent, { recursive: true, force: true })
})

async function start(dataDirectory: string): Promise<Postgres> {
  mkdirSync(dataDirectory, { recursive: true })
  const postgres = await startPostgres({ dataDirectory, log })
  open.push(() => rmSync(postgres.location, { recursive: true, force: true }), postgres.stop)
  return postgres
}

async function rows<T extends object>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<T>(sql)).rows
  } finally {
    await client.end()
  }
}

/** A server process that runs a PostgreSQL, and what it said of it. */
async function serverWith(dataDirectory: string): Promise<{ server: Running; pid: number; url: string }> {
  mkdirSync(dataDirectory, { recursive: true })
  const server = startNode([fixture, dataDirectory])
  open.push(() => void server.child.kill('SIGKILL'))
  const [line] = await server.printed(/^\{.*\}$/m)
  return { server, ...(JSON.parse(line) as { pid: number; url: string }) }
}

function gone(pid: number): boolean {
  const entry = findProcess(pid)
  return entry === null || entry.zombie
}

const processesOf = (directory: string) => runningProcesses((command) => command.includes(` -D ${directory}`))

describe('the embedded PostgreSQL', () => {
  test('keeps what it acknowledged, and is reached through a private socket only', async () => {
    const { url, location } = await start(join(parent, 'data'))
    const settings = await rows<{ name: string; setting: string }>(
      url,
      `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes',
       'data_checksums', 'listen_addresses', 'server_encoding', 'max_connections', 'TimeZone')`,
    )
    expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      data_checksums: 'on',
      listen_addresses: '',
      server_encoding: 'UTF8',
      max_connections: '200',
      TimeZone: 'UTC',
    })
    const [locale] = await rows(url, 'SELECT datlocale FROM pg_database WHERE datname = current_database()')
    expect(locale).toEqual({ datlocale: 'C.UTF-8' })
    const socket = new URL(url).searchParams.get('host') ?? ''
    for (const path of [location, join(location, 'data'), socket])
      expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(statSync(join(location, 'postgres.log')).mode & 0o777).toBe(0o600)
  })

  test('keeps its data from one start to the next', async () => {
    const data = join(parent, 'data')
    const first = await start(data)
    await rows(first.url, 'CREATE TABLE kept AS SELECT 1 AS n')
    await first.stop()
    expect(processesOf(data)).toEqual([])
    const second = await start(data)
    expect(await rows(second.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }])
  })

  test('is restarted after kill -9, with every acknowledged row, under the same URL', async () => {
    const postgres = await start(join(parent, 'data'))
    const exits: unknown[] = []
    postgres.onExit((exit) => exits.push(exit))
    await rows(postgres.url, 'CREATE TABLE acknowledged (n int)')
    for (let round = 1; round <= 3; round += 1) {
      const before = postgres.pid ?? 0
      await rows(postgres.url, `INSERT INTO acknowledged VALUES (${round})`)
      signal(before, 'SIGKILL')
      const found = await eventually(() =>
        rows<{ n: number }>(postgres.url, 'SELECT n FROM acknowledged ORDER BY n'),
      )
      expect(found).toHaveLength(round)
      expect(postgres.pid).not.toBe(before)
      expect(exits).toHaveLength(round)
    }
  })

  test('is not restarted by a stop that comes while it is down', async () => {
    const data = join(parent, 'data')
    const postgres = await start(data)
    const exited = new Promise((resolve) => postgres.onExit(resolve))
    signal(postgres.pid ?? 0, 'SIGKILL')
    await exited
    await postgres.stop()
    expect(processesOf(data)).toEqual([])
    expect(postgres.pid).toBeNull()
  })

  test('that recovers from the crash of one of its processes is stopped without waiting for that', async () => {
    const data = join(parent, 'data')
    const postgres = await start(data)
    await rows(postgres.url, 'CREATE TABLE filled AS SELECT n, md5(n::text) FROM generate_series(1, 50000) n')
    const client = new pg.Client({ connectionString: postgres.url })
    const lost = new Promise((resolve) => client.on('error', resolve))
    await client.connect()
    const { rows: own } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    signal(own[0]?.pid ?? 0, 'SIGKILL')
    await lost
    await eventually(() =>
      rows(postgres.url, 'SELECT 1').then(
        () => false,
        (error: { code?: string }) => error.code === '57P03',
      ),
    )
    const began = performance.now()
    await postgres.stop()
    expect(performance.now() - began).toBeLessThan(5_000)
    expect(processesOf(data)).toEqual([])
    const again = await start(data)
    expect(await rows(again.url, 'SELECT count(*)::int AS n FROM filled')).toEqual([{ n: 50_000 }])
  })

  test('left behind by a server that was killed is stopped before the next one starts', async () => {
    const data = join(parent, 'data')
    const earlier = await serverWith(data)
    await rows(earlier.url, 'CREATE TABLE kept AS SELECT 1 AS n')
    earlier.server.child.kill('SIGKILL')
    await earlier.server.ended
    expect(gone(earlier.pid)).toBe(false)
    const { url, pid } = await start(data)
    expect(gone(earlier.pid)).toBe(true)
    expect(pid).not.toBe(earlier.pid)
    expect(await rows(url, 'SELECT n FROM kept')).toEqual([{ n: 1 }])
  })

  test('starts after it and its server were killed together', async () => {
    const data = join(parent, 'data')
    const earlier = await serverWith(data)
    await rows(earlier.url, 'CREATE TABLE kept AS SELECT 1 AS n')
    earlier.server.child.kill('SIGKILL')
    signal(earlier.pid, 'SIGKILL')
    await earlier.server.ended
    const { url } = await start(data)
    expect(await rows(url, 'SELECT n FROM kept')).toEqual([{ n: 1 }])
  })

  test('of another directory is left alone', async () => {
    const other = await start(join(parent, 'data-2'))
    const mine = await start(join(parent, 'data'))
    await mine.stop()
    await start(join(parent, 'data'))
    expect(await rows(other.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }])
  })

  test('is reached where the path is too long for a socket', async () => {
    const data = join(parent, 'a-rather-long-name-for-a-directory'.repeat(3))
    const { url, location } = await start(data)
    expect(location).toBe(join(data, 'postgres'))
    expect(await rows(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }])
  })

  test('of a major version that is not here says what to do', () => {
    expect(() => findBinaries(null, parent, 99)).toThrow(
      /the database was made by PostgreSQL 99, .* put the binaries of PostgreSQL 99 on PATH, or set DATABASE_URL/,
    )
  })

  test.runIf(isRoot)('never runs as root', async () => {
    const { pid, location, notice } = await start(join(parent, 'data'))
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    expect(status).toMatch(new RegExp(`^Uid:\\s+${nobody}\\s+${nobody}\\s`, 'm'))
    expect(status).toMatch(/^Groups:\s*$/m)
    expect(statSync(location).uid).toBe(nobody)
    expect(notice).toBeNull()
  })

  test.runIf(isRoot)(
    'keeps its data elsewhere where nobody may pass, and says so, now and later',
    async () => {
      chmodSync(parent, 0o700)
      const data = join(parent, 'data')
      const first = await start(data)
      expect(first.location).toMatch(/^\/var\/lib\/wheelhouse\/[0-9a-f]{16}$/)
      expect(first.notice).toBe(`the database is at ${first.location}: nobody may not enter ${parent}`)
      await rows(first.url, 'CREATE TABLE kept AS SELECT 1 AS n')
      await first.stop()
      chmodSync(parent, 0o755)
      const second = await start(data)
      expect(second.location).toBe(first.location)
      expect(await rows(second.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }])
    },
  )

  test.runIf(isRoot)('refuses to start beside data that it may no longer reach', async () => {
    const data = join(parent, 'data')
    await (await start(data)).stop()
    chmodSync(parent, 0o700)
    await expect(startPostgres({ dataDirectory: data, log })).rejects.toThrow(
      /may no longer enter .*chmod o\+x/,
    )
  })
})
