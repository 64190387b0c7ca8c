import { capabilities } from '@wheelhouse/server/domains/access/rules'
import { expect, test } from 'vitest'
import { chinese, inWords } from '../../console/src/domains/access/capability-words.ts'

test('every capability of the server, and no other, is explained in Chinese', () => {
  expect(Object.keys(chinese).sort()).toEqual(Object.keys(capabilities).sort())
  for (const words of Object.values(chinese)) expect(words).toMatch(/^\p{Script=Han}/u)
})

test('a capability is explained in the chosen language, or as the server says', () => {
  const row = { name: 'session.read', description: 'See sessions' }
  expect(inWords(row, 'en')).toEqual(row)
  expect(inWords(row, 'zh').description).toContain('会话')
  expect(inWords({ ...row, name: 'later.read' }, 'zh').description).toBe('See sessions')
})
