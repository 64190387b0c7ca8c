import { builtIn } from '@wheelhouse/server/domains/protocols/built-in'
import {
  asksForAssent,
  isBareAssent,
  isWeakContinuation,
} from '@wheelhouse/server/domains/routing/continuation/rules'
import { demandsExecution } from '@wheelhouse/server/domains/routing/demands/rules'
import { startRuleHits } from '@wheelhouse/server/domains/routing/start-rules/rules'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

describe('A message that only asks to go on', () => {
  test.each([
    'retry',
    'try again!',
    'go on',
    'continue please',
    'ok, go ahead.',
    'Please continue',
    'once more',
    'RESUME…',
    'ＲＥＴＲＹ！',
    '再次尝试',
    '继续',
    '再试一次吧',
    '好，继续。',
    '请继续',
    '接着来。',
    'continue吧',
    '继续'.repeat(12),
  ])('%s', (text) => expect(isWeakContinuation(text)).toBe(true))

  test.each([
    '',
    ' ',
    '!',
    'yes',
    'ok',
    '好',
    '谢谢',
    'please',
    '继续帮我写 README',
    'try again with last year',
    'go on holiday',
    'continued',
    'again and again it fails',
    'go on, tell me about yourself',
    '继续'.repeat(13),
    '再试一次按季度拆分',
    'next quarter',
    'retry retry retry retry retry',
  ])('%s is none', (text) => expect(isWeakContinuation(text)).toBe(false))

  test('is found whatever surrounds it, and never beyond 24 code points', () => {
    const noise = fc.constantFrom('', ' ', '!', '…', '。', '  ', '？')
    fc.assert(
      fc.property(
        fc.constantFrom('retry', '继续', 'go on', '再试一次'),
        noise,
        noise,
        (phrase, before, after) => {
          expect(isWeakContinuation(`${before}${phrase}${after}`)).toBe(true)
        },
      ),
    )
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        if (isWeakContinuation(text))
          expect([...text.normalize('NFKC').toLowerCase().trim()].length).toBeLessThanOrEqual(24)
      }),
    )
  })
})

describe('A bare yes', () => {
  test.each(['yes', 'y', 'Yes.', 'ok', 'sure, go', '好', '动手吧', '可以', '好的，开始吧'])('%s', (text) =>
    expect(isBareAssent(text)).toBe(true),
  )
  test.each([
    'thanks',
    'thank you!',
    'well',
    'and',
    'please',
    '谢谢',
    '请',
    'yes, but by quarter',
    '好的，按季度',
    'no',
    '不',
  ])('%s is none', (text) => expect(isBareAssent(text)).toBe(false))
  test.each([
    'I can merge them. Shall I go ahead?',
    'Found 412 duplicates. Merge them?',
    'Cut off before saving. Retry?',
    '需要读取考勤表的权限，是否同意？',
    '已经准备好。要我执行吗？',
    '一共 412 条重复。要合并吗？',
  ])('was asked for by: %s', (text) => expect(asksForAssent(text)).toBe(true))
  test.each([
    'Done.',
    'Anything else?',
    'Does that help?',
    'Does this answer your question?',
    '还有别的问题吗？',
    '这样清楚了吗？',
    'Which quarter do you mean?',
    'By region or by store?',
    'What else?',
    'Shall I? No, it is done.',
    '你要哪个季度？',
    '按地区还是按门店？',
    '',
  ])('was not asked for by: %s', (text) => expect(asksForAssent(text)).toBe(false))
})

describe('An order to execute', () => {
  test.each([
    'do it',
    'no, go and do it',
    'Just do it!',
    'No, run it now',
    'execute it please',
    '不对,你去执行',
    '直接执行',
    '去做吧',
    '别光说，去跑',
  ])('%s', (text) => expect(demandsExecution(text)).toBe(true))
  test.each(['do it by quarter', 'how would you do it', '执行什么', 'run', 'no', '去北京', '你去哪'])(
    '%s is none',
    (text) => expect(demandsExecution(text)).toBe(false),
  )
})

describe('A start rule', () => {
  const rule = builtIn[1]?.startRules[0]
  const hits = (text: string) => rule !== undefined && startRuleHits(rule, text)
  test.each([
    'Analyze sales figures by region',
    'Compare revenue with last year',
    'How did orders develop compared with last month',
    '分析各地区销售额变化',
    '统计订单量',
    '订单按月的变化',
    'Plot the churn',
  ])('%s starts an analysis', (text) => expect(hits(text)).toBe(true))
  test.each([
    'Explain how to query a database in Go',
    'explore usage of useEffect in React',
    'compare these two tables and chairs',
    'Write a blog post on how startups measure churn',
    'Fix the bug in the retention calculate function',
    '看看这个收入证明怎么写',
    '帮我查一下报表系统的登录地址',
    '写一篇关于成本分析的作文',
    'translate this paragraph about revenue by region',
    'rename the csv files by month',
    'email the customers by region',
    'sales',
    'Need a sales pitch',
    'count the files in this folder',
    'order a taxi',
    'orders',
    '销售',
    '写一个 README',
    'analyse this poem',
    'compare these two essays',
    'an uncompared revenue',
    'Write a report',
  ])('%s starts none', (text) => expect(hits(text)).toBe(false))
  test('of a project’s own is data: each list of an alternative must be hit', () => {
    const own = {
      id: 'DEPLOY',
      anyOf: [
        {
          all: [
            ['deploy*', '部署'],
            ['staging', '预发'],
          ],
        },
      ],
    }
    expect(startRuleHits(own, 'Deploying to staging')).toBe(true)
    expect(startRuleHits(own, '部署到预发环境')).toBe(true)
    expect(startRuleHits(own, 'redeploy to staging')).toBe(false)
    expect(startRuleHits(own, 'deploy to production')).toBe(false)
    expect(startRuleHits({ id: 'X', anyOf: [] }, 'anything')).toBe(false)
    expect(startRuleHits({ id: 'X', anyOf: [{ all: [] }] }, 'anything')).toBe(false)
    expect(startRuleHits({ id: 'X', anyOf: [{ all: [[]] }] }, 'anything')).toBe(false)
    expect(startRuleHits({ id: 'X', anyOf: [{ all: [['a+b(c']] }] }, 'what is a+b(c ?')).toBe(true)
  })
})
