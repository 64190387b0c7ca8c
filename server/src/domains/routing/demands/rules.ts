import { plain } from '../continuation/rules.ts'

/*
 * "Don't talk, do it": an order to execute, or the correction of a reply that only talked. As the whole message; with
 * anything else in it, it says what to do, and is judged as such.
 */

const no =
  '(?:no|nope|wrong|not that|thats not it|stop talking|dont just (?:talk|tell me|describe it|explain)|i said)'
const order =
  '(?:(?:go and|go|just|please|actually|really|now|then|you|instead) )*(?:do it|do that|do the work|run it|run that|run this|execute it|execute that|execute this|execute|get it done|start it|carry it out)(?: (?:now|please|yourself|for me|then|already|for real))*'
const english = new RegExp(`^(?:${no} )*${order}$`, 'u')

const noInChinese = '(?:不对|不是|不|别光说|别只说|不要只说|光说没用|我是说|我说)'
const firstInChinese = '(?:你|请|就|直接|马上|立刻|现在|真的|真正|给我|快|帮我)'
const doInChinese = '(?:去执行|去做|去跑|去干|去处理|去运行|执行|动手做|运行|开始执行|开始做|开始跑)'
const chinese = new RegExp(
  `^(?:${noInChinese} ?)*(?:${firstInChinese} ?)*${doInChinese}(?:一下|吧|呀|啊|啦)*$`,
  'u',
)

/** Whether a message orders to execute what was talked about. */
export function demandsExecution(text: string): boolean {
  const words = plain(text)
  return words.length <= 60 && (english.test(words) || chinese.test(words))
}

const work =
  /\b(?:analy[sz]e|build|calculate|change|check|clean|compare|compute|convert|create|delete|deploy|draw|export|extract|find|fix|generate|import|install|list|load|make|merge|migrate|plot|prepare|refactor|rename|run|schedule|send|split|summari[sz]e|test|translate|update|write)\b|分析|统计|计算|对比|比较|汇总|生成|写|改|修|查|跑|建|创建|删除|部署|导出|导入|整理|翻译|画|清理|检查|更新|发送|测试|处理|提取|转换|合并|预测|核算/u

/** Whether a message asks for something that can be done: only such a one can be ordered afterwards. */
export const isTaskLike = (text: string): boolean =>
  [...text.trim()].length >= 4 &&
  !/^\s*(?:what|who|when|why|how are)\b/i.test(text) &&
  work.test(text.toLowerCase())
