import type { Project } from './test.ts'

/** What the pictures and the accessibility tests look at: a project in the middle of its day. */
export interface Retail {
  /** Answered, failed, steered, and now waiting for an approval. */
  busySessionId: string
  doneSessionId: string
}

const scan = [
  'SELECT region, quarter, sum(amount)',
  'FROM orders_2025',
  "WHERE ordered_at >= '2025-01-01'",
  'GROUP BY region, quarter',
].join('\n')

export async function givenRetailDay(project: Project): Promise<Retail> {
  const { api } = project
  const pack = await project.session('Board pack')
  const mail = await project.turn(pack, 'Send the board pack to the directors')
  await mail.uses('render_pdf', '14 pages', 1_830)
  await mail.fails('The mail server refused the third recipient.', 'MAIL_REFUSED')
  const question = await project.turn(pack, 'Which quarter does the pack cover?')
  await question.asks('Which calendar does “last quarter” mean?', {
    kind: 'QUESTION',
    options: ['fiscal', 'calendar'],
    defaultDecision: 'fiscal',
  })

  const churn = await project.session('Churn review')
  const stable = await project.turn(churn, 'Is churn stable?')
  await stable.uses('run_sql', '12 rows', 420)
  await stable.completes('Churn moved between 2.1 % and 2.3 % in every month of the year.')

  const sales = await project.session('Regional sales decline')
  const first = await project.turn(sales, '分析各地区销售额变化,并解释下降原因')
  await first.uses('list_data_sources', '3 sources')
  await first.fails('The warehouse did not answer within 60 s. Nothing was changed.')
  const second = await project.turn(sales, '再次尝试')
  await second.uses('list_data_sources', '3 sources', 38)
  await second.uses('run_sql', '4 rows', 2_100)
  await second.streams('North fell 11.8 % and South 3.1 % between May and June; ')
  await second.streams('82 % of it is the outdoor category in two cities.')
  await second.completes(
    'North fell 11.8 % and South 3.1 % between May and June; 82 % of it is the outdoor category in two cities.',
  )
  const third = await project.turn(sales, '按季度拆分,只看 2025 年')
  await third.uses('list_data_sources', '3 sources', 44)
  await third.writes({
    type: 'REASONING_DELTA',
    payload: { text: 'The quarter is not in the index yet, so the whole table has to be read.' },
  })
  await api.do('steerRun', { runId: third.id, text: '币种统一为人民币' }, 'cursor')
  await third.asks('Scan about 14 GB of orders_2025?', {
    payload: { tool: 'run_sql', sql: scan, reason: 'policy big-scan: over 10 GB' },
  })
  return { busySessionId: sales, doneSessionId: churn }
}
