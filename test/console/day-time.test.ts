import { describe, expect, test } from 'vitest'
import { dayTime, morning } from '../../console/src/kit/time.ts'

const iso = (at: number) => new Date(at).toISOString()

describe('case 36: days of the inbox are those of the chosen zone', () => {
  // Sunday 1 March 2026, 20:00 UTC: Monday already in Shanghai.
  const now = Date.parse('2026-03-01T20:00Z')

  test.each([
    ['UTC', '2026-03-01T00:00:00.000Z'],
    ['Asia/Shanghai', '2026-03-01T16:00:00.000Z'],
    ['America/New_York', '2026-03-01T05:00:00.000Z'],
  ])('today begins at midnight in %s', (zone, midnight) => {
    expect(iso(dayTime(now, zone, 0, 0))).toBe(midnight)
  })

  test.each([
    ['UTC', 'tomorrow', '2026-03-02T09:00:00.000Z'],
    ['UTC', 'monday', '2026-03-02T09:00:00.000Z'],
    ['Asia/Shanghai', 'tomorrow', '2026-03-03T01:00:00.000Z'],
    ['Asia/Shanghai', 'monday', '2026-03-09T01:00:00.000Z'],
  ] as const)('%s: %s at nine', (zone, which, at) => {
    expect(iso(morning(now, zone, which))).toBe(at)
  })

  test('nine o’clock stays nine o’clock over a change of the clocks', () => {
    expect(iso(morning(Date.parse('2026-03-07T20:00Z'), 'America/New_York', 'tomorrow'))).toBe(
      '2026-03-08T13:00:00.000Z',
    )
  })
})
