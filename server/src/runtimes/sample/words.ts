import type { Figures } from './analysis.ts'
import type { Language, Plan } from './question.ts'

/** What the agent says, in one language. */
export interface Words {
  abilities: string
  restarted: string
  denied: string
  /** Before what guidance led to. */
  asked: string
  ask(rows: number): string
  notUnderstood(guidance: string): string
  summary(plan: Plan, rows: Figures[]): string
  detail(plan: Plan, focus: string, rows: Figures[]): string
}

/** 2 400: digits in groups, with spaces that don't break. */
const whole = (n: number) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, '\u00a0')
const percent = ({ before, after }: Figures) =>
  `${Math.abs((100 * (after - before)) / before).toFixed(1)}\u00a0%`
const signed = (row: Figures) => `${row.after < row.before ? '−' : '+'}${percent(row)}`
const average = (sum: number, orders: number) => whole(sum / orders)
const goesByTime = (plan: Plan) => plan.by === 'month' || plan.by === 'quarter'

/** The part that makes up most of a change, its share in percent, and whether the orders' number changed or their size. */
function mainPart(parts: Figures[]): { part: Figures; share: number; byNumber: boolean } | null {
  const total = parts.reduce((sum, { before, after }) => sum + after - before, 0)
  const weight = ({ before, after }: Figures) => (after - before) * Math.sign(total)
  const [part] = [...parts].sort((a, b) => weight(b) - weight(a))
  if (!part || total === 0 || part.ordersBefore === 0 || part.ordersAfter === 0) return null
  const number = Math.log(part.ordersAfter / part.ordersBefore)
  const size = Math.log(part.after / part.ordersAfter / (part.before / part.ordersBefore))
  const share = Math.round((100 * (part.after - part.before)) / total)
  return { part, share, byNumber: Math.abs(number) > Math.abs(size) }
}

const monthName = (month: number) =>
  new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' }).format(Date.UTC(2026, month - 1))
const placeEn = ({ region, category }: Plan) => {
  const place = [region, category].filter((word) => word !== null).join(', ')
  return place && `, in ${place}`
}

const en: Words = {
  abilities:
    'I am the sample agent that comes with Wheelhouse. There is no model behind me: I know one small table of sales (January 2025 to June 2026, 4 regions, 3 categories) and answer questions about it with SQL. Try “Which region’s sales fell the most between May and June, and why?”; while I work you can steer me (“by category”, “only the South”, “2025”) or cancel. For anything else, connect an agent of your own.',
  restarted: 'I was interrupted, and start again.',
  denied: 'The scan of the orders was not allowed, so I can say what changed, not why.',
  asked: 'As you asked: ',
  ask: (rows) => `Scan all ${whole(rows)} rows of orders?`,
  notUnderstood: (guidance) =>
    `“${guidance.slice(0, 80)}” is beyond me: I can go by region, category, month or quarter, and look at one region, category, month or year only.`,
  summary(plan, rows) {
    const [first, ...others] = rows
    if (!first) return 'There are no such sales in the table, which goes from January 2025 to June 2026.'
    if (goesByTime(plan)) {
      const list = rows.map((row) => `${row.name} ${whole(row.after)}`).join(', ')
      return `Sales of ${plan.year} by ${plan.by}${placeEn(plan)}: ${list}.`
    }
    const time = `Between ${monthName(plan.from)} and ${monthName(plan.to)} ${plan.year}${placeEn(plan)}`
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

const chinese: Record<string, string> = {
  North: '北部',
  South: '南部',
  East: '东部',
  West: '西部',
  Outdoor: '户外',
  Home: '家居',
  Electronics: '电子',
}
const name = (word: string | null) => (word === null ? '' : (chinese[word] ?? word))
const placeZh = ({ region, category }: Plan) => name(region) + name(category)

const zh: Words = {
  abilities:
    '我是 Wheelhouse 自带的示例智能体,背后没有模型:我只有一张小型销售表(2025 年 1 月至 2026 年 6 月,4 个地区,3 个类别),并用 SQL 回答与它有关的问题。可以试试“五月到六月,哪个地区的销售额下降最多?为什么?”;我工作时,您可以引导我(“按类别”“只看南部”“2025 年”)或取消。其他任务请连接您自己的智能体。',
  restarted: '我被中断了,现在重新开始。',
  denied: '未获准扫描订单,所以我只能说明发生了什么变化,不能说明原因。',
  asked: '按您的要求:',
  ask: (rows) => `扫描 orders 表的全部 ${whole(rows)} 行?`,
  notUnderstood: (guidance) =>
    `“${guidance.slice(0, 80)}”超出了我的能力:我可以按地区、类别、月份或季度分析,也可以只看一个地区、类别、月份或年份。`,
  summary(plan, rows) {
    const [first, ...others] = rows
    if (!first) return '表中没有这样的销售额;数据从 2025 年 1 月到 2026 年 6 月。'
    if (goesByTime(plan)) {
      const list = rows.map((row) => `${row.name} ${whole(row.after)}`).join(',')
      return `${plan.year} 年${placeZh(plan)}各${plan.by === 'quarter' ? '季度' : '月'}销售额:${list}。`
    }
    const place = placeZh(plan)
    const time = `${plan.year} 年 ${plan.from} 月到 ${plan.to} 月,${place && `在${place},`}`
    const lead =
      first.after < first.before
        ? `${name(first.name)}的销售额下降最多:从 ${whole(first.before)} 降到 ${whole(first.after)}(${signed(first)})。`
        : `没有下降,${name(first.name)}的增长最少:从 ${whole(first.before)} 升到 ${whole(first.after)}(${signed(first)})。`
    const rest = others
      .map((row) => `${name(row.name)}${row.after < row.before ? '下降' : '增长'} ${percent(row)}`)
      .join(',')
    return `${time}${lead}${rest && `${rest}。`}`
  },
  detail(plan, focus, rows) {
    if (goesByTime(plan)) {
      const list = rows.map(
        (row) => `${row.name} ${row.ordersAfter} × ${average(row.after, row.ordersAfter)}`,
      )
      return `订单数与平均金额:${list.join(',')}。`
    }
    const found = mainPart(rows)
    if (!found) return `${name(focus)}的订单无法解释这一变化。`
    const { part, share, byNumber } = found
    const orders = `订单数 ${part.ordersBefore} → ${part.ordersAfter},平均每单 ${average(part.before, part.ordersBefore)} → ${average(part.after, part.ordersAfter)}`
    const cause = byNumber ? '订单的数量,而不是每单的金额' : '每单的金额,而不是订单的数量'
    return `${name(focus)}的变化中,${name(part.name)}占 ${share}\u00a0%:${orders}。变化的是${cause}。`
  },
}

export const words: Record<Language, Words> = { en, zh }
