import {
  type ApprovalState,
  approvalStates,
  type RunState,
  runStates,
} from '@wheelhouse/server/domains/runs/rules'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { givenSession } from '../kit/story.ts'

let app: TestApp
let client: pg.Client
beforeAll(async () => {
  app = await startApp()
  client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  const story = await (await givenSession(app)).run()
  const { id } = await story.writes.ask()
  await story.owner.do('resolveApproval', { approvalId: id, decision: 'allow' }, 'approval{id}')
  await story.writes.complete()
})
afterAll(async () => {
  await client.end()
  await app.close()
})

/** Runs a statement in a transaction that is undone, and gives the error's code, if it was one. */
async function attempt(...statements: string[]): Promise<string | null> {
  await client.query('BEGIN')
  try {
    for (const sql of statements) await client.query(sql)
    return null
  } catch (error) {
    return (error as { code: string }).code
  } finally {
    await client.query('ROLLBACK')
  }
}
const refused = '23000'

describe('the database by itself', () => {
  const ends: Record<RunState, boolean> = {
    OFFERED: false,
    RUNNING: false,
    WAITING_APPROVAL: false,
    COMPLETED: true,
    FAILED: true,
    CANCELLED: true,
    TIMED_OUT: true,
  }
  const columns = (state: RunState) =>
    `state = '${state}', ended_at = ${ends[state] ? 'now()' : 'NULL'}, open_approvals = ${state === 'WAITING_APPROVAL' ? 1 : 0},
     completion = ${state === 'COMPLETED' ? "'FULL'" : 'NULL'}, failure_code = ${state === 'FAILED' ? "'X'" : 'NULL'}`
  const set = (state: RunState) => `UPDATE runs SET ${columns(state)}`
  test.each(
    runStates.flatMap((from) => runStates.filter((to) => to !== from).map((to) => [from, to] as const)),
  )('lets no run leave its end: %s to %s', async (from, to) => {
    const begin = [
      'ALTER TABLE runs DISABLE TRIGGER state_is_final',
      set(from),
      'ALTER TABLE runs ENABLE TRIGGER state_is_final',
    ]
    expect(await attempt(...begin, set(to))).toBe(ends[from] ? refused : null)
  })

  const decided: Record<ApprovalState, boolean> = {
    OPEN: false,
    ANSWERED: true,
    EXPIRED: true,
    WITHDRAWN: true,
  }
  const ask = (state: ApprovalState) =>
    `UPDATE approvals SET state = '${state}', decision = ${state === 'ANSWERED' || state === 'EXPIRED' ? "'deny'" : 'NULL'}`
  test.each(
    approvalStates.flatMap((from) =>
      approvalStates.filter((to) => to !== from).map((to) => [from, to] as const),
    ),
  )('lets no ask leave its end: %s to %s', async (from, to) => {
    const begin = [
      'ALTER TABLE approvals DISABLE TRIGGER state_is_final',
      ask(from),
      'ALTER TABLE approvals ENABLE TRIGGER state_is_final',
    ]
    expect(await attempt(...begin, ask(to))).toBe(decided[from] ? refused : null)
  })

  test.each(['session_events', 'project_events', 'messages', 'audit_entries', 'route_decisions'])(
    'only adds to %s: nothing updates it, only a purge deletes from it',
    async (table) => {
      expect(await attempt(`UPDATE ${table} SET at = now()`)).toBe(refused)
      expect(await attempt(`DELETE FROM ${table}`)).toBe(refused)
      expect(await attempt(`SET LOCAL wheelhouse.purge = 'on'`, `UPDATE ${table} SET at = now()`)).toBe(
        refused,
      )
      expect(await attempt(`SET LOCAL wheelhouse.purge = 'on'`, `DELETE FROM ${table}`)).toBeNull()
    },
  )

  test('holds what no rule may break: a closed session is quiet, a waiting run has an ask, a decision is an option', async () => {
    for (const sql of [
      `UPDATE sessions SET state = 'CLOSED', live_runs = 1`,
      `UPDATE sessions SET live_runs = -1`,
      `UPDATE project_load SET live_runs = -1`,
      `UPDATE runtimes SET live_runs = -1`,
      `UPDATE runs SET completion = NULL`,
      `UPDATE runs SET open_approvals = 1`,
      `UPDATE approvals SET decision = 'perhaps'`,
      `UPDATE approvals SET decision = NULL`,
    ])
      expect([sql, await attempt(sql)]).toEqual([sql, '23514'])
  })
})
