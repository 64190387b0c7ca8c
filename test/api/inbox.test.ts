import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { eventually } from '../kit/eventually.ts'
import { givenSession, type Story } from '../kit/story.ts'

let app: TestApp
let story: Story
beforeAll(async () => {
  app = await startApp()
  story = await givenSession(app)
  await story.run()
})
afterAll(() => app.close())

const item =
  'id kind state title why since ifIgnored deadline defaultDecision version snoozedUntil handledAt project{id} session{id} run{id} approval{id} assignee{id} handledBy{id} subject{__typename id} allowedActions{action allowed reason}'
interface Item {
  id: string
  state: string
  version: number
  allowedActions: { action: string; allowed: boolean; reason: string | null }[]
}
const inbox = async (variables: object) =>
  (
    await app.owner.query<{ inbox: { nodes: Item[]; totalCount: number } }>(
      `query($projectId:ID,$states:[InboxState!]){inbox(projectId:$projectId,states:$states){nodes{${item}} totalCount}}`,
      variables,
    )
  ).inbox

describe('the inbox over the API', () => {
  test('case 22: an ask is listed with its subject, deadline and default until it is answered', async () => {
    const { projectId } = story
    const watch = app.owner.watch<{ projectId: string; open: number }>(
      'subscription($id:ID){inboxChanged(projectId:$id){projectId open}}',
      { id: projectId },
    )
    await eventually(() => watch.items.length === 1)
    const approval = await story.writes.ask({ kind: 'TOOL', title: 'Scan 14 GB?', payload: {} })
    const { nodes, totalCount } = await inbox({ projectId })
    expect(totalCount).toBe(1)
    expect(nodes).toMatchObject([
      {
        kind: 'TOOL_APPROVAL',
        title: 'Scan 14 GB?',
        defaultDecision: 'deny',
        deadline: approval.expiresAt,
        subject: { __typename: 'Approval', id: approval.id },
        approval: { id: approval.id },
        run: { id: story.runId },
        session: { id: story.sessionId },
        project: { id: projectId },
      },
    ])
    const { waits } = await app.owner.query<{ waits: object[] }>(
      'query($id:ID!){waits(projectId:$id){waiter waitsFor since until reason waiterNode{__typename id} waitsForNode{__typename id}}}',
      { id: projectId },
    )
    expect(waits).toMatchObject([
      {
        waitsFor: 'an owner',
        until: approval.expiresAt,
        waiterNode: { __typename: 'Run', id: story.runId },
        waitsForNode: { __typename: 'Approval', id: approval.id },
      },
    ])
    await app.owner.do('resolveApproval', { approvalId: approval.id, decision: 'allow' }, 'approval{id}')
    expect((await inbox({ projectId })).nodes).toEqual([])
    expect((await inbox({ states: ['HANDLED'] })).nodes).toMatchObject([{ state: 'HANDLED' }])
    await eventually(() => watch.items.length === 3)
    expect(watch.items).toEqual([0, 1, 0].map((open) => ({ projectId, open })))
    await watch.stop()
  })

  test('case 43: an item says what may be done with it, and a refusal says why not', async () => {
    const approval = await story.writes.ask({ kind: 'PLAN', title: 'This way?', payload: {} })
    const [ask] = (await inbox({ projectId: story.projectId })).nodes as [Item]
    const allowed = (node: Item) =>
      node.allowedActions.filter((each) => each.allowed).map((each) => each.action)
    expect(allowed(ask)).toEqual(['updateInboxItem', 'updateInboxItem.ASSIGN', 'updateInboxItem.SNOOZE'])
    const problem = await app.owner.refused('updateInboxItem', { itemId: ask.id, action: 'ACKNOWLEDGE' })
    expect(problem).toMatchObject({ __typename: 'Conflict', code: 'CONFLICT', current: { id: ask.id } })
    expect(problem.message).toContain('Answer it')
    await app.owner.do('resolveApproval', { approvalId: approval.id, decision: 'deny' }, 'approval{id}')
  })

  test('a failed run is acknowledged at the version that was seen', async () => {
    await story.writes.fail()
    const [failure] = (await inbox({ projectId: story.projectId })).nodes as [Item]
    const change = { itemId: failure.id, action: 'ACKNOWLEDGE' }
    expect(await app.owner.refused('updateInboxItem', { ...change, expectedVersion: 9 })).toMatchObject({
      code: 'CONFLICT',
    })
    expect(
      await app.owner.do('updateInboxItem', { ...change, expectedVersion: failure.version }, `item{${item}}`),
    ).toMatchObject({ item: { state: 'ACKNOWLEDGED', version: 2 } })
    expect(await app.owner.query('query($id:ID!){node(id:$id){__typename id}}', { id: failure.id })).toEqual({
      node: { __typename: 'InboxItem', id: failure.id },
    })
  })

  test('who may read and not answer sees the item, and is refused to change it', async () => {
    const grants = [{ capabilities: ['session.read'], projectId: story.projectId }]
    const { principal } = await app.owner.do<{ principal: { id: string } }>(
      'createPrincipal',
      { kind: 'SERVICE', name: 'Reader', grants },
      'principal{id}',
    )
    const { secret } = await app.owner.do<{ secret: string }>(
      'createToken',
      { name: 'reads', principalId: principal.id, grants },
      'secret',
    )
    const [seen] = (await inbox({ projectId: story.projectId, states: ['ACKNOWLEDGED'] })).nodes as [Item]
    const reader = app.owner.as(secret)
    expect(await reader.refused('updateInboxItem', { itemId: seen.id, action: 'REOPEN' })).toMatchObject({
      code: 'PERMISSION_DENIED',
      capability: 'approval.resolve',
    })
    const other = await (await givenSession(app)).run()
    await other.writes.fail()
    const [hidden] = (await inbox({ projectId: other.projectId })).nodes as [Item]
    expect(
      await reader.refused('updateInboxItem', { itemId: hidden.id, action: 'ACKNOWLEDGE' }),
    ).toMatchObject({
      code: 'NOT_FOUND',
    })
    const everywhere = await reader.query<{ inbox: { nodes: Item[] } }>(
      '{inbox(states:[OPEN,ACKNOWLEDGED]){nodes{id}}}',
    )
    expect(everywhere.inbox.nodes.map((node) => node.id)).toEqual([seen.id])
    expect(
      await reader.refusedQuery('query($id:ID){inbox(projectId:$id){nodes{id}}}', { id: other.projectId }),
    ).toBe('NOT_FOUND')
  })
})
