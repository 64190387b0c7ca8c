import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { audit } from '../kit/audit.ts'
import { does, givenGuarded, underway } from '../kit/guarded.ts'
import type { Story } from '../kit/story.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(async () => {
  expect(await audit(app.databaseUrl)).toEqual([])
  await app.close()
})

const tools = [
  { name: 'inspect', group: 'DATA', action: 'inspect_schema' },
  { name: 'ground', group: 'DATA', action: 'preview_table' },
  { name: 'pdf', group: 'SKILL', action: 'skill.use' },
  { name: 'get', group: 'MCP', action: 'mcp.get', server: 'crm' },
  { name: 'put', group: 'MCP', action: 'mcp.put', server: 'crm' },
]
const planOf = async ({ owner, runId }: Story) => {
  const { run } = await owner.query<{
    run: { toolPlan: { entries: { name: string; exposed: boolean; status: string; handoffTo: string }[] } }
  }>('query($id:ID!){run(id:$id){toolPlan{entries{name exposed status handoffTo reasons}}}}', { id: runId })
  return new Map(run.toolPlan.entries.map((entry) => [entry.name, entry]))
}
const sets = ({ owner, projectId }: Story, more: object) =>
  owner.do<{ project: object }>(
    'updateProject',
    { projectId, ...more },
    'project{version routeCorrection skillDeny skillAllow mcpAllow{server tools}}',
  )

test('a plan is made anew at each read: by the phase, and by what the project shows', async () => {
  const story = await underway(await givenGuarded(app, tools), 'Which region?', 'data-analysis')
  expect((await planOf(story)).get('ground')).toMatchObject({ status: 'PROTOCOL_DISABLED', exposed: true })
  await does(story, 'inspect')
  expect((await planOf(story)).get('ground')).toMatchObject({ status: 'AVAILABLE' })
  await sets(story, { skillDeny: ['pdf'], mcpAllow: [{ server: 'crm', tools: ['get'] }] })
  const plan = await planOf(story)
  expect([plan.get('pdf')?.exposed, plan.get('get')?.exposed, plan.get('put')?.exposed]).toEqual([
    false,
    true,
    false,
  ])
  expect([...plan.keys()].slice(-2)).toEqual(['protocol_handoff', 'analysis_requirements_commit'])
  await story.writes.fail()
})

test('what a project shows is kept as it was set, once', async () => {
  const story = await givenGuarded(app, tools)
  const settings = {
    routeCorrection: 'OFF',
    skillDeny: ['a'],
    skillAllow: ['b*'],
    mcpAllow: [{ server: 'crm', tools: ['get'] }],
  }
  const first = await sets(story, settings)
  expect(first.project).toMatchObject({ ...settings, version: 2 })
  expect((await sets(story, settings)).project).toEqual(first.project)
  const cleared = await sets(story, { skillDeny: [], skillAllow: [], mcpAllow: [] })
  expect(cleared.project).toMatchObject({ version: 3, skillDeny: [], skillAllow: [], mcpAllow: [] })
  const { owner, projectId } = story
  const twice = [
    { server: 'crm', tools: [] },
    { server: 'crm', tools: ['x'] },
  ]
  const refused = await owner.refused('updateProject', { projectId, mcpAllow: twice })
  expect(refused).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['mcpAllow'] }] })
})
