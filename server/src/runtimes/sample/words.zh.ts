import { average, goesByTime, mainPart, percent, periodsOf, signed, whole } from './numbers.ts'
import type { Plan } from './question.ts'
import type { Words } from './words.ts'

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
const periodsName = ({ from, to, span }: Plan) =>
  span === 3 ? `第 ${(from + 2) / 3} 季度到第 ${(to + 2) / 3} 季度` : ` ${from} 月到 ${to} 月`
const placeZh = ({ region, category }: Plan) => name(region) + name(category)

export const zh: Words = {
  abilities:
    '我是 Wheelhouse 自带的示例智能体,背后没有模型:我只有一张小型销售表(2025 年 1 月至 2026 年 6 月,4 个地区,3 个类别),并按协议允许的步骤用 SQL 回答与它有关的问题。可以先试“比较最近两个季度各地区的销售额”,再说“再试一次”“按季度拆分”或“改写一份 README”。“五月到六月,哪个地区的销售额下降最多?为什么?”会让我在较大的查询前先问您。我工作时,您可以引导我(“按类别”“只看南部”“2025 年”)、更正任务或取消。“比较各地区的销售额,直接运行 SQL”会让守卫拒绝未轮到的步骤;“直接运行 SQL 查销售,不切换协议”则会看到始终未获允许的结果。其他任务请连接您自己的智能体。',
  thanks: '不客气。任务保持不变。',
  sideChat: (task) =>
    `这条消息被当作闲聊,任务保持不变:“${task}”。如果它属于该任务,请把这一轮改为“细化”,然后说“再试一次”。`,
  corrected: '任务已更正。',
  refused: (tool, ways) => `守卫拒绝了 ${tool};目前允许 ${ways.join('、')}。所以我一步一步来。`,
  stuck: (tool) => `这一轮的协议不允许 ${tool},而我不应提议更换协议。抱歉:没有数字。`,
  rejected: (protocol, code) => `无法在 ${protocol} 下继续:${code}。`,
  goalsFirst: (goals) =>
    `目标达成之前,协议不让我离开:${goals.map((goal) => `“${goal}”`).join('')}。先完成它们。`,
  blocked: (tool) => `守卫拒绝了 ${tool}:我无法继续。`,
  unmet: (texts) => `我做不到的:${texts.map((text) => `“${text}”`).join('')}。`,
  mismatch: (parts, control) => `请注意:各部分之和为 ${whole(parts)},而总数为 ${whole(control)}。`,
  requirements: ['给出各项数字及其变化,均来自对数据表的查询。', '核对各部分之和等于总数。'],
  handoff: { analysis: '这条消息要的是数字。', document: '要的是文字,不是数字。' },
  document(answers) {
    const body = answers.length
      ? answers.map(({ question, answer }) => `## ${question}\n\n${answer}`).join('\n\n')
      : '还没有人问过数字。'
    return `# 销售\n\n${body}\n\n## 来源\n\n按月份、地区和类别的销售表,2025 年 1 月至 2026 年 6 月。`
  },
  restarted: '我被中断了,现在重新开始。',
  denied: '未获准扫描订单,所以我只能说明发生了什么变化,不能说明原因。',
  stillAsked: '我之前的请求仍在等待答复。它已不影响结果;答复后我就完成。',
  asked: '按您的要求:',
  ask: (rows) => `扫描 orders 表的全部 ${whole(rows)} 行?`,
  notUnderstood: (guidance) =>
    `“${guidance.slice(0, 80)}”超出了我的能力:我可以按地区、类别、月份或季度分析,也可以只看一个地区、类别、月份或年份。`,
  summary(plan, rows) {
    const [first, ...others] = rows
    if (!first) return '表中没有这样的销售额;数据从 2025 年 1 月到 2026 年 6 月。'
    if (goesByTime(plan)) {
      const list = periodsOf(rows)
        .map(({ name: period, sum, parts }) => {
          const split = parts.map((row) => `${name(row.part ?? null)} ${whole(row.after)}`).join(',')
          return `${period} ${whole(sum)}${split && `(${split})`}`
        })
        .join(',')
      return `${plan.year} 年${placeZh(plan)}各${plan.by === 'quarter' ? '季度' : '月'}销售额:${list}。`
    }
    const place = placeZh(plan)
    const time = `${plan.year} 年${periodsName(plan)},${place && `在${place},`}`
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
