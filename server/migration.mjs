// Writes a new migration: what prisma/schema asks for beyond what the existing migrations make.
//   pnpm migration <name>
// The difference is taken by Prisma's schema engine (its WebAssembly build) between the schema and a scratch
// database, made and thrown away here, to which the existing migrations are applied.
import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { bundle } from './build.mjs'
import { root } from './inputs.mjs'

const schemaDirectory = join(root, 'prisma/schema')
const migrationsDirectory = join(root, 'prisma/migrations')

/** What binds an adapter for the engine is a dependency of the adapter's, and found from there. */
const { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } = createRequire(
  createRequire(import.meta.url).resolve('@prisma/adapter-pg'),
)('@prisma/driver-adapter-utils')

const charOid = 18
const textOid = 25

/**
 * The engine reads columns of the catalogue's type "char", which this adapter does not know: they pass it as
 * text and are renamed behind it. Connections that the stop of the scratch database breaks concern nobody.
 */
function adapterFactory(url) {
  const factory = new PrismaPg({ connectionString: url })
  const charColumns = new AsyncLocalStorage()
  for (const method of ['connect', 'connectToShadowDb']) {
    const open = factory[method].bind(factory)
    factory[method] = async () => {
      const adapter = await open()
      const pool = adapter.underlyingDriver()
      const query = pool.query.bind(pool)
      const queryRaw = adapter.queryRaw.bind(adapter)
      pool.on('error', () => {})
      pool.query = async (...input) => {
        const result = await query(...input)
        for (const [index, field] of (result.fields ?? []).entries()) {
          if (field.dataTypeID !== charOid) continue
          field.dataTypeID = textOid
          charColumns.getStore()?.push(index)
        }
        return result
      }
      adapter.queryRaw = (input) =>
        charColumns.run([], async () => {
          const result = await queryRaw(input)
          for (const index of charColumns.getStore()) result.columnTypes[index] = ColumnTypeEnum.Character
          return result
        })
      // The adapter cuts a script at each semicolon, those in comments and function bodies too.
      adapter.executeScript = async (script) => {
        await query(script)
      }
      return adapter
    }
  }
  return bindMigrationAwareSqlAdapterFactory(factory)
}

async function schemaEngine() {
  global.PRISMA_WASM_PANIC_REGISTRY = { set_message: (message) => console.error(message) }
  const engine = await import('@prisma/schema-engine-wasm/schema_engine_bg')
  const home = dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg'))
  const wasm = await WebAssembly.compile(readFileSync(join(home, 'schema_engine_bg.wasm')))
  const instance = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': engine })
  engine.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  return engine.SchemaEngine
}

const schemaFiles = () =>
  readdirSync(schemaDirectory)
    .filter((name) => name.endsWith('.prisma'))
    .map((name) => ({
      path: join(schemaDirectory, name),
      content: readFileSync(join(schemaDirectory, name), 'utf8'),
    }))

const migrationList = () => ({
  baseDir: migrationsDirectory,
  lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
  shadowDbInitScript: '',
  migrationDirectories: readdirSync(migrationsDirectory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: { tag: 'ok', value: readFileSync(join(migrationsDirectory, name, 'migration.sql'), 'utf8') },
      },
    })),
})

/** The SQL that leads from the existing migrations to the schema; empty when there is nothing to do. */
async function difference() {
  const scratch = mkdtempSync(join(tmpdir(), 'wheelhouse-migration-'))
  const tools = join(root, 'server/dist/supervisor.js')
  await bundle(join(root, 'server/src/platform/postgres/supervisor.ts'), tools)
  const { startPostgres } = await import(pathToFileURL(tools).href)
  const silent = { info() {}, warn() {}, error() {} }
  const postgres = await startPostgres({ dataDirectory: scratch, log: silent, settings: { fsync: 'off' } })
  try {
    const SchemaEngine = await schemaEngine()
    const files = schemaFiles()
    const engine = await SchemaEngine.new(
      { datamodels: files.map(({ path, content }) => [path, content]) },
      () => {},
      adapterFactory(postgres.url),
    )
    const filters = { externalTables: [], externalEnums: [] }
    const { stdout } = await engine.diff({
      from: { tag: 'migrations', ...migrationList() },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: null,
      filters,
    })
    return stdout ?? ''
  } finally {
    await postgres.stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

const name = process.argv[2]
if (!name || !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name)) {
  console.error('usage: pnpm migration <name>, in lower case with underscores: pnpm migration add_goals')
  process.exit(2)
}
mkdirSync(migrationsDirectory, { recursive: true })
const sql = await difference()
if (/^\s*(-- This is an empty migration\.)?\s*$/.test(sql)) {
  console.log('The migrations already make what the schema asks for.')
  process.exit(0)
}
const lock = join(migrationsDirectory, 'migration_lock.toml')
if (!existsSync(lock)) writeFileSync(lock, 'provider = "postgresql"\n')
const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
const directory = join(migrationsDirectory, `${stamp}_${name}`)
mkdirSync(directory)
writeFileSync(join(directory, 'migration.sql'), sql)
console.log(`prisma/migrations/${stamp}_${name}/migration.sql written. Add by hand what the schema can't say:
  CHECK constraints for states and lengths, partial and unique-where indexes, append-only triggers,
  full-text columns and their indexes, and what happens to the rows that exist. Take out what would
  drop such things of earlier migrations.
It runs in one transaction: no BEGIN or COMMIT in it, no CREATE INDEX CONCURRENTLY.`)
