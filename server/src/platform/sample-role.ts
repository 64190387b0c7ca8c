import { createHmac } from 'node:crypto'
import pg from 'pg'

const schema = 'sample'
const statementTimeoutMs = 5_000

/** A connection URL of the sample runtime's own role, or why there is none. */
export type SampleRole = { url: string } | { off: string }

/**
 * Makes the role under which the sample runtime runs the SQL it makes up: it may work in the schema `sample` and
 * reaches nothing else of this database (PUBLIC loses the schema `public`); a statement ends after 5 s. Its password is derived from the installation's
 * secret, so that several servers on one database agree on it. Run after the migrations. Where the database's
 * user may not create roles, or the server may not hand them out, it says so and the sample stays off.
 */
export async function ensureSampleRole(adminUrl: string): Promise<SampleRole> {
  const client = new pg.Client({ connectionString: adminUrl, application_name: 'wheelhouse sample role' })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ oid: string; name: string; secret: Buffer; may: boolean }>(
      `SELECT d.oid::text, d.datname AS name, i.secret, r.rolsuper OR r.rolcreaterole AS may
       FROM pg_database d, pg_roles r, installation i
       WHERE d.datname = current_database() AND r.rolname = current_user`,
    )
    const [row] = rows
    if (!row) return { off: 'the database has not been migrated yet' }
    if (!row.may) return { off: "the database's user may not create roles (CREATEROLE)" }
    const role = `wheelhouse_sample_${row.oid}`
    const password = createHmac('sha256', row.secret).update(`password of ${role}`).digest('hex')
    await client.query('BEGIN')
    // Two servers that start at once would both find no role.
    await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [role])
    await client.query(statements(role, row.name, password))
    await client.query('COMMIT')
    return { url: withUser(adminUrl, role, password) }
  } catch (error) {
    return { off: `the restricted role could not be made: ${(error as Error).message}` }
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** `role` and `password` are of our own making and need no quotes; the database's name does. */
function statements(role: string, database: string, password: string): string {
  const quoted = `"${database.replaceAll('"', '""')}"`
  return `
    DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN CREATE ROLE ${role}; END IF;
    END $$;
    ALTER ROLE ${role} WITH LOGIN NOCREATEDB NOCREATEROLE NOINHERIT PASSWORD '${password}' CONNECTION LIMIT 8;
    ALTER ROLE ${role} SET statement_timeout = ${statementTimeoutMs};
    ALTER ROLE ${role} SET idle_in_transaction_session_timeout = ${statementTimeoutMs};
    ALTER ROLE ${role} SET search_path = ${schema};
    REVOKE TEMPORARY ON DATABASE ${quoted} FROM PUBLIC;
    GRANT CONNECT ON DATABASE ${quoted} TO ${role};
    REVOKE ALL ON SCHEMA public FROM PUBLIC;
    CREATE SCHEMA IF NOT EXISTS ${schema};
    GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${role};`
}

function withUser(adminUrl: string, role: string, password: string): string {
  const url = new URL(adminUrl)
  url.username = role
  url.password = password
  return url.toString()
}
