/** Times in words. Pure: the moment, the present and the zone are arguments. */
export type TimeLanguage = 'en' | 'zh'

const units = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const
const short = {
  en: { year: 'y', month: 'mo', day: 'd', hour: 'h', minute: 'm', second: 's' },
  zh: { year: '年', month: '个月', day: '天', hour: '小时', minute: '分', second: '秒' },
} as const

/** "2 m", "3 h"; the largest unit only, never negative. */
export function shortDuration(milliseconds: number, language: TimeLanguage): string {
  const span = Math.max(0, milliseconds)
  const [unit, size] = units.find(([, each]) => span >= each) ?? ['second', 1_000]
  return `${Math.floor(span / size)} ${short[language][unit]}`
}

/** "2 m 04 s", "1 h 12 m": two units, for countdowns and run times. */
export function exactDuration(milliseconds: number, language: TimeLanguage): string {
  const span = Math.max(0, milliseconds)
  const at = units.findIndex(([, each]) => span >= each)
  const first = units[at]
  const second = units[at + 1]
  if (!first || !second) return shortDuration(span, language)
  const rest = Math.floor((span % first[1]) / second[1])
  const tail = `${String(rest).padStart(2, '0')} ${short[language][second[0]]}`
  return `${Math.floor(span / first[1])} ${short[language][first[0]]} ${tail}`
}

/** "2 m ago", "in 5 m", "just now". */
export function relativeTime(at: number, now: number, language: TimeLanguage): string {
  const distance = now - at
  if (Math.abs(distance) < 5_000) return language === 'zh' ? '刚刚' : 'just now'
  const span = shortDuration(Math.abs(distance), language)
  if (distance < 0) return language === 'zh' ? `${span}后` : `in ${span}`
  return language === 'zh' ? `${span}前` : `${span} ago`
}

const formats = new Map<string, Intl.DateTimeFormat>()
function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    })
    formats.set(timeZone, format)
  }
  return format
}

/** "2026-03-02 09:14:02" in the zone: sorts as text and reads the same in both languages. */
export function absoluteTime(at: number, timeZone: string): string {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second}`
}

/** "09:14:02" in the zone, for rows whose day is shown beside them. */
export const clockTime = (at: number, timeZone: string): string => absoluteTime(at, timeZone).slice(11)

/** "2026-03-02 09:14:02 UTC". */
export const utcTime = (at: number): string => `${absoluteTime(at, 'UTC')} UTC`

/** `2026-03-02T09:14` as a date field gives it, read in the zone; undefined for an unfinished one. */
export function isoOfLocal(local: string, timeZone: string): string | undefined {
  const asUtc = Date.parse(`${local}Z`)
  if (Number.isNaN(asUtc)) return undefined
  // The zone's offset at that moment; a second pass settles it around a change of the clocks.
  const offsetAt = (at: number) => Date.parse(`${absoluteTime(at, timeZone).replace(' ', 'T')}Z`) - at
  const guess = asUtc - offsetAt(asUtc)
  return new Date(asUtc - offsetAt(guess)).toISOString()
}

const dayMs = 86_400_000

/** The beginning of a day in a zone, so many days from the one in which `now` is, with so many hours gone. */
export function dayTime(now: number, zone: string, daysAhead: number, hour: number): number {
  const today = Date.parse(`${absoluteTime(now, zone).slice(0, 10)}T00:00Z`)
  const day = new Date(today + daysAhead * dayMs).toISOString().slice(0, 10)
  return Date.parse(isoOfLocal(`${day}T${String(hour).padStart(2, '0')}:00`, zone) ?? '')
}

/** 09:00 of a later day in the zone that was chosen: tomorrow, or the coming Monday. */
export function morning(now: number, zone: string, which: 'tomorrow' | 'monday'): number {
  const weekday = new Date(Date.parse(`${absoluteTime(now, zone).slice(0, 10)}T00:00Z`)).getUTCDay()
  return dayTime(now, zone, which === 'tomorrow' ? 1 : (8 - weekday) % 7 || 7, 9)
}
