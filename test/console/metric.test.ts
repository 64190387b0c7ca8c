import { describe, expect, test } from 'vitest'
import { formatMetric, readableKey } from '../../console/src/domains/health/format.ts'

const spaced = (value: number, unit: string) => formatMetric(value, unit).replaceAll('\u00a0', ' ')

describe('a measured value for reading', () => {
  test.each([
    [0, 'bytes', '0 B'],
    [1_023, 'bytes', '1023 B'],
    [1_024, 'bytes', '1.0 KiB'],
    [9_542_041, 'bytes', '9.1 MiB'],
    [74.123, 'ms', '74.1 ms'],
    [0.8, 'ms', '0.8 ms'],
    [9_999, 'ms', '9 999 ms'],
    [10_000, 'ms', '10 s'],
    [0.4, 'per_second', '0.4 /s'],
    [1_000, 'count', '1 000'],
    [0.123, 'ratio', '12.3 %'],
  ])('%d %s reads "%s"', (value, unit, text) => {
    expect(spaced(value, unit)).toBe(text)
  })

  test('number and unit stay on one line', () => {
    expect(formatMetric(50, 'ms')).not.toContain(' ')
  })

  test('a key without words of its own is made readable', () => {
    expect(readableKey('away_with_runs')).toBe('Away with runs')
    expect(readableKey('oldestWrite')).toBe('Oldest write')
  })
})
