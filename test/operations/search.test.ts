import { sessionsWith } from '@wheelhouse/server/domains/access/rules'
import {
  type Hit,
  type HitKey,
  searchTranscripts,
} from '@wheelhouse/server/domains/sessions/search/operations'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Story, startStory } from '../kit/agent.ts'
import { statements } from '../kit/statements.ts'

let given: Story
beforeAll(async () => {
  given = await startStory()
})
afterAll(() => given.close())

const search = (text: string, options: { projectId?: string; visible?: 'all' | string[] } = {}) =>
  searchTranscripts(given.db, options.projectId ?? given.projectId, options.visible ?? 'all', text, {
    first: 100,
    after: null,
  })
const texts = async (...args: Parameters<typeof search>) => (await search(...args)).map((hit) => hit.text)
const message = async (text: string, projectId?: string) => {
  const session = await given.session(undefined, projectId)
  await given.offered(session, text)
  return session
}

describe('the search in transcripts', () => {
  test('finds turns and answers that hold all the words, the last one begun', async () => {
    const session = await given.session()
    await given.completes(
      await given.running(session, 'Which region sold best?'),
      'Outdoor sold best, in Bavaria.',
    )
    expect(await texts('sold best')).toEqual(
      expect.arrayContaining(['Which region sold best?', 'Outdoor sold best, in Bavaria.']),
    )
    expect(await texts('SOLD bav')).toEqual(['Outdoor sold best, in Bavaria.'])
    expect(await texts('sol best')).toEqual([])
    expect(await texts('region bavaria')).toEqual([])
  })

  test('finds Chinese words', async () => {
    await message('请分析各地区销售额变化')
    expect(await texts('销售额')).toEqual(['请分析各地区销售额变化'])
    expect(await texts('地区 分析')).toEqual(['请分析各地区销售额变化'])
    expect(await texts('天气')).toEqual([])
  })

  test('finds what has marks in it, and takes no mark for an operator', async () => {
    await message("It can't read snake_case_names at https://example.com/a|b & c:*")
    for (const text of [
      "can't",
      'snake_case',
      'snake_case_names',
      'example.com',
      '& c:*',
      "'c'",
      '!!c | \\',
    ]) {
      expect(await texts(text), text).toHaveLength(1)
    }
  })

  test('takes an answer of any length, in time that grows with it, and finds the beginning', async () => {
    const { projectId } = await given.project('Lengths')
    const words = Array.from({ length: 160_000 }, (_, n) => (n + 1_000_000).toString(36)).join(' ')
    const session = await given.session(undefined, projectId)
    const run = await given.running(session)
    for (let at = 0; at < words.length; at += 200_000)
      await given.says(run, [{ type: 'ANSWER_DELTA', payload: { text: words.slice(at, at + 200_000) } }])
    await given.completes(run, words)
    expect(await texts((1_000_000 + 30_000).toString(36), { projectId })).toEqual([words])
  })

  test('ranks what holds the words more often first, and pages without a gap', async () => {
    const { projectId } = await given.project('Ranks')
    for (let number = 1; number <= 9; number += 1) {
      given.clock.advance(1)
      await message(`${'lantern '.repeat(1 + (number % 3))}number ${number}`, projectId)
    }
    const all = await search('lantern', { projectId })
    const times = (hit: Hit) => hit.text.split('lantern').length - 1
    expect(all.map(times)).toEqual([3, 3, 3, 2, 2, 2, 1, 1, 1])
    const seen: Hit[] = []
    for (let after: HitKey | null = null; ; ) {
      const page: Hit[] = await searchTranscripts(given.db, projectId, 'all', 'lantern', { first: 2, after })
      seen.push(...page.slice(0, 2))
      const last = seen.at(-1) as Hit
      after = [last.rank, last.at.toISOString(), last.id]
      if (page.length <= 2) break
    }
    expect(seen.map((hit) => hit.id)).toEqual(all.map((hit) => hit.id))
  })

  test('shows the words in their place', async () => {
    const { projectId } = await given.project('Places')
    await message(`${'Much before it. '.repeat(40)}A zephyr came. ${'Much after it. '.repeat(40)}`, projectId)
    const [hit] = (await search('zephyr', { projectId })) as [Hit]
    expect(hit.snippet).toContain('A zephyr came.')
    expect(hit.highlights.map(({ start, end }) => hit.snippet.slice(start, end))).toEqual(['zephyr'])
  })

  test('keeps to the project and to the sessions that a caller sees', async () => {
    const { projectId } = await given.project('Sight')
    const seen = await message('A quokka here', projectId)
    await message('A quokka there', projectId)
    const viewer = await given.member(['session.read'], { projectId, sessionId: seen.id })
    const visible = sessionsWith(viewer, 'session.read', projectId)
    expect(await texts('quokka', { projectId, visible })).toEqual(['A quokka here'])
    expect(await texts('quokka')).toEqual([])
  })

  test('takes one statement, however many messages there are', async () => {
    expect(await statements(() => search('lantern'))).toBe(1)
  })

  test('refuses what holds no word', async () => {
    await expect(search('?!')).rejects.toEqual(expect.objectContaining({ code: 'INVALID_INPUT' }))
  })
})
