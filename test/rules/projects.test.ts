import {
  changeLimits,
  defaultLimits,
  limitNames,
  limits,
  maxSlugLength,
  slugCandidates,
  slugOf,
  slugPattern,
} from '@wheelhouse/server/domains/projects/rules'
import { Refusal } from '@wheelhouse/server/platform/refusal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

describe('a slug from a name', () => {
  test.each([
    ['Pricing study', 'pricing-study'],
    ['  Q3 — Übersicht & Größe! ', 'q3-ubersicht-gro-e'],
    ['Ａｌｐｈａ ２', 'alpha-2'],
    ['数据 lab 7', 'lab-7'],
    ['a'.repeat(80), 'a'.repeat(64)],
    [`${'a'.repeat(63)} b`, 'a'.repeat(63)],
    ['定价研究', ''],
    ['— !', ''],
  ])('%j suggests %j', (name, slug) => {
    expect(slugOf(name)).toBe(slug)
  })

  test('without Latin letters or digits is made from the project itself', () => {
    expect(slugCandidates('定价研究', '0a1b2c3d')).toEqual(['project-0a1b2c3d'])
  })

  test('has numbered ones behind it, and last one that nobody else has', () => {
    const candidates = slugCandidates('Pricing study', '0a1b2c3d')
    expect(candidates[0]).toBe('pricing-study')
    expect(candidates[1]).toBe('pricing-study-2')
    expect(candidates.at(-1)).toBe('pricing-study-0a1b2c3d')
  })

  test('is always one that the database takes, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 150 }), (name) => {
        for (const slug of slugCandidates(name, '0a1b2c3d')) {
          expect(slug).toMatch(slugPattern)
          expect(slug.length).toBeLessThanOrEqual(maxSlugLength)
        }
      }),
    )
  })
})

describe('limits', () => {
  test('begin as the specification says', () => {
    expect(defaultLimits).toEqual({
      maxConcurrentRuns: 4,
      maxLiveRunsPerSession: 1,
      maxOpenSessions: 1_000,
      eventRetentionDays: 90,
      maxEventBytes: 262_144,
      runTimeoutMs: 3_600_000,
      offerTimeoutMs: 30_000,
      runtimeGraceMs: 60_000,
      approvalTtlMs: 86_400_000,
    })
  })

  test.each(limitNames)('%s takes both ends of its range and nothing beyond', (name) => {
    const { min, max } = limits[name]
    for (const value of [min, max]) {
      expect(changeLimits({ ...defaultLimits, [name]: min + 1 }, { [name]: value })).toMatchObject({
        limits: { [name]: value },
        changed: { [name]: { from: min + 1, to: value } },
      })
    }
    for (const value of [min - 1, max + 1, min + 0.5, Number.NaN]) {
      const refusal = changeLimits(defaultLimits, { [name]: value })
      expect(refusal).toBeInstanceOf(Refusal)
      expect((refusal as Refusal).detail.issues?.[0]?.path).toEqual(['limits', name])
    }
  })

  test('fit into a GraphQL Int', () => {
    for (const name of limitNames) expect(limits[name].max).toBeLessThan(2 ** 31)
  })

  test('that are not named stay, and those that are the same are not a change', () => {
    expect(changeLimits(defaultLimits, { maxConcurrentRuns: 4, maxOpenSessions: undefined })).toEqual({
      limits: defaultLimits,
      changed: {},
    })
  })
})
