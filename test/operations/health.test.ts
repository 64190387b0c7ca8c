import { HealthMonitor } from '@wheelhouse/server/domains/health/monitor'
import { probe } from '@wheelhouse/server/domains/health/operations'
import { openSessionTail, watchSession } from '@wheelhouse/server/domains/sessions/journal/operations'
import { openDatabase } from '@wheelhouse/server/platform/database'
import { createLogger } from '@wheelhouse/server/platform/logger'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Story, startStory } from '../kit/agent.ts'
import { eventually } from '../kit/eventually.ts'

let given: Story
beforeAll(async () => {
  given = await startStory()
})
afterAll(() => given.close())

const log = createLogger('silent')
const monitorOf = (platform = given.platform, lastRunAt = new Date()) =>
  new HealthMonitor(
    platform,
    {
      streams: {},
      positions: () => [],
      sweeper: { state: () => ({ lastRunAt, failures: 0, lastFailure: null }) },
      databaseNotice: 'a database of the tests',
    },
    log,
  )
/** The same, on a database that nobody can reach. */
const unreachable = () => ({
  ...given.platform,
  db: openDatabase('postgresql://nobody@127.0.0.1:9/nothing'),
})
const metric = (report: Awaited<ReturnType<HealthMonitor['report']>>, panel: string, key: string) =>
  report.panels.find((each) => each.key === panel)?.metrics.find((each) => each.key === key)?.value

describe('health', () => {
  test('measures what there is, and names the database', async () => {
    const session = await given.session()
    await given.asks(await given.running(session), 'May I?')
    given.clock.advance(5_000)
    const report = await monitorOf().report()
    expect(report.status).toBe('OK')
    expect(metric(report, 'approvals', 'open')).toBe(1)
    expect(metric(report, 'approvals', 'oldest')).toBe(5)
    expect(metric(report, 'runs', 'waiting_approval')).toBe(1)
    expect(metric(report, 'runtimes', 'connected')).toBe(1)
    expect(metric(report, 'database', 'size')).toBeGreaterThan(1_000_000)
    const database = report.panels.find(({ key }) => key === 'database')
    expect(database?.summary).toMatch(/^a database of the tests\. “test_[0-9a-f]+” on PostgreSQL \d+/)
  })

  test('case 42: probes end to end, and leaves no trace', async () => {
    const count = async () => [
      await given.db.project.count(),
      await given.db.session.count(),
      await given.db.sessionEvent.count(),
      await given.db.projectEvent.count(),
    ]
    const before = await count()
    expect(await probe(given.platform)).toBeGreaterThan(0)
    expect(await count()).toEqual(before)
  })

  test('names the cause when nothing can be written, and is well again by itself', async () => {
    await given.db.$executeRawUnsafe(`
      CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`)
    await given.db.$executeRawUnsafe(
      'CREATE TRIGGER no_room BEFORE INSERT ON projects FOR EACH ROW EXECUTE FUNCTION no_room()',
    )
    const monitor = monitorOf()
    await monitor.tick()
    const panel = async () => (await monitor.report()).panels.find(({ key }) => key === 'probe')
    expect(await panel()).toMatchObject({
      status: 'FAILING',
      summary: expect.stringContaining('disk is full'),
    })
    await given.db.$executeRawUnsafe('DROP TRIGGER no_room ON projects')
    await monitor.tick()
    expect(await panel()).toMatchObject({ status: 'OK' })
  })

  test('keeps a trend of what it measured', async () => {
    const monitor = monitorOf()
    await monitor.tick()
    await monitor.tick()
    const { trends } = await monitor.report()
    expect(trends.get('approvals.open')).toHaveLength(1)
  })

  test('tells whoever watches, at once and when the status changes', async () => {
    let failures = 0
    const monitor = new HealthMonitor(
      given.platform,
      {
        streams: {},
        positions: () => [],
        sweeper: { state: () => ({ lastRunAt: new Date(), failures, lastFailure: null }) },
        databaseNotice: null,
      },
      log,
    )
    const watch = monitor.watch()
    // A machine that is busy may be warned of; that the sweeper fails again and again is more than that.
    expect((await watch.next()).value?.status).not.toBe('FAILING')
    failures = 21
    await monitor.tick()
    expect((await watch.next()).value?.status).toBe('FAILING')
    monitor.close()
    expect(await watch.next()).toEqual({ done: true, value: undefined })
  })

  test('counts how far a tail is behind', async () => {
    const tail = openSessionTail(given.platform, log)
    const session = await given.session()
    const watch = await watchSession(given.platform, tail, session, { filter: {} })
    await tail.close()
    const monitor = new HealthMonitor(
      given.platform,
      {
        streams: { sessions: tail },
        positions: () => [{ key: `${session.projectId}/${session.id}`, cursor: 1 }],
        sweeper: { state: () => ({ lastRunAt: new Date(), failures: 0, lastFailure: null }) },
        databaseNotice: null,
      },
      log,
    )
    await given.offered(session)
    const { lastSequence } = await given.db.session.findFirstOrThrow({ where: { id: session.id } })
    expect(metric(await monitor.report(), 'journal', 'lag')).toBe(lastSequence - 1)
    watch.leave()
  })

  test('says that the database does not answer, and answers itself', async () => {
    const platform = unreachable()
    const report = await monitorOf(platform).report()
    expect(report.status).toBe('FAILING')
    expect(report.panels.find(({ key }) => key === 'database')?.summary).toContain('does not answer')
    await platform.db.$disconnect()
  })
})

describe('readiness', () => {
  test('is given when the database is reachable at this version and the sweeper lives', async () => {
    expect(await monitorOf().readiness()).toEqual({
      ready: true,
      checks: { database: 'reachable', migrations: 'current', sweeper: 'alive', process: 'serving' },
    })
  })

  test('is not, without the database, with a stalled sweeper, or while stopping', async () => {
    const platform = unreachable()
    expect((await monitorOf(platform).readiness()).checks).toMatchObject({ database: 'unreachable' })
    await platform.db.$disconnect()
    const stalled = monitorOf(given.platform, new Date(Date.now() - 31_000))
    expect((await stalled.readiness()).checks).toMatchObject({ sweeper: 'stalled' })
    const stopping = monitorOf()
    stopping.close()
    expect(await stopping.readiness()).toMatchObject({ ready: false, checks: { process: 'stopping' } })
  })

  test('is not, when a migration is missing', async () => {
    await given.db.$executeRaw`UPDATE _prisma_migrations SET rolled_back_at = now()`
    expect((await monitorOf().readiness()).checks).toMatchObject({ migrations: 'pending' })
    await given.db.$executeRaw`UPDATE _prisma_migrations SET rolled_back_at = NULL`
    await eventually(async () => (await monitorOf().readiness()).ready)
  })
})
