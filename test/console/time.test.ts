import { describe, expect, test } from 'vitest'
import {
  absoluteTime,
  clockTime,
  exactDuration,
  isoOfLocal,
  relativeTime,
  shortDuration,
  utcTime,
} from '../../console/src/kit/time.ts'

const moment = Date.UTC(2026, 2, 2, 1, 14, 2)

describe('times in words', () => {
  test('case 36: the same moment reads in the chosen zone, and in UTC beside it', () => {
    expect(absoluteTime(moment, 'Asia/Shanghai')).toBe('2026-03-02 09:14:02')
    expect(absoluteTime(moment, 'America/New_York')).toBe('2026-03-01 20:14:02')
    expect(clockTime(moment, 'Asia/Kolkata')).toBe('06:44:02')
    expect(utcTime(moment)).toBe('2026-03-02 01:14:02 UTC')
  })

  test('case 35: midnight is 00, never 24', () => {
    expect(absoluteTime(Date.UTC(2026, 2, 1, 16), 'Asia/Shanghai')).toBe('2026-03-02 00:00:00')
  })

  test.each([
    [0, 'just now', '刚刚'],
    [4_999, 'just now', '刚刚'],
    [5_000, '5 s ago', '5 秒前'],
    [59_999, '59 s ago', '59 秒前'],
    [60_000, '1 m ago', '1 分前'],
    [3_600_000, '1 h ago', '1 小时前'],
    [-7_200_000, 'in 2 h', '2 小时后'],
    [86_400_000 * 40, '1 mo ago', '1 个月前'],
  ])('%i ms ago is "%s" and "%s"', (distance, en, zh) => {
    expect(relativeTime(moment, moment + distance, 'en')).toBe(en)
    expect(relativeTime(moment, moment + distance, 'zh')).toBe(zh)
  })

  test('a countdown has two units, and is never negative', () => {
    expect(exactDuration(124_000, 'en')).toBe('2 m 04 s')
    expect(exactDuration(4_320_000, 'zh')).toBe('1 小时 12 分')
    expect(exactDuration(-1, 'en')).toBe('0 s')
    expect(shortDuration(999, 'en')).toBe('0 s')
  })
})

describe('a date field read in the chosen zone', () => {
  test.each([
    ['2026-03-02T09:14', 'Asia/Shanghai', '2026-03-02T01:14:00.000Z'],
    ['2026-07-01T00:00', 'America/New_York', '2026-07-01T04:00:00.000Z'],
    ['2026-01-01T00:00', 'America/New_York', '2026-01-01T05:00:00.000Z'],
    ['2026-03-29T03:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    ['2026-10-25T04:00', 'Europe/Berlin', '2026-10-25T03:00:00.000Z'],
  ])('%s in %s is %s', (local, zone, iso) => {
    expect(isoOfLocal(local, zone)).toBe(iso)
  })

  test('an unfinished date is no date', () => {
    expect(isoOfLocal('', 'UTC')).toBeUndefined()
    expect(isoOfLocal('2026-13-01T00:00', 'UTC')).toBeUndefined()
  })
})
