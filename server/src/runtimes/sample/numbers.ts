import type { Figures } from './analysis.ts'
import type { Plan } from './question.ts'

/** 2 400: digits in groups, with spaces that don't break. */
export const whole = (n: number) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, '\u00a0')
export const percent = ({ before, after }: Figures) =>
  `${Math.abs((100 * (after - before)) / before).toFixed(1)}\u00a0%`
export const signed = (row: Figures) => `${row.after < row.before ? '−' : '+'}${percent(row)}`
export const average = (sum: number, orders: number) => whole(sum / orders)
export const goesByTime = (plan: Plan) => plan.by === 'month' || plan.by === 'quarter'

/** The part that makes up most of a change, its share in percent, and whether the orders' number changed or their size. */
export function mainPart(parts: Figures[]): { part: Figures; share: number; byNumber: boolean } | null {
  const total = parts.reduce((sum, { before, after }) => sum + after - before, 0)
  const weight = ({ before, after }: Figures) => (after - before) * Math.sign(total)
  const [part] = [...parts].sort((a, b) => weight(b) - weight(a))
  if (!part || total === 0 || part.ordersBefore === 0 || part.ordersAfter === 0) return null
  const number = Math.log(part.ordersAfter / part.ordersBefore)
  const size = Math.log(part.after / part.ordersAfter / (part.before / part.ordersBefore))
  const share = Math.round((100 * (part.after - part.before)) / total)
  return { part, share, byNumber: Math.abs(number) > Math.abs(size) }
}

/** One entry for each period: its sum, and the parts that it is split into, if it is. */
export function periodsOf(rows: Figures[]): { name: string; sum: number; parts: Figures[] }[] {
  const names = [...new Set(rows.map(({ name }) => name))]
  return names.map((name) => {
    const parts = rows.filter((row) => row.name === name)
    return {
      name,
      sum: parts.reduce((sum, { after }) => sum + after, 0),
      parts: parts.filter(({ part }) => part),
    }
  })
}
