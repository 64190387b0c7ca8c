/*
 * Messages that say nothing but "go on". The whole message must be such phrases: "继续帮我写 README" asks for something.
 */

/** The longest message, in code points, that can be a mere continuation. */
export const maxWeak = 24

/** One spelling for what looks alike: NFKC, case folded, trimmed, punctuation and symbols as single spaces. */
export function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[\p{P}\p{S}\p{Z}\s]+/gu, ' ')
    .trim()
}
const lengthOf = (text: string) => [...text.normalize('NFKC').toLowerCase().trim()].length

/** Alternatives as one pattern; the longer ones first, so that none hides another. */
const oneOf = (phrases: readonly string[]) => [...phrases].sort((a, b) => b.length - a.length).join('|')

const goOn = [
  'retry',
  'try again',
  'try it again',
  'try once more',
  'try that again',
  'again',
  'once again',
  'once more',
  'one more time',
  'go on',
  'go ahead',
  'continue',
  'carry on',
  'keep going',
  'keep at it',
  'proceed',
  'resume',
  'rerun',
  'rerun it',
  're run',
  'run it again',
  'run again',
  'do it again',
  'pick it up',
  'next',
  'go for it',
]
const goOnInChinese = [
  '继续',
  '再次尝试',
  '再试一次',
  '再试一下',
  '再试试',
  '再试',
  '再来一次',
  '再来一遍',
  '再来',
  '重试一次',
  '重试一下',
  '重试',
  '重新来',
  '重新试',
  '重新跑',
  '重来',
  '再跑一次',
  '再跑一遍',
  '再做一次',
  '再做一遍',
  '接着来',
  '接着做',
  '接着跑',
  '接着',
  '往下做',
  '往下走',
  '往下',
  '下一步',
]
const courtesy = [
  'please',
  'pls',
  'plz',
  'ok',
  'okay',
  'k',
  'now',
  'then',
  'yes',
  'yeah',
  'sure',
  'so',
  'and',
  'well',
  'thanks',
  'thank you',
  'just',
]
const courtesyInChinese = [
  '好的',
  '好',
  '行',
  '嗯',
  '请',
  '麻烦',
  '那就',
  '那',
  '就',
  '你',
  '吧',
  '呀',
  '啊',
  '呢',
  '啦',
  '了',
  '谢谢',
  '一次',
  '一下',
  '一遍',
  '下去',
]

const latin = oneOf([...goOn, ...courtesy])
const han = oneOf([...goOnInChinese, ...courtesyInChinese])
const pieces = new RegExp(`^(?:(?:${latin})(?![a-z0-9])|(?:${han})| )+$`, 'u')
const core = new RegExp(`(?<![a-z0-9])(?:${oneOf(goOn)})(?![a-z0-9])|${oneOf(goOnInChinese)}`, 'u')

/** Whether a message only asks to go on with what there is: at most 24 code points of such phrases, English or Chinese. */
export function isWeakContinuation(text: string): boolean {
  if (lengthOf(text) > maxWeak) return false
  const words = plain(text)
  return pieces.test(words) && core.test(words)
}

const yes = [
  'yes',
  'y',
  'yep',
  'yeah',
  'yup',
  'sure',
  'ok',
  'okay',
  'fine',
  'do it',
  'do that',
  'please do',
  'go',
  'go ahead',
  'go for it',
  'sounds good',
  'agreed',
  'approved',
  'of course',
  'absolutely',
  'lets do it',
  'lets go',
]
const politeness = ['please', 'pls', 'plz', 'now', 'then']
const yesInChinese = [
  '好的',
  '好',
  '行',
  '可以',
  '嗯',
  '是的',
  '是',
  '对',
  '动手',
  '做',
  '开始',
  '同意',
  '批准',
  '没问题',
  '去',
  '来',
  '就这样',
]
const politenessInChinese = ['请', '吧', '呀', '啊', '的', '那就', '那', '就']
const assent = new RegExp(
  `^(?:(?:${oneOf([...yes, ...politeness])})(?![a-z0-9])|(?:${oneOf([...yesInChinese, ...politenessInChinese])})| )+$`,
  'u',
)
const assentCore = new RegExp(`(?<![a-z0-9])(?:${oneOf(yes)})(?![a-z0-9])|${oneOf(yesInChinese)}`, 'u')

/** Whether a message is nothing but a yes. It goes on with a task only where it was asked for: `asksForAssent`. */
export function isBareAssent(text: string): boolean {
  const words = plain(text)
  return lengthOf(text) <= maxWeak && assent.test(words) && assentCore.test(words)
}

const asking =
  /\b(?:shall|should|may|can|could) (?:i|we)\b|\b(?:would you like|do you want|want) me to\b|\bok(?:ay)? to\b|\b(?:proceed|go ahead|continue|confirm|approve|ready)\b|需要我|要我|要不要|是否|可以吗|行吗|好吗|同意吗|继续吗|确认|批准|执行吗|开始吗|动手吗/u

/** A short question that offers to do something ("Merge them?", "要合并吗？"), and does not ask what, which or how. */
const deeds =
  'add|apply|approve|archive|build|cancel|clean|close|commit|continue|convert|copy|create|delete|deploy|download|drop|execute|export|fix|generate|import|install|keep|load|merge|migrate|move|open|overwrite|post|proceed|publish|push|rebuild|remove|rename|replace|reset|restart|resume|retry|rerun|revert|roll back|run|save|schedule|send|share|skip|split|start|stop|submit|switch|sync|try|update|upload|use|write'
const offering = new RegExp(`^(?!.*\\bor\\b)(?:and |now |then )?(?:${deeds})(?: [a-z0-9'’-]+){0,5}\\?$`, 'u')
const offeringInChinese =
  /^(?!.*(?:什么|哪|怎|几|多少|谁|还是|为何|还有|别的|其他|问题|清楚|明白|满意|帮助)).{0,8}要.{1,10}吗[?？]$/u

/** Whether the last sentence of an assistant's message asks for a yes. */
export function asksForAssent(text: string): boolean {
  const sentences = text.trim().split(/(?<=[.!。！\n])\s*/u)
  const last = (sentences.findLast((sentence) => sentence.trim().length > 0) ?? '')
    .toLowerCase()
    .replace(/["'”’)）\s]+$/u, '')
    .trim()
  if (!/[?？]$/u.test(last)) return false
  return asking.test(last) || offering.test(last) || offeringInChinese.test(last)
}
