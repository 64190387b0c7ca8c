import { average, goesByTime, mainPart, percent, periodsOf, signed, whole } from './numbers.ts'
import type { Plan } from './question.ts'
import type { Words } from './words.ts'

const monthName = (month: number) =>
  new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' }).format(Date.UTC(2026, month - 1))
const periodName = (plan: Plan, first: number) => (plan.span === 3 ? `Q${(first + 2) / 3}` : monthName(first))
const placeEn = ({ region, category }: Plan) => {
  const place = [region, category].filter((word) => word !== null).join(', ')
  return place && `, in ${place}`
}

export const en: Words = {
  abilities:
    'I am the sample agent that comes with Wheelhouse. There is no model behind me: I know one small table of sales (January 2025 to June 2026, 4 regions, 3 categories) and answer questions about it with SQL, step by step, as the protocol allows. Try “Compare sales by region over the last two quarters”, then “try again”, “split it by quarter” or “write a README instead”. “Which region’s sales fell the most between May and June, and why?” makes me ask you before my larger query. While I work, steer me (“by category”, “only the South”, “2025”), correct the task, or cancel. “Compare sales by region, and run the SQL right away” shows the guard refusing a step before its turn; “Run the SQL on sales right away, without a handoff” what comes of never getting it. For anything else, connect an agent of your own.',
  thanks: 'You are welcome. The task stays as it is.',
  sideChat: (task) =>
    `This came to me as a side chat, so the task is left as it is: “${task}”. If it belongs to the task, route this turn anew as a refinement, then say “try again”.`,
  corrected: 'The task was corrected. ',
  refused: (tool, ways) =>
    `The guard refused ${tool} at this point; it allows ${ways.join(', ')}. So I go step by step.`,
  stuck: (tool) =>
    `The protocol of this turn does not allow ${tool}, and I shall not propose another one. I am sorry: there are no figures.`,
  rejected: (protocol, code) => `I can’t go on under ${protocol}: ${code}.`,
  goalsFirst: (goals) =>
    `The protocol keeps me until its goals are met: ${goals.map((goal) => `“${goal}”`).join(', ')}. First those.`,
  blocked: (tool) => `The guard refused ${tool}: I can’t go on from here.`,
  unmet: (texts) => `What I can’t do: ${texts.map((text) => `“${text}”`).join(', ')}.`,
  mismatch: (parts, control) =>
    `Beware: the parts add up to ${whole(parts)}, and the table to ${whole(control)}.`,
  requirements: [
    'Give each figure with its change, from a query over the table.',
    'Check that the parts add up to the whole.',
  ],
  handoff: { analysis: 'The message asks for figures.', document: 'A text is wanted, not figures.' },
  document(answers) {
    const body = answers.length
      ? answers.map(({ question, answer }) => `## ${question}\n\n${answer}`).join('\n\n')
      : 'No figures were asked for yet.'
    return `# Sales\n\n${body}\n\n## Where this comes from\n\nA table of sales by month, region and category, January 2025 to June 2026.`
  },
  restarted: 'I was interrupted, and start again.',
  denied: 'The scan of the orders was not allowed, so I can say what changed, not why.',
  stillAsked: 'What I asked still waits for an answer. It changes nothing any more; then I am done.',
  asked: 'As you asked: ',
  ask: (rows) => `Scan all ${whole(rows)} rows of orders?`,
  notUnderstood: (guidance) =>
    `“${guidance.slice(0, 80)}” is beyond me: I can go by region, category, month or quarter, and look at one region, category, month or year only.`,
  summary(plan, rows) {
    const [first, ...others] = rows
    if (!first) return 'There are no such sales in the table, which goes from January 2025 to June 2026.'
    if (goesByTime(plan)) {
      const list = periodsOf(rows)
        .map(({ name, sum, parts }) => {
          const split = parts.map((row) => `${row.part} ${whole(row.after)}`).join(', ')
          return `${name} ${whole(sum)}${split && ` (${split})`}`
        })
        .join(', ')
      return `Sales of ${plan.year} by ${plan.by}${placeEn(plan)}: ${list}.`
    }
    const time = `Between ${periodName(plan, plan.from)} and ${periodName(plan, plan.to)} ${plan.year}${placeEn(plan)}`
    const fell =
      first.after < first.before ? 'sales fell the most in' : 'sales fell nowhere; they grew the least in'
    const lead = `${time}, ${fell} ${first.name}: from ${whole(first.before)} to ${whole(first.after)} (${signed(first)}).`
    const rest = others
      .map((row) => `${row.name} ${row.after < row.before ? 'fell' : 'grew'} by ${percent(row)}`)
      .join(', ')
    return rest ? `${lead} ${rest}.` : lead
  },
  detail(plan, focus, rows) {
    if (goesByTime(plan)) {
      const list = rows.map(
        (row) => `${row.name} ${row.ordersAfter} × ${average(row.after, row.ordersAfter)}`,
      )
      return `Number of orders and their average: ${list.join(', ')}.`
    }
    const found = mainPart(rows)
    if (!found) return `The orders in ${focus} don’t explain the change.`
    const { part, share, byNumber } = found
    const orders = `${part.ordersBefore} → ${part.ordersAfter} orders, on average ${average(part.before, part.ordersBefore)} → ${average(part.after, part.ordersAfter)}`
    const cause = byNumber
      ? 'the number of orders, not their size'
      : 'the size of the orders, not their number'
    return `${part.name} makes up ${share}\u00a0% of the change in ${focus}: ${orders}. What changed is ${cause}.`
  },
}
