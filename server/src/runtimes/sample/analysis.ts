import type pg from 'pg'
import type { Plan } from './question.ts'
import { salesCsv } from './sales.ts'

export interface Query {
  sql: string
  values: unknown[]
}
/** What both queries find: revenue and orders in the two periods compared, or in a period (then only `after`). */
export interface Figures {
  name: string
  /** Of a period that is split: the part of it. */
  part?: string | null
  before: number
  after: number
  ordersBefore: number
  ordersAfter: number
}
export type Sums = Pick<Figures, 'before' | 'after'>

/**
 * Reads the CSV into the agent's own schema, and one row for each order, in SQL. Afterwards the connection only reads.
 * Gives how many orders there are.
 */
export async function loadSales(database: pg.Client): Promise<number> {
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
  const { rowCount } = await database.query(`
    CREATE TABLE orders AS
    SELECT (row_number() OVER (ORDER BY month, region, category, n))::int AS id, month + (n - 1) * 28 / orders AS placed_on,
           region, category, revenue / orders + (n <= revenue % orders)::int AS amount
      FROM sales, generate_series(1, orders) AS n`)
  await database.query('COMMIT')
  await database.query('SET default_transaction_read_only = on')
  return rowCount ?? 0
}

const narrowed = `($3::text IS NULL OR region = $3) AND ($4::text IS NULL OR category = $4)`
const day = (plan: Plan, month: number) => `${plan.year}-${String(month).padStart(2, '0')}-01`
const goesByTime = (plan: Plan): plan is Plan & { by: 'month' | 'quarter' } =>
  plan.by === 'month' || plan.by === 'quarter'
/** The two dates, of the first months of the periods compared or of the year, and what it is narrowed to. */
const valuesOf = (plan: Plan) => {
  const [from, to] = goesByTime(plan) ? [1, 12] : [plan.from, plan.to]
  return [day(plan, from), day(plan, to), plan.region, plan.category]
}
const periods = { month: `'YYYY-MM'`, quarter: `'YYYY "Q"Q'` }

interface Source {
  table: string
  at: string
  revenue: string
  orders: string
}
const sales = { table: 'sales', at: 'month', revenue: 'sum(revenue)', orders: 'sum(orders)' }
const orders = { table: 'orders', at: 'placed_on', revenue: 'sum(amount)', orders: 'count(*)' }

/** The small query: sales by what the plan goes by, the largest decline first; or period by period. */
export function summaryQuery(plan: Plan): Query {
  if (goesByTime(plan)) return byPeriod(plan, plan.within, sales)
  return {
    sql: `SELECT * FROM (${byPart(plan.by, plan.span, sales)}) AS changes
 WHERE before > 0 AND after > 0 ORDER BY after - before, name`,
    values: valuesOf(plan),
  }
}

/** The larger query: every order, to tell whether there were fewer of them or smaller ones in what changed most. */
export function detailQuery(plan: Plan, focus: string): Query {
  if (goesByTime(plan)) return byPeriod(plan, null, orders)
  const inside = plan.by === 'region' ? 'category' : 'region'
  return { sql: byPart(inside, plan.span, orders), values: valuesOf(focusedOn(plan, focus)) }
}

/** The plan, but for one of its parts. */
export const focusedOn = (plan: Plan, focus: string): Plan =>
  goesByTime(plan) ? plan : { ...plan, [plan.by]: focus }

/** What the parts must add up to: the same periods, not split. */
export function controlQuery(plan: Plan): Query {
  const sum = goesByTime(plan)
    ? `0 AS before, coalesce(sum(revenue) FILTER (WHERE month BETWEEN $1::date AND $2::date), 0)::int AS after`
    : `${column(sales.revenue, within('month', '$1', plan.span), 'before')}, ${column(sales.revenue, within('month', '$2', plan.span), 'after')}`
  return { sql: `SELECT ${sum} FROM sales WHERE ${narrowed}`, values: valuesOf(plan) }
}

const within = (at: string, from: string, months: number) =>
  `${at} >= ${from}::date AND ${at} < ${from}::date + interval '${months} month'`
const column = (what: string, when: string, name: string) =>
  `coalesce(${what} FILTER (WHERE ${when}), 0)::int AS ${name}`

function byPart(part: string, span: number, from: Source): string {
  const [before, after] = [within(from.at, '$1', span), within(from.at, '$2', span)]
  return `SELECT ${part} AS name,
       ${column(from.revenue, before, 'before')}, ${column(from.revenue, after, 'after')},
       ${column(from.orders, before, '"ordersBefore"')}, ${column(from.orders, after, '"ordersAfter"')}
  FROM ${from.table} WHERE ${narrowed} GROUP BY 1`
}

function byPeriod(plan: Plan & { by: 'month' | 'quarter' }, part: Plan['within'], from: Source): Query {
  const { table, at, revenue, orders: count } = from
  return {
    sql: `SELECT to_char(${at}, ${periods[plan.by]}) AS name, ${part ?? 'NULL::text'} AS part, 0 AS before, ${revenue}::int AS after, 0 AS "ordersBefore", ${count}::int AS "ordersAfter"
  FROM ${table} WHERE ${at} >= $1::date AND ${at} < $2::date + interval '1 month' AND ${narrowed} GROUP BY 1, 2 ORDER BY 1, 2`,
    values: valuesOf(plan),
  }
}
