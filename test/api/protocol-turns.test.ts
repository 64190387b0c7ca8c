import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { registerProtocol as register, refundReview as yaml } from '../kit/protocols.ts'
import { givenSession, type Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
  await app.close()
})

const listed = async ({ owner, projectId }: Story) =>
  (
    await owner.query<{ protocols: { protocolId: string; allowed: boolean }[] }>(
      'query($p:ID!){protocols(projectId:$p){protocolId allowed}}',
      { p: projectId },
    )
  ).protocols

describe('a turn', () => {
  const said = async (story: Story, text: string, more: object = {}) => {
    const { run } = await story.owner.do<{ run: { route: { protocol: string; reasons: string[] } } }>(
      'submitTurn',
      { sessionId: story.sessionId, text, ...more },
      'run{route{protocol reasons}}',
    )
    return run.route
  }

  test('starts a registered protocol by its rule, or by its name, in its newest version', async () => {
    const story = await givenSession(app, { maxLiveRunsPerSession: 8, maxConcurrentRuns: 8 })
    await register(story, yaml(1))
    await register(story, yaml(2, 'Refund review, shorter'))
    expect(await said(story, 'Refund my order, please')).toMatchObject({
      protocol: 'refund-review@2',
      reasons: ['REFUND_ASKED'],
    })
    await story.session()
    expect(await said(story, 'The refund policy, please')).not.toMatchObject({ reasons: ['REFUND_ASKED'] })
    expect(await said(story, 'Anything', { protocol: 'refund-review@1' })).toMatchObject({
      protocol: 'refund-review@1',
    })
  })

  test('can’t name a protocol that the project doesn’t allow, nor one of another project', async () => {
    const story = await givenSession(app)
    const other = await givenSession(app)
    await register(story, yaml(1))
    const allow = (allowedProtocols: string[]) =>
      story.owner.do<{ project: { allowedProtocols: string[] | null; version: number } }>(
        'updateProject',
        { projectId: story.projectId, allowedProtocols },
        'project{allowedProtocols version}',
      )
    const turn = (of: Story, protocol: string) =>
      of.owner.refused('submitTurn', { sessionId: of.sessionId, text: 'Do it', protocol })
    const { project } = await allow(['data-analysis', 'data-analysis'])
    expect(project.allowedProtocols).toEqual(['data-analysis', 'general-task'])
    // The same again changes nothing, in whatever order it is said.
    expect((await allow(['general-task', 'data-analysis'])).project.version).toBe(project.version)
    expect((await listed(story)).map(({ protocolId, allowed }) => [protocolId, allowed])).toEqual([
      ['general-task', true],
      ['data-analysis', true],
      ['refund-review', false],
    ])
    expect(await turn(story, 'refund-review')).toMatchObject({ code: 'PROTOCOL_NOT_AUTHORIZED' })
    expect(await turn(other, 'refund-review')).toMatchObject({ code: 'PROTOCOL_UNKNOWN' })
    expect((await allow([])).project.allowedProtocols).toBeNull()
    await said(story, 'Do it', { protocol: 'refund-review' })
    expect(
      await story.owner.refused('updateProject', {
        projectId: story.projectId,
        allowedProtocols: ['refund-review@1'],
      }),
    ).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['allowedProtocols', '0'] }] })
  })
})
