import type { Db } from '@wheelhouse/server/platform/database'

/**
 * What is in every table, as cheaply as the database can say it: its rows, and the transactions that wrote them, so that
 * whatever is inserted, changed or deleted shows. Of tokens their contents, but for when they were last used, which is
 * noted of every caller.
 */
export async function readDigest(db: Db): Promise<() => Promise<string>> {
  const tables = await db.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND table_name NOT LIKE '\\_%' ORDER BY 1`
  const written = (name: string) =>
    name === 'tokens'
      ? `sum(hashtextextended((to_jsonb(t) - 'last_used_at')::text, 0))`
      : 'sum(t.xmin::text::bigint)'
  const each = tables.map(
    ({ name }) => `SELECT '${name}' AS name, count(*) AS rows, ${written(name)} AS content FROM "${name}" t`,
  )
  const all = `SELECT string_agg(name || ' ' || rows || ' ' || coalesce(content, 0), E'\\n' ORDER BY name) AS text FROM (${each.join(' UNION ALL ')}) x`
  return async () => (await db.$queryRawUnsafe<{ text: string }[]>(all))[0]?.text ?? ''
}
