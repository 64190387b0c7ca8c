import { describe, expect, test } from 'vitest'
import { changeOf } from '../../console/src/domains/intents/revision-change.ts'

const task = {
  taskId: 't1',
  text: 'Compare sales by region',
  protocol: 'data-analysis@1',
  requirements: [{ id: 'q1', text: 'Name the region.' }],
}
const spelled = (text: string | undefined, change: string) =>
  changeOf(task, { ...task, text: text ?? task.text })
    .words?.filter((part) => part.change === change)
    .map((part) => part.text.trim())

describe('what a revision changed', () => {
  test('is nothing where it says the same', () => {
    expect(changeOf(task, task)).toEqual({
      newTask: false,
      words: null,
      protocol: null,
      added: [],
      removed: [],
    })
  })

  test('is said by the word, and together the parts are both texts', () => {
    expect(spelled('Compare sales by category', 'removed')).toEqual(['region'])
    expect(spelled('Compare sales by category', 'added')).toEqual(['category'])
    const { words } = changeOf(task, { ...task, text: 'Compare all sales by region, please' })
    const side = (without: string) =>
      words
        ?.filter(({ change }) => change !== without)
        .map(({ text }) => text)
        .join('')
    expect(side('removed')).toBe('Compare all sales by region, please')
    expect(side('added')).toBe(task.text)
  })

  test('is said by the word in Chinese too, which has no spaces', () => {
    const before = { ...task, text: '比较各地区的销售额' }
    const { words } = changeOf(before, { ...before, text: '比较各类别的销售额' })
    const kept = words?.filter(({ change }) => change === 'kept').map(({ text }) => text)
    expect(kept).toEqual(['比较', '销售额'])
  })

  test('of requirements goes by their identity, not by their place or their words', () => {
    const again = { id: 'q2', text: 'Name the region.' }
    expect(changeOf(task, { ...task, requirements: [again] })).toMatchObject({
      added: [again],
      removed: task.requirements,
    })
    const two = { ...task, requirements: [...task.requirements, again] }
    expect(changeOf(two, { ...two, requirements: [again, ...task.requirements] })).toMatchObject({
      added: [],
      removed: [],
    })
  })

  test('is another protocol, and another task', () => {
    expect(changeOf(task, { ...task, protocol: 'general-task@1' }).protocol).toEqual({
      from: 'data-analysis@1',
      to: 'general-task@1',
    })
    expect(changeOf(task, { ...task, taskId: 't2' }).newTask).toBe(true)
  })
})
