import type pg from 'pg'
import type { Plan } from './question.ts'
import { salesCsv } from './sales.ts'

export interface Query {
  sql: string
  values: unknown[]
}
/** What both queries find: revenue and orders in the two months compared, or in a period (then only `after`). */
export interface Figures {
  name: string
  before: number
  after: number
  ordersBefore: number
  ordersAfter: number
}

/** Reads the CSV into the agent's own schema, and one row for each order, in SQL. Afterwards the connection only reads. */
export async function loadSales(database: pg.Client): Promise<void> {
  await database.query('SET default_transaction_read_only = off')
  await database.query('BEGIN')
  await database.query(`
    DROP TABLE IF EXISTS orders, sales;
    CREATE TABLE sales (month date, region text, category text, orders int, revenue int, PRIMARY KEY (month, region, category))`)
  await database.query(
    `INSERT INTO sales
     SELECT (f[1] || '-01')::date, f[2], f[3], f[4]::int, f[5]::int
       FROM (SELECT string_to_array(line, ',') AS f
               FROM string_to_table($1, E'\\n') WITH ORDINALITY AS lines (line, n) WHERE n > 1 AND line <> '') AS fields`,
    [salesCsv],
  )
  await database.query(`
    CREATE TABLE orders AS
    SELECT (row_number() OVER (ORDER BY month, region, category, n))::int AS id, month + (n - 1) * 28 / orders AS placed_on,
           region, category, revenue / orders + (n <= revenue % orders)::int AS amount
      FROM sales, generate_series(1, orders) AS n`)
  await database.query('COMMIT')
  await database.query('SET default_transaction_read_only = on')
}

const narrowed = `($3::text IS NULL OR region = $3) AND ($4::text IS NULL OR category = $4)`
const day = (plan: Plan, month: number) => `${plan.year}-${String(month).padStart(2, '0')}-01`
const both = (plan: Plan) => [day(plan, plan.from), day(plan, plan.to), plan.region, plan.category]
const periods = { month: `'YYYY-MM'`, quarter: `'YYYY "Q"Q'` }

/** The small query: sales by what the plan goes by, the largest decline first; or period by period. */
export function summaryQuery(plan: Plan): Query {
  if (plan.by === 'month' || plan.by === 'quarter')
    return byPeriod(plan, plan.by, 'sales', 'month', 'sum(revenue)', 'sum(orders)')
  return {
    sql: `SELECT * FROM (${byPart(plan.by, 'sales', 'month', 'sum(revenue)', 'sum(orders)')}) AS changes
 WHERE before > 0 AND after > 0 ORDER BY after - before, name`,
    values: both(plan),
  }
}

/** The larger query: every order, to tell whether there were fewer of them or smaller ones in what changed most. */
export function detailQuery(plan: Plan, focus: string): Query {
  if (plan.by === 'month' || plan.by === 'quarter')
    return byPeriod(plan, plan.by, 'orders', 'placed_on', 'sum(amount)', 'count(*)')
  const inside = plan.by === 'region' ? 'category' : 'region'
  const month = `date_trunc('month', placed_on)`
  return {
    sql: byPart(inside, 'orders', month, 'sum(amount)', 'count(*)'),
    values: both({ ...plan, [plan.by]: focus }),
  }
}

function byPart(part: string, table: string, month: string, revenue: string, orders: string): string {
  const column = (what: string, when: string, name: string) =>
    `coalesce(${what} FILTER (WHERE ${month} = ${when}::date), 0)::int AS ${name}`
  return `SELECT ${part} AS name,
       ${column(revenue, '$1', 'before')}, ${column(revenue, '$2', 'after')},
       ${column(orders, '$1', '"ordersBefore"')}, ${column(orders, '$2', '"ordersAfter"')}
  FROM ${table} WHERE ${narrowed} GROUP BY 1`
}

function byPeriod(
  plan: Plan,
  by: keyof typeof periods,
  table: string,
  at: string,
  revenue: string,
  orders: string,
): Query {
  return {
    sql: `SELECT to_char(${at}, ${periods[by]}) AS name, 0 AS before, ${revenue}::int AS after, 0 AS "ordersBefore", ${orders}::int AS "ordersAfter"
  FROM ${table} WHERE ${at} >= $1::date AND ${at} < $2::date + interval '1 month' AND ${narrowed} GROUP BY 1 ORDER BY 1`,
    values: both({ ...plan, from: 1, to: 12 }),
  }
}
