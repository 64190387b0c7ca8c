import { createHash } from 'node:crypto'
import type pg from 'pg'
import { controlQuery, type Figures, type Query, type Sums } from './analysis.ts'
import type { Governed } from './governed.ts'
import type { Plan } from './question.ts'

/** A run at work on its data. */
export interface Desk {
  governed: Governed
  database: pg.Client
}

const two = (n: number) => String(n).padStart(2, '0')
const period = ({ year, span }: Plan, first: number) =>
  `${year}-${two(first)}${span > 1 ? ` to ${two(first + span - 1)}` : ''}`
const inWords = (plan: Plan) =>
  [
    `by ${plan.by}`,
    plan.by === 'month' || plan.by === 'quarter'
      ? `of ${plan.year}`
      : `${period(plan, plan.from)} against ${period(plan, plan.to)}`,
    ...[plan.within && `each by ${plan.within}`, plan.region, plan.category].filter((word) => word !== null),
  ].join(', ')

/**
 * Looks at what there is and settles what is meant, as far as the phase asks for it: a run that was interrupted, or whose
 * task was corrected, has that behind it. False when the guard refused.
 */
export async function ground({ governed, database }: Desk, plan: Plan): Promise<boolean> {
  const rowsOf = async <Row extends pg.QueryResultRow>(sql: string) => (await database.query<Row>(sql)).rows
  if (governed.may('list_data_sources')) {
    const listed = await governed.act(
      'list_data_sources',
      { summary: 'which tables there are' },
      () =>
        rowsOf<{ name: string; rows: number }>(
          `SELECT 'sales' AS name, count(*)::int AS rows FROM sales UNION ALL SELECT 'orders', count(*)::int FROM orders`,
        ),
      (found) => ({
        summary: found.map(({ name, rows }) => `${name}: ${rows} rows`).join(', '),
        facts: { tables: found.length },
      }),
    )
    const inspected = await governed.act(
      'inspect_schema',
      { summary: 'the columns of sales' },
      () =>
        rowsOf<{ name: string }>(
          `SELECT column_name || ' ' || data_type AS name FROM information_schema.columns
 WHERE table_schema = current_schema() AND table_name = 'sales' ORDER BY ordinal_position`,
        ),
      (found) => ({
        summary: found.map(({ name }) => name).join(', '),
        facts: { columns: found.length },
      }),
    )
    if (!listed || !inspected) return false
  }
  if (!governed.may('preview_table')) return true
  const previewed = await governed.act(
    'preview_table',
    { summary: 'the latest rows of sales' },
    () =>
      rowsOf(`SELECT to_char(month, 'YYYY-MM') AS month, region, category, orders, revenue FROM sales
 ORDER BY 1 DESC, region, category LIMIT 3`),
    (rows) => ({ summary: `${rows.length} rows`, rows }),
  )
  const resolved = await governed.act(
    'resolve_context',
    { summary: 'what the task means by its words' },
    async () => inWords(plan),
    (summary) => ({ summary }),
  )
  const grounded = await governed.act(
    'ground_analysis',
    { summary: 'whether the table has the periods' },
    () =>
      rowsOf<{ first: string; last: string }>(
        `SELECT to_char(min(month), 'YYYY-MM') AS first, to_char(max(month), 'YYYY-MM') AS last FROM sales`,
      ),
    ([span]) => ({
      summary: `sales from ${span?.first} to ${span?.last}`,
      facts: {
        year_covered: String(plan.year) >= (span?.first ?? '9') && `${plan.year}` <= (span?.last ?? ''),
      },
    }),
  )
  return Boolean(previewed && resolved && grounded)
}

export interface Found {
  rows: Figures[]
  /** The actions that are the evidence: of the query, and of its check. */
  queried: string
  checked: string
  /** What the parts add up to, and what they must. */
  parts: number
  control: number
}

/** One query from its plan to the evidence of its result; null when the guard refused one of the steps. */
export async function answerOf(
  { governed, database }: Desk,
  summary: string,
  { sql, values }: Query,
  plan: Plan,
): Promise<Found | null> {
  const planned = await governed.act(
    'plan_query',
    { summary, sql },
    async () => inWords(plan),
    (words) => ({ summary: words }),
  )
  if (!planned) return null
  const valid = await governed.act(
    'validate_query',
    { summary: 'whether the query can run, and on how much', sql, values },
    async () => {
      const { rows } = await database.query(`EXPLAIN (FORMAT JSON) ${sql}`, values)
      return Math.round(rows[0]?.['QUERY PLAN']?.[0]?.Plan?.['Plan Rows'] ?? 0)
    },
    (expected) => ({ summary: `valid, about ${expected} rows`, facts: { rows_expected: expected } }),
  )
  const query = valid && (await runQuery({ governed, database }, summary, { sql, values }))
  if (!query) return null
  const { found: rows, actionId: queried } = query
  const control = controlQuery(plan)
  const checked = await governed.act(
    'validate_result',
    { summary: 'whether the parts add up to the whole', ...control },
    async () => {
      const whole = (await database.query<Sums>(control.sql, control.values)).rows[0]
      const sum = (part: Sums) => part.before + part.after
      return {
        parts: rows.reduce((total, row) => total + sum(row), 0),
        control: whole && rows.length > 0 ? sum(whole) : 0,
      }
    },
    ({ parts, control: whole }) => ({
      summary: `parts ${parts}, whole ${whole}`,
      facts: { adds_up: parts === whole },
    }),
  )
  const digest = createHash('sha256').update(JSON.stringify(rows)).digest('hex')
  const bound =
    checked &&
    (await governed.act(
      'bind_evidence',
      { summary: 'the result, by its digest', evidence: queried, digest },
      async () => digest,
      (bytes) => ({ summary: `sha256 ${bytes.slice(0, 12)}`, facts: { rows: rows.length } }),
    ))
  return bound ? { rows, queried, checked: checked.actionId, ...checked.found } : null
}

/** The query itself, whether its turn has come or not: that is for the guard to say. */
export function runQuery({ governed, database }: Desk, summary: string, { sql, values }: Query) {
  return governed.act(
    'run_sql_readonly',
    { summary, sql, values },
    async () => (await database.query<Figures>(sql, values)).rows,
    (rows) => ({ summary: `${rows.length} rows`, rows }),
  )
}
