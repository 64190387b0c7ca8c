import { grantAccess } from '@wheelhouse/server/domains/access/principals/operations'
import { OpenCounts } from '@wheelhouse/server/domains/delivery/open-counts'
import {
  countInbox,
  type InboxQuery,
  type InboxRow,
  listInbox,
  loadInboxItems,
  updateInboxItem,
} from '@wheelhouse/server/domains/delivery/operations'
import { sightOf } from '@wheelhouse/server/domains/delivery/rules'
import { listWaits } from '@wheelhouse/server/domains/delivery/waits/operations'
import { expireApproval, resolveApproval } from '@wheelhouse/server/domains/runs/approvals/operations'
import { sweepRuns } from '@wheelhouse/server/domains/runs/sweep'
import { encodeId, type Ref } from '@wheelhouse/server/platform/ids'
import { createLogger } from '@wheelhouse/server/platform/logger'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Story, startStory } from '../kit/agent.ts'
import { callOf } from '../kit/platform.ts'
import { statements } from '../kit/statements.ts'

let given: Story
beforeAll(async () => {
  given = await startStory()
})
afterAll(() => given.close())

const refusal = (code: string) => expect.objectContaining({ code })
const everything: InboxQuery = { sight: 'all', kinds: null, states: null }
const inbox = (
  query: Partial<InboxQuery> = {},
  page = { first: 100, after: null as [string, string] | null },
) => listInbox(given.platform, { ...everything, ...query }, page)
const of = (projectId: string): Partial<InboxQuery> => ({ sight: { projects: [projectId], sessions: [] } })
const keyOf = (item: InboxRow): [string, string] => [item.since.toISOString(), item.id]
const openCount = async (projectId: string) =>
  (await given.db.projectLoad.findUniqueOrThrow({ where: { projectId } })).inboxOpen
const update = (
  item: Ref,
  input: Omit<Parameters<typeof updateInboxItem>[2], 'itemId'>,
  viewer = given.owner,
) =>
  updateInboxItem(given.platform, callOf(viewer), {
    itemId: { projectId: item.projectId, id: item.id },
    ...input,
  })
const again = async (item: InboxRow) => (await loadInboxItems(given.db, [item]))[0] as InboxRow

/** A project of its own with one failed run in its inbox. */
async function oneFailure() {
  const { projectId } = await given.project('Failures')
  const session = await given.session('Prices', projectId)
  const run = await given.running(session)
  await given.fails(run)
  const [item] = await inbox(of(projectId))
  return { projectId, session, item: item as InboxRow }
}
/** A project of its own with one open ask in its inbox. */
async function oneAsk() {
  const { projectId } = await given.project('Asks')
  const session = await given.session('Prices', projectId)
  const run = await given.running(session)
  const approval = await given.asks(run, 'Write the file?')
  const [item] = await inbox(of(projectId))
  return { projectId, session, run, approval, item: item as InboxRow }
}

describe('the inbox', () => {
  test('case 22: shows every open ask with its deadline and default, and every failed run', async () => {
    const { item } = await oneAsk()
    expect(item).toMatchObject({
      kind: 'TOOL_APPROVAL',
      state: 'OPEN',
      title: 'Write the file?',
      why: 'Prices',
      defaultDecision: 'deny',
      deadlineAt: new Date(given.clock.now().getTime() + 86_400_000),
    })
    const failure = await oneFailure()
    expect(failure.item).toMatchObject({
      kind: 'RUN_FAILED',
      title: 'Prices',
      why: 'It broke.',
      approvalId: null,
    })
  })

  test('case 20: an ask that nobody answers is settled by its default at its deadline', async () => {
    const { projectId } = await given.project('Deadlines')
    const run = await given.running(await given.session('Prices', projectId))
    const expiresAt = new Date(given.clock.now().getTime() + 1_000)
    const approval = await given.asks(run, 'Now?', { expiresAt })
    expect(await openCount(projectId)).toBe(1)
    given.clock.advance(1_000)
    expect(await expireApproval(given.platform, approval)).toBe(true)
    expect(await openCount(projectId)).toBe(0)
    expect(await inbox(of(projectId))).toEqual([])
    expect(await inbox({ ...of(projectId), states: ['HANDLED'] })).toMatchObject([
      { state: 'HANDLED', handledBy: null, handledAt: given.clock.now() },
    ])
  })

  test('an answer settles its own item only', async () => {
    const { projectId, run, approval } = await oneAsk()
    await given.asks(run, 'And then?')
    await resolveApproval(given.platform, callOf(given.owner), { approvalId: approval, decision: 'allow' })
    expect(await openCount(projectId)).toBe(1)
    expect((await inbox(of(projectId))).map((item) => item.title)).toEqual(['And then?'])
  })

  test('pages by since and id, newest first, nothing twice and nothing missing', async () => {
    const projects = [await given.project('Pages 1'), await given.project('Pages 2')]
    const ids = projects.map((project) => project.projectId)
    const expected: string[] = []
    for (let number = 0; number < 14; number += 1) {
      const session = await given.session(`Session ${number}`, ids[number % 2])
      if (number % 3 === 0) given.clock.advance(1)
      await given.fails(await given.running(session))
      expected.push(`Session ${number}`)
    }
    const seen: InboxRow[] = []
    for (let after: [string, string] | null = null; ; after = keyOf(seen.at(-1) as InboxRow)) {
      const rows = await inbox({ sight: { projects: ids, sessions: [] } }, { first: 3, after })
      seen.push(...rows.slice(0, 3))
      if (rows.length <= 3) break
    }
    expect(seen.map((item) => item.title).sort()).toEqual(expected.sort())
    const keys = seen.map((item) => keyOf(item).join(' '))
    expect(keys).toEqual([...keys].sort().reverse())
  })

  test('filters by kind and state before it pages, and counts what it lists', async () => {
    const { projectId } = await given.project('Kinds')
    const run = await given.running(await given.session('One', projectId))
    await given.asks(run, 'Tool?')
    await given.asks(run, 'Plan?', { kind: 'PLAN' })
    await given.asks(run, 'Question?', { kind: 'QUESTION' })
    const query = { ...everything, ...of(projectId), kinds: ['PLAN_APPROVAL', 'QUESTION'] } as InboxQuery
    expect((await inbox(query)).map((item) => item.title).sort()).toEqual(['Plan?', 'Question?'])
    expect(await countInbox(given.platform, query)).toBe(2)
    expect(await countInbox(given.platform, { ...query, kinds: null })).toBe(3)
    expect(await countInbox(given.platform, { ...query, states: ['HANDLED'] })).toBe(0)
  })

  test('shows a member of one session what waits in that session, and nothing of any other', async () => {
    const one = await oneFailure()
    const other = await given.session('Other', one.projectId)
    await given.fails(await given.running(other))
    const viewer = await given.member(['session.read'], {
      projectId: one.projectId,
      sessionId: one.session.id,
    })
    const sight = sightOf(viewer, 'session.read', null)
    expect((await inbox({ sight: sight ?? 'all' })).map((item) => item.id)).toEqual([one.item.id])
  })
})

describe('an item', () => {
  test('is acknowledged and opened again, counted exactly, with an event and an audit entry each time', async () => {
    const { projectId, item } = await oneFailure()
    await update(item, { action: 'ACKNOWLEDGE', expectedVersion: 1 })
    expect(await again(item)).toMatchObject({
      state: 'ACKNOWLEDGED',
      version: 2,
      handledAt: given.clock.now(),
      handledBy: given.owner.principalId,
    })
    expect(await openCount(projectId)).toBe(0)
    await update(item, { action: 'ACKNOWLEDGE' })
    expect((await again(item)).version).toBe(2)
    await update(item, { action: 'REOPEN' })
    expect(await again(item)).toMatchObject({ state: 'OPEN', version: 3, handledAt: null, handledBy: null })
    expect(await openCount(projectId)).toBe(1)
    const events = await given.db.projectEvent.findMany({
      where: { projectId, type: 'INBOX_CHANGED' },
      orderBy: { position: 'asc' },
    })
    expect(events.map((event) => event.payload)).toMatchObject([
      { action: 'ACKNOWLEDGE', state: 'ACKNOWLEDGED', version: 2 },
      { action: 'REOPEN', state: 'OPEN', version: 3 },
    ])
    const itemId = encodeId({ type: 'InboxItem', projectId, id: item.id })
    expect(events[0]?.payload).toMatchObject({ itemId })
    expect(
      await given.db.auditEntry.findMany({ where: { subjectId: itemId }, orderBy: { id: 'asc' } }),
    ).toMatchObject([
      { action: 'inbox.acknowledge', actorId: given.owner.principalId },
      { action: 'inbox.reopen' },
    ])
  })

  test('that is an open ask can’t be acknowledged away, and nothing is written', async () => {
    const { projectId, item } = await oneAsk()
    await expect(update(item, { action: 'ACKNOWLEDGE' })).rejects.toEqual(refusal('CONFLICT'))
    expect(await again(item)).toMatchObject({ state: 'OPEN', version: 1 })
    expect(await openCount(projectId)).toBe(1)
  })

  test('that is settled can’t be changed any more', async () => {
    const { approval, item } = await oneAsk()
    await resolveApproval(given.platform, callOf(given.owner), { approvalId: approval, decision: 'deny' })
    for (const action of ['ACKNOWLEDGE', 'REOPEN', 'ASSIGN', 'SNOOZE'] as const) {
      await expect(update(item, { action })).rejects.toEqual(refusal('CONFLICT'))
    }
  })

  test('changed by two at once, from the same version, is changed by one', async () => {
    const { projectId, item } = await oneFailure()
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => update(item, { action: 'ACKNOWLEDGE', expectedVersion: 1 })),
    )
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toEqual(refusal('CONFLICT'))
    }
    expect(await openCount(projectId)).toBe(0)
  })

  test('is assigned to who could answer there, and to nobody else', async () => {
    const { projectId, session, item } = await oneFailure()
    const reader = await given.member(['session.read'], { projectId })
    await expect(update(item, { action: 'ASSIGN', assigneeId: reader.principalId })).rejects.toEqual(
      refusal('INVALID_INPUT'),
    )
    const nobody = '00000000-0000-7000-8000-000000000000'
    await expect(update(item, { action: 'ASSIGN', assigneeId: nobody })).rejects.toEqual(
      refusal('INVALID_INPUT'),
    )
    await grantAccess(given.platform, callOf(given.owner), {
      principalId: reader.principalId,
      grant: { capabilities: ['approval.resolve'], projectId, sessionId: session.id },
    })
    await update(item, { action: 'ASSIGN', assigneeId: reader.principalId })
    expect(await again(item)).toMatchObject({ assigneeId: reader.principalId, version: 2 })
    await update(item, { action: 'ASSIGN' })
    expect(await again(item)).toMatchObject({ assigneeId: null, version: 3 })
  })

  test('that is put off leaves the open list until then, and stays counted', async () => {
    const { projectId, item } = await oneFailure()
    const snoozeUntil = new Date(given.clock.now().getTime() + 60_000)
    await update(item, { action: 'SNOOZE', snoozeUntil })
    expect(await inbox(of(projectId))).toEqual([])
    expect(await inbox({ ...of(projectId), states: ['OPEN'] })).toHaveLength(1)
    expect(await openCount(projectId)).toBe(1)
    given.clock.advance(60_000)
    expect(await inbox(of(projectId))).toHaveLength(1)
    await update(item, { action: 'SNOOZE' })
    expect((await again(item)).snoozedUntil).toBeNull()
  })

  test('of an ask is put off only to before its deadline', async () => {
    const { item } = await oneAsk()
    const at = (ms: number) => new Date((item.deadlineAt as Date).getTime() + ms)
    await expect(update(item, { action: 'SNOOZE', snoozeUntil: at(0) })).rejects.toEqual(
      refusal('INVALID_INPUT'),
    )
    await update(item, { action: 'SNOOZE', snoozeUntil: at(-1) })
    expect((await again(item)).snoozedUntil).toEqual(at(-1))
  })

  test('that is gone, or of another project, is not found', async () => {
    const { item } = await oneFailure()
    const elsewhere = { projectId: given.projectId, id: item.id }
    await expect(update(elsewhere, { action: 'ACKNOWLEDGE' })).rejects.toEqual(refusal('NOT_FOUND'))
  })
})

describe('the number of open items', () => {
  const openCounts = () => {
    const counts = new OpenCounts(given.platform, createLogger('silent'))
    const forget = given.platform.wake.listen((hints) => {
      if (hints === 'anything') counts.poke()
      else for (const hint of hints) if (hint.topic === 'project') counts.poke(hint.id)
    })
    return {
      counts,
      close: () => {
        forget()
        counts.close()
      },
    }
  }

  test('comes at once and whenever the open items change', async () => {
    const { counts, close } = openCounts()
    const { projectId, item, session } = await oneFailure()
    const watch = counts.watch({ projects: [projectId], sessions: [] })
    expect(await watch.next()).toEqual({ done: false, value: 1 })
    await update(item, { action: 'ACKNOWLEDGE' })
    expect(await watch.next()).toEqual({ done: false, value: 0 })
    await given.fails(await given.running(session))
    expect(await watch.next()).toEqual({ done: false, value: 1 })
    const [next] = await inbox(of(projectId))
    await update(next as InboxRow, { action: 'ASSIGN', assigneeId: given.owner.principalId })
    expect(await watch.next()).toEqual({ done: false, value: 1 })
    close()
    expect(await watch.next()).toEqual({ done: true, value: undefined })
    expect(counts.watches).toBe(0)
  })

  test('is that of single sessions for who sees no more', async () => {
    const { counts, close } = openCounts()
    const { projectId, session } = await oneFailure()
    await given.fails(await given.running(await given.session('Other', projectId)))
    const watch = counts.watch({ projects: [], sessions: [session] })
    expect(await watch.next()).toEqual({ done: false, value: 1 })
    watch.look({ projects: [projectId], sessions: [] })
    expect(await watch.next()).toEqual({ done: false, value: 2 })
    close()
  })

  test('is read for nobody once its readers have left, also while they wait', async () => {
    const { counts, close } = openCounts()
    const watch = counts.watch('all')
    await watch.next()
    const waiting = watch.next()
    await watch.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(counts.watches).toBe(0)
    close()
  })
})

describe('who waits for whom', () => {
  test('names asks, offers and runtimes that are away, with their ends, the longest first', async () => {
    const { projectId, runtimeId } = await given.project('Waits')
    const start = given.clock.now()
    const later = (ms: number) => new Date(start.getTime() + ms)
    const waits = () => listWaits(given.platform, projectId, 'all', start)
    const working = await given.session('Working', projectId)
    await given.running(working)
    const asking = await given.session('Asking', projectId)
    const approval = await given.asks(await given.running(asking), 'May I?')
    expect(await waits()).toMatchObject([
      {
        kind: 'ANSWER',
        sessionTitle: 'Asking',
        since: start,
        until: later(86_400_000),
        approvalId: approval.id,
      },
    ])
    given.clock.advance(31_000)
    const offered = await given.offered(await given.session('Offered', projectId)).catch(() => null)
    expect(offered).toBeNull()
    await sweepRuns(given.platform, start)
    expect(await waits()).toMatchObject([
      { kind: 'ANSWER' },
      {
        kind: 'RETURN',
        sessionTitle: 'Working',
        runtimeId: runtimeId.id,
        since: start,
        until: later(60_000),
      },
    ])
    expect(await listWaits(given.platform, projectId, [asking.id], start)).toHaveLength(1)
  })

  test('names an offer until its runtime starts it', async () => {
    const { projectId } = await given.project('Offers')
    const now = given.clock.now()
    await given.offered(await given.session('Offered', projectId))
    expect(await listWaits(given.platform, projectId, 'all', now)).toMatchObject([
      { kind: 'START', runtimeName: 'agent', since: now, until: new Date(now.getTime() + 30_000) },
    ])
  })
})

test('a page of the inbox, its count and the waits take one statement each, however much there is', async () => {
  const { projectId } = await given.project('Statements')
  for (let number = 0; number < 12; number += 1) {
    await given.fails(await given.running(await given.session(`S${number}`, projectId)))
  }
  expect(await statements(() => inbox())).toBe(1)
  expect(await statements(() => countInbox(given.platform, everything))).toBe(1)
  expect(await statements(() => listWaits(given.platform, projectId, 'all', given.clock.now()))).toBe(1)
})
