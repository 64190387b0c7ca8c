import type pg from 'pg'
import type { Job, Work } from '../sample.ts'
import { detailQuery, type Figures, type Query, summaryQuery } from './analysis.ts'
import { languageOf, readQuestion, refine } from './question.ts'
import { words } from './words.ts'

/** What the sample agent does with a message: looks at the tables, says what changed, asks, says why. */
export function answerFrom(database: pg.Client): Work {
  const run = async (job: Job, summary: string, { sql, values }: Query) =>
    job.use(
      'run_sql_readonly',
      { summary, sql, values },
      async () => (await database.query<Figures>(sql, values)).rows,
      (rows) => ({ summary: `${rows.length} rows`, rows }),
    )
  return async (job) => {
    const { [languageOf(job.text)]: said } = words
    // Guidance that came before the interruption comes again with the other signals, and is followed again.
    if (job.again) await job.say(said.restarted, { toTheEnd: true })
    let plan = readQuestion(job.text)
    if (!plan) {
      await job.say(said.abilities)
      return false
    }
    const orders = await lookAround(job, database)
    let rows: Figures[] = []
    let prefix = ''
    let next: 'summary' | 'detail' | 'nothing' = 'summary'
    let whole = true
    while (next !== 'nothing' || job.guidance.length > 0) {
      const guidance = job.guidance.shift()
      if (guidance !== undefined) {
        const refined = refine(plan, guidance)
        if (refined) [plan, prefix, next] = [refined, said.asked, 'summary']
        else await job.say(said.notUnderstood(guidance))
      } else if (next === 'summary') {
        rows = await run(job, `sales by ${plan.by}`, summaryQuery(plan))
        next = rows.length > 0 ? 'detail' : 'nothing'
        await job.say(prefix + said.summary(plan, rows))
      } else {
        const payload = { tool: 'run_sql_readonly', table: 'orders', rows: orders }
        const decision = await job.ask(said.ask(orders), payload)
        if (decision === null) continue
        whole = decision === 'allow'
        next = 'nothing'
        if (!whole) {
          await job.say(said.denied)
          continue
        }
        const focus = rows[0]?.name ?? ''
        const detail = await run(job, `every order, by ${plan.by}`, detailQuery(plan, focus))
        await job.say(said.detail(plan, focus, detail))
      }
    }
    return whole
  }
}

async function lookAround(job: Job, database: pg.Client): Promise<number> {
  const tables = await job.use(
    'list_data_sources',
    { summary: 'which tables there are' },
    async () => {
      const sql = `SELECT 'sales' AS name, count(*)::int AS rows FROM sales UNION ALL SELECT 'orders', count(*)::int FROM orders`
      return (await database.query<{ name: string; rows: number }>(sql)).rows
    },
    (found) => ({ summary: found.map(({ name, rows }) => `${name}: ${rows} rows`).join(', ') }),
  )
  await job.use(
    'inspect_schema',
    { summary: 'the columns of sales' },
    async () => {
      const sql = `SELECT column_name || ' ' || data_type AS name FROM information_schema.columns
 WHERE table_schema = current_schema() AND table_name = 'sales' ORDER BY ordinal_position`
      return (await database.query<{ name: string }>(sql)).rows
    },
    (found) => ({ summary: found.map(({ name }) => name).join(', ') }),
  )
  return tables.find(({ name }) => name === 'orders')?.rows ?? 0
}
