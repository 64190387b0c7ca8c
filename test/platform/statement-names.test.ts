import { statementNames } from '@wheelhouse/server/platform/database'
import { expect, test } from 'vitest'

test('a statement that comes again and again is named, always the same, and no other has that name', () => {
  const nameOf = statementNames()
  const ask = (sql: string) => nameOf({ sql, args: [1] })
  expect([ask('A'), ask('A')]).toEqual(['', ''])
  const name = ask('A')
  expect(name).not.toBe('')
  for (let n = 0; n < 3; n += 1) ask('B')
  expect(ask('A')).toBe(name)
  expect(ask('B')).not.toBe(name)
})

test('a statement without arguments stays one message', () => {
  const nameOf = statementNames()
  for (let n = 0; n < 10; n += 1) expect(nameOf({ sql: 'BEGIN', args: [] })).toBe('')
})

test('however many texts there are, the names are bounded, and those that have one keep it', () => {
  const nameOf = statementNames()
  const names = new Set<string>()
  for (let text = 0; text < 2_000; text += 1)
    for (let n = 0; n < 4; n += 1) names.add(nameOf({ sql: `SELECT ${text}`, args: [1] }))
  expect(names.size).toBe(301)
  expect(nameOf({ sql: 'SELECT 0', args: [1] })).not.toBe('')
  expect(nameOf({ sql: 'SELECT 1999', args: [1] })).toBe('')
})
