/** A space that keeps the number and its unit on one line. */
const narrow = '\u00a0'

/** A measured value with its unit, for reading: bytes and milliseconds in the size a person compares. */
export function formatMetric(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2
  const plain = value.toLocaleString('en-US', { maximumFractionDigits: digits }).replaceAll(',', narrow)
  switch (unit) {
    case 'bytes':
      return formatBytes(value)
    case 'ms':
    case 'milliseconds':
      return Math.abs(value) >= 10_000 ? formatMetric(value / 1_000, 's') : `${plain}${narrow}ms`
    case 's':
    case 'seconds':
      return `${plain}${narrow}s`
    case 'ratio':
      return `${(value * 100).toFixed(1)}${narrow}%`
    case 'percent':
    case '%':
      return `${plain}${narrow}%`
    case 'count':
    case '':
    case '1':
      return plain
    default:
      return `${plain}${narrow}${unit.replace('per_second', '/s').replace('_', ' ')}`
  }
}

function formatBytes(value: number): string {
  const sizes = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const step = value < 1 ? 0 : Math.min(sizes.length - 1, Math.floor(Math.log2(value) / 10))
  const shown = value / 1024 ** step
  return `${shown.toFixed(step === 0 || shown >= 100 ? 0 : 1)}${narrow}${sizes[step]}`
}

/** `append_rate` → `Append rate`, for keys that have no words of their own yet. */
export const readableKey = (key: string): string => {
  const words = key
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[_.-]/g, ' ')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
