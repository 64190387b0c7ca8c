/** What a message about sales asks for. Narrowing to null is none. */
export interface Plan {
  by: 'region' | 'category' | 'month' | 'quarter'
  year: number
  /** When it goes by region or category: the first months, 1 to 12, of the two periods compared, and their length. */
  from: number
  to: number
  span: 1 | 3
  /** When it goes by month or quarter: the parts into which each of them is split. */
  within: 'region' | 'category' | null
  /** Whether it is asked why, which takes a look at every order. */
  why: boolean
  region: string | null
  category: string | null
}
export type Language = 'en' | 'zh'

export const languageOf = (text: string): Language => (/\p{Script=Han}/u.test(text) ? 'zh' : 'en')

export const latest: Plan = {
  by: 'region',
  year: 2026,
  from: 5,
  to: 6,
  span: 1,
  within: null,
  why: false,
  region: null,
  category: null,
}

const topic =
  /\b(sales?|sold|sell|selling|revenue|turnover|orders?|regions?|categor\w*)\b|销售|销量|营收|收入|订单|地区|区域|品类|类别/i

const groupings: [Plan['by'], string][] = [
  ['quarter', 'quarters?|季度?'],
  ['month', 'months?|月份?'],
  ['region', 'regions?|areas?|地区|区域'],
  ['category', 'categor(?:y|ies)|products?|类别|品类|分类|商品'],
]
const regions: [string, RegExp][] = [
  ['North', /\bnorth|北/i],
  ['South', /\bsouth|南/i],
  ['East', /\beast|东/i],
  ['West', /\bwest|西/i],
]
const categories: [string, RegExp][] = [
  ['Outdoor', /\boutdoor|户外/i],
  ['Home', /\bhome\b|家居/i],
  ['Electronics', /\belectronic|电子/i],
]
const everything = /\b(all|every|each) (the )?(regions?|categor)|(所有|全部|各个?)(地区|区域|类别|品类)/i

const reasons = /\b(why|reasons?|causes?|explain|most|least)\b|为什么|为何|原因|解释|最多|最少|最大|最小/i

const number = '([1-4一二三四])'
const chineseNumbers = '一二三四'
/** The two periods that a text compares, where it names quarters or the latest ones; and the text without them. */
function periodsIn(text: string): { rest: string; periods: Pick<Plan, 'from' | 'to' | 'span'> | null } {
  const lasts: [RegExp, Pick<Plan, 'from' | 'to' | 'span'>][] = [
    [
      /\b(last|past|latest|recent) (two|2) quarters\b|(最近|过去|近|上)的?[两2]个?季度/gi,
      { from: 1, to: 4, span: 3 },
    ],
    [
      /\b(last|past|latest|recent) (two|2) months\b|(最近|过去|近|上)的?[两2]个月/gi,
      { from: 5, to: 6, span: 1 },
    ],
  ]
  for (const [pattern, periods] of lasts)
    if (pattern.test(text)) return { rest: text.replace(pattern, ' '), periods }
  const pattern = new RegExp(`\\bQ${number}\\b|第?${number}季度`, 'gi')
  const named = [...text.matchAll(pattern)]
    .map(([, latin = '', han = '']) => Number(latin || han) || chineseNumbers.indexOf(han) + 1)
    .sort((a, b) => a - b)
  const [first, last] = [named[0], named.at(-1)]
  if (first === undefined || last === undefined) return { rest: text, periods: null }
  const [before, after] = first < last ? [first, last] : [Math.max(1, last - 1), Math.max(2, last)]
  return {
    rest: text.replace(pattern, ' '),
    periods: { from: 3 * before - 2, to: 3 * after - 2, span: 3 },
  }
}

const monthNames = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const chineseMonths = '一 二 三 四 五 六 七 八 九 十 十一 十二'.split(' ')

function monthsIn(text: string): number[] {
  // "may" is a word of its own; as a month it has a capital.
  const english = text.matchAll(/\b(?:(May)|(jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec))[a-z]*\b/gi)
  const named = [...english]
    .filter(([word, may]) => !may || word === 'May')
    .map(([word]) => monthNames.findIndex((name) => word.toLowerCase().startsWith(name.toLowerCase())) + 1)
  const written = [...text.matchAll(/(1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])\s*月/g)].map(
    ([, month = '']) => Number(month) || chineseMonths.indexOf(month) + 1,
  )
  return [...named, ...written].sort((a, b) => a - b)
}

/** The one of these that a text names; null when it names none or several. */
function only(choices: [string, RegExp][], text: string): string | null {
  const named = choices.filter(([, pattern]) => pattern.test(text))
  return named.length === 1 ? (named[0]?.[0] ?? null) : null
}

/** What a text says about the analysis: only what it names. */
function read(said: string): Partial<Plan> {
  const { rest: text, periods } = periodsIn(said)
  const plan: Partial<Plan> = { ...periods }
  const explicit = groupings.find(([, words]) =>
    new RegExp(`(\\bby|\\bper|\\beach|按照?|每个?|逐)\\s*(${words})`, 'i').test(text),
  )
  const mentioned = groupings.find(([by, words]) => by !== 'month' && new RegExp(words, 'i').test(text))
  const by = (explicit ?? mentioned)?.[0]
  if (by) plan.by = by
  const year = /(?<!\d)(20\d\d)(?!\d)/.exec(text)?.[1]
  if (year) plan.year = Number(year)
  const months = monthsIn(text)
  const [first, last] = [months[0], months.at(-1)]
  if (first !== undefined && last !== undefined) {
    plan.from = first < last ? first : Math.max(1, first - 1)
    plan.to = Math.max(last, 2)
    plan.span = 1
  }
  if (reasons.test(text)) plan.why = true
  const [region, category] = [only(regions, text), only(categories, text)]
  if (region) plan.region = region
  if (category) plan.category = category
  if (everything.test(text)) Object.assign(plan, { region: null, category: null })
  return plan
}

/** Inside one region it makes no sense to go by region. */
function sensible(plan: Plan): Plan {
  if (plan.by === 'month' || plan.by === 'quarter')
    return plan.within && plan[plan.within] ? { ...plan, within: null } : plan
  const whole = { ...plan, within: null }
  if (plan.region && plan.category) return { ...whole, by: 'month' }
  if (plan.region && plan.by === 'region') return { ...whole, by: 'category' }
  if (plan.category && plan.by === 'category') return { ...whole, by: 'region' }
  return whole
}

/** What a message asks for; null when it is not about sales. */
export const readQuestion = (text: string): Plan | null =>
  topic.test(text) ? sensible({ ...latest, ...read(text) }) : null

/** What guidance makes of a plan; null when it says nothing that can be followed. */
export function refine(plan: Plan, guidance: string): Plan | null {
  const said = read(guidance)
  if (Object.keys(said).length === 0) return null
  // What went by region and shall go by quarter goes by quarter, each with its regions.
  const within = plan.by === 'region' || plan.by === 'category' ? plan.by : plan.within
  return sensible({ ...plan, within, ...said })
}

/** What a task asks for: its text, and each of its requirements in turn, as far as they can be followed. */
export function readTask(
  text: string,
  requirements: readonly { id: string; text: string }[],
): { plan: Plan; followed: string[] } | null {
  let plan = readQuestion(text)
  if (!plan) return null
  const followed: string[] = []
  for (const requirement of requirements) {
    const refined: Plan | null = refine(plan, requirement.text)
    if (!refined) continue
    plan = refined
    followed.push(requirement.id)
  }
  return { plan, followed }
}
