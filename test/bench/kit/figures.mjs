/** The value below which `share` of the values lie. */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
export const median = (values) => percentile(values, 0.5)

/** The median of each figure over rounds. */
export const medians = (rounds) =>
  Object.fromEntries(Object.keys(rounds[0]).map((key) => [key, median(rounds.map((round) => round[key]))]))

/** Runs `work(index, worker)` `count` times, `concurrency` at a time, and says how fast it went. */
export async function load(concurrency, count, work) {
  const latencies = []
  let next = 0
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: concurrency }, async (_, worker) => {
      while (next < count) {
        const index = next++
        const from = performance.now()
        await work(index, worker)
        latencies.push(performance.now() - from)
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  return { perSecond: count / seconds, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
}

const number = (value) =>
  typeof value !== 'number'
    ? value
    : value >= 1000
      ? Math.round(value).toLocaleString('en')
      : value >= 100
        ? value.toFixed(0)
        : value >= 10
          ? value.toFixed(1)
          : value.toFixed(2)

/** A table in Markdown; numbers get as many digits as say something. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.map(number).join(' | ')} |`
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join(
    '\n',
  )
}
export const show = number
