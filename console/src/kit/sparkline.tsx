import './sparkline.css'

type SparklineProps = {
  points: readonly { at: string; value: number }[]
  /** Drawn as a line when it lies in the range. */
  threshold?: number | null
  /** What the picture says, in words. */
  label: string
}

const width = 160
const height = 24

/** A small trend line; no axes, the numbers stand beside it and in its label. */
export function Sparkline({ points, threshold, label }: SparklineProps) {
  const values = points.map(({ value }) => value)
  const highest = Math.max(
    ...values,
    threshold != null && threshold <= Math.max(...values) * 3 ? threshold : 0,
  )
  const lowest = Math.min(...values, 0)
  const span = highest - lowest || 1
  const times = points.map(({ at }) => Date.parse(at))
  const start = times[0] ?? 0
  const duration = (times.at(-1) ?? 1) - start || 1
  const y = (value: number) => height - 2 - ((value - lowest) / span) * (height - 4)
  const path = values
    .map((value, index) => {
      const x = (((times[index] ?? start) - start) / duration) * width
      return `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y(value).toFixed(1)}`
    })
    .join('')
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {threshold != null && threshold <= highest && (
        <path className="sparkline-threshold" d={`M0 ${y(threshold)}H${width}`} />
      )}
      <path d={path} />
    </svg>
  )
}
