import {
  judge,
  type Metric,
  overall,
  panelsOf,
  readinessOf,
  type Sample,
  statusOf,
  sweeperStallsAfterMs,
  type Vitals,
} from '@wheelhouse/server/domains/health/rules'
import { describe, expect, test } from 'vitest'

const at = new Date('2026-03-01T12:00:00.000Z')
const vitals: Vitals = {
  database: 'wheelhouse',
  serverVersion: '18.4',
  address: null,
  sizeBytes: 8_000_000,
  journalBytes: 100_000,
  connections: 12,
  maxConnections: 100,
  pool: { idle: 10, active: 2 },
  appended: 1_000,
  oldestWriteSeconds: 0,
  liveRuns: { RUNNING: 2 },
  runtimesConnected: 1,
  runtimesDisconnected: 0,
  runtimesAway: 0,
  approvalsOpen: 0,
  oldestApprovalAt: null,
  approvalsOverdue: 0,
  inboxOpen: 0,
  outboxQueued: 0,
  outboxDead: 0,
}
const sample: Sample = {
  at,
  vitals,
  latencyMs: 1,
  appendRate: 3,
  lag: 0,
  watchers: { sessions: 2, projects: 1 },
  deliveries: 10,
  overflows: 0,
  newOverflows: 0,
  sweeper: { ageSeconds: 1, failures: 0, lastFailure: null },
  probe: { at, ms: 12 },
  memoryBytes: 100_000_000,
  databaseNotice: 'embedded PostgreSQL 18',
}
const statuses = (change: Partial<Sample>) =>
  Object.fromEntries(panelsOf({ ...sample, ...change }).map((panel) => [panel.key, panel.status]))

describe('a measure', () => {
  const metric = (value: number | null): Metric => ({
    key: 'm',
    unit: 'ms',
    value,
    warnAbove: 10,
    failAbove: 20,
  })
  test('is judged by what it is above', () => {
    expect([0, 10, 10.1, 20, 20.1].map((value) => statusOf(metric(value)))).toEqual([
      'OK',
      'OK',
      'WARN',
      'WARN',
      'FAILING',
    ])
  })
  test('that was not taken says nothing, and one without thresholds is well', () => {
    expect(statusOf(metric(null))).toBe('OK')
    expect(statusOf({ key: 'm', unit: 'count', value: 1e9 })).toBe('OK')
  })
  test('makes its panel, and its panel the whole, as bad as itself', () => {
    const panel = (value: number) =>
      judge({ key: 'p', summary: '', checkedAt: at, metrics: [metric(0), metric(value)] })
    expect([panel(0).status, panel(11).status, panel(21).status]).toEqual(['OK', 'WARN', 'FAILING'])
    expect(overall([panel(0), panel(11)])).toBe('WARN')
    expect(overall([])).toBe('OK')
  })
})

describe('the panels', () => {
  test('of a server that is well are all well', () => {
    expect(new Set(Object.values(statuses({})))).toEqual(new Set(['OK']))
  })
  test('case 42: name the database that is used, and where it is', () => {
    const database = (change: Partial<Sample>) =>
      panelsOf({ ...sample, ...change }).find(({ key }) => key === 'database')
    expect(database({})?.summary).toBe(
      'embedded PostgreSQL 18. “wheelhouse” on PostgreSQL 18.4, over a socket of this machine.',
    )
    const remote = { vitals: { ...vitals, address: '10.0.0.7:5432' }, databaseNotice: null }
    expect(database(remote)?.summary).toBe('“wheelhouse” on PostgreSQL 18.4, at 10.0.0.7:5432.')
  })
  test('say FAILING when the database does not answer, and leave out what only it knows', () => {
    const away = statuses({ vitals: null, latencyMs: null, probe: { at, ms: null } })
    expect(away).toMatchObject({ database: 'FAILING', probe: 'FAILING', sweeper: 'OK' })
    expect(away).not.toHaveProperty('approvals')
  })
  const troubles: [string, string, Partial<Sample>][] = [
    ['journal', 'a tail that is far behind', { lag: 1_001 }],
    ['journal', 'a write that holds the feeds back', { vitals: { ...vitals, oldestWriteSeconds: 11 } }],
    ['watchers', 'a watch that was too slow just now', { newOverflows: 1 }],
    ['sweeper', 'a chore that fails', { sweeper: { ageSeconds: 1, failures: 1, lastFailure: 'runs' } }],
    ['runtimes', 'a runtime that went silent with runs alive', { vitals: { ...vitals, runtimesAway: 1 } }],
    ['approvals', 'an ask past its deadline', { vitals: { ...vitals, approvalsOverdue: 1 } }],
    ['outbox', 'a message that is dead', { vitals: { ...vitals, outboxDead: 1 } }],
    ['database', 'connections that run out', { vitals: { ...vitals, connections: 81 } }],
    ['probe', 'a slow probe', { probe: { at, ms: 300 } }],
  ]
  for (const [panel, what, change] of troubles) {
    test(`warn of ${what}`, () => {
      expect(statuses(change)).toEqual({ ...statuses({}), [panel]: 'WARN' })
    })
  }
})

describe('a server is ready', () => {
  const facts = { reachable: true, pending: 0, sinceSweepMs: 0, stopping: false }
  test('when its database answers at this version, its sweeper lives, and it is not stopping', () => {
    expect(readinessOf(facts).ready).toBe(true)
  })
  const reasons: [Partial<typeof facts> & { pending?: number | null }, object][] = [
    [
      { reachable: false, pending: null as never },
      { database: 'unreachable', migrations: 'unknown' },
    ],
    [{ pending: 1 }, { migrations: 'pending' }],
    [{ sinceSweepMs: sweeperStallsAfterMs + 1 }, { sweeper: 'stalled' }],
    [{ stopping: true }, { process: 'stopping' }],
  ]
  for (const [change, checks] of reasons) {
    test(`but not with ${JSON.stringify(checks)}`, () => {
      expect(readinessOf({ ...facts, ...change })).toMatchObject({ ready: false, checks })
    })
  }
})
