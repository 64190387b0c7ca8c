import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@wheelhouse/server/platform/logger'
import { migrate } from '@wheelhouse/server/platform/migrations'
import { locateCluster } from '@wheelhouse/server/platform/postgres/location'
import { clearOrphan } from '@wheelhouse/server/platform/postgres/orphan'
import { findProcess } from '@wheelhouse/server/platform/postgres/processes'
import { startPostgres } from '@wheelhouse/server/platform/postgres/supervisor'
import pg from 'pg'

/** How the workers learn where the cluster is: the environment reaches forks and threads alike. */
const clusterVariable = 'TEST_CLUSTER_URL'
const template = 'wheelhouse_template'
const prefix = 'wheelhouse-test-'

/** Ends and removes what a run that was killed left behind; its process id is in the directory's name. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split('-')[0]) : Number.NaN
    if (!Number.isInteger(pid) || findProcess(pid)) continue
    const directory = join(tmpdir(), name)
    const { cluster, clusterName, home } = locateCluster(directory)
    await clearOrphan(cluster, clusterName)
    for (const path of [home, directory]) rmSync(path, { recursive: true, force: true })
  }
}

/**
 * Starts the one cluster of a test run, with a migrated template from which `freshDatabase` copies. For Vitest's
 * global set-up. Its files are not synced to disk unless `durable`: ordinary tests don't ask about power cuts.
 */
export async function startTestCluster(
  options: { durable?: boolean } = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  await removeLeftovers()
  const directory = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
  const settings = options.durable ? {} : { fsync: 'off', full_page_writes: 'off', max_wal_size: '4GB' }
  const postgres = await startPostgres({
    dataDirectory: directory,
    log: createLogger('error'),
    settings: { ...settings, max_connections: '400' },
  })
  const stop = async () => {
    delete process.env[clusterVariable]
    await postgres.stop()
    for (const path of [postgres.location, directory]) rmSync(path, { recursive: true, force: true })
  }
  try {
    await administer(postgres.url, `CREATE DATABASE ${template} TEMPLATE template0`)
    await migrate(named(postgres.url, template))
    await administer(postgres.url, `ALTER DATABASE ${template} IS_TEMPLATE true ALLOW_CONNECTIONS false`)
  } catch (error) {
    await stop()
    throw error
  }
  process.env[clusterVariable] = postgres.url
  return { url: postgres.url, stop }
}

/**
 * A migrated database of its own, some tens of milliseconds away. `empty` gives one without any table. `drop` ends
 * the connections that are still open.
 */
export async function freshDatabase(
  options: { empty?: boolean } = {},
): Promise<{ url: string; name: string; drop(): Promise<void> }> {
  const cluster = process.env[clusterVariable]
  if (!cluster) throw new Error('no test cluster runs: startTestCluster belongs into the global set-up')
  const name = `test_${randomBytes(6).toString('hex')}`
  const strategy = options.empty ? 'TEMPLATE template0' : `TEMPLATE ${template} STRATEGY file_copy`
  await administer(cluster, `CREATE DATABASE ${name} ${strategy}`)
  return {
    name,
    url: named(cluster, name),
    drop: () => administer(cluster, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

/** One statement on a connection of its own. */
export async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

function named(url: string, name: string): string {
  return url.replace(/\/[^/?]+\?/, `/${name}?`)
}
