interface Tokens {
  inputTokens: number | null
  outputTokens: number | null
}

/** Input and output together; null when neither is known: unknown is never shown as 0. */
export function totalTokens(usage: Tokens | null | undefined): number | null {
  if (usage == null || (usage.inputTokens === null && usage.outputTokens === null)) return null
  return (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
}

/** 950 → "950", 18 213 → "18.2k", 2 400 000 → "2.4M". */
export function compactNumber(value: number): string {
  if (value < 1_000) return String(value)
  const [size, unit] = value < 999_950 ? [1_000, 'k'] : [1_000_000, 'M']
  return `${(value / size).toFixed(1).replace(/\.0$/, '')}${unit}`
}

/** 18213 → "18 213" with a thin space, the same in both languages. */
export function groupedNumber(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, '\u2009')
}
