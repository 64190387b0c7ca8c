/** What a message about sales asks for. Narrowing to null is none. */
export interface Plan {
  by: 'region' | 'category' | 'month' | 'quarter'
  year: number
  /** The months compared, 1 to 12, when it goes by region or category. */
  from: number
  to: number
  region: string | null
  category: string | null
}
export type Language = 'en' | 'zh'

export const languageOf = (text: string): Language => (/\p{Script=Han}/u.test(text) ? 'zh' : 'en')

const latest: Plan = { by: 'region', year: 2026, from: 5, to: 6, region: null, category: null }

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
function read(text: string): Partial<Plan> {
  const plan: Partial<Plan> = {}
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
  }
  const [region, category] = [only(regions, text), only(categories, text)]
  if (region) plan.region = region
  if (category) plan.category = category
  if (everything.test(text)) Object.assign(plan, { region: null, category: null })
  return plan
}

/** Inside one region it makes no sense to go by region. */
function sensible(plan: Plan): Plan {
  if (plan.region && plan.category && ['region', 'category'].includes(plan.by))
    return { ...plan, by: 'month' }
  if (plan.region && plan.by === 'region') return { ...plan, by: 'category' }
  if (plan.category && plan.by === 'category') return { ...plan, by: 'region' }
  return plan
}

/** What a message asks for; null when it is not about sales. */
export const readQuestion = (text: string): Plan | null =>
  topic.test(text) ? sensible({ ...latest, ...read(text) }) : null

/** What guidance makes of a plan; null when it says nothing that can be followed. */
export function refine(plan: Plan, guidance: string): Plan | null {
  const said = read(guidance)
  return Object.keys(said).length === 0 ? null : sensible({ ...plan, ...said })
}
