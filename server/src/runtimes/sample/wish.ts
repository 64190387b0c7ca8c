/** What a message wants of the agent, other than figures. */
export type Wish = 'help' | 'thanks' | 'document' | 'figures'

const wishes: [Wish, RegExp][] = [
  [
    'help',
    /^\W*(help|what can (you|i) (do|try|ask|say)|what do you do)\b|^\s*(帮助|你(能|会|可以)做(些)?什么|我(能|可以)(试|问|说)(些)?什么)/i,
  ],
  ['thanks', /^\W*(thanks|thank you|thx|cheers)\b[^?？]{0,40}$|^\s*(谢谢|多谢|感谢)[^?？]{0,20}$/i],
  ['document', /\breadme\b|自述文件|说明文档/i],
]

export const wishOf = (text: string): Wish =>
  wishes.find(([, pattern]) => pattern.test(text))?.[0] ?? 'figures'

/** Whether the query shall be run before its turn: the guard has a word to say to that. */
export const isHasty = (text: string): boolean =>
  /\b(right away|straight away|at once|skip the steps)\b|直接(运行|执行|跑)|跳过步骤/i.test(text)

/** Whether the agent shall stay under its protocol, whatever that allows. */
export const staysPut = (text: string): boolean =>
  /\b(without|no) (a )?hand(ing)?[- ]?off\b|\b(don[’']t|do not) hand (it )?off\b|不要?(切换|移交)协议/i.test(
    text,
  )

const figures =
  /\b(sales|sold|sell|selling|revenue|turnover|orders?|analy\w*|compare)\b|销售|销量|营收|收入|订单|分析|比较|对比/i
const question = /[?？]|\b(which|what|how|why|where)\b|哪|什么|为何|多少/i

/** Whether a message says how figures shall be, not which: it makes sense only together with a task. */
export const isRefinement = (text: string): boolean => !figures.test(text) && !question.test(text)
