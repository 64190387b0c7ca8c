import type { TestApp } from './app.ts'
import { given, type Story } from './story.ts'

/** Tools for every action of the protocols in the box, and some that nobody governs. Each is named like its action. */
export const analysisTools = [
  'list_data_sources',
  'inspect_schema',
  'preview_table',
  'run_sql_readonly',
  'semantic.context.resolve',
  'analysis.contract.ground',
  'data.query.plan',
  'data.query.validate',
  'analysis.result.validate',
  'analysis.evidence.bind',
  'analysis.requirements.commit',
].map((name) => ({ name, group: 'DATA', action: name }))
export const otherTools = [{ name: 'write_file', group: 'FILE', action: 'file.write' }]

export interface Asked {
  decision: string
  actionId: string
  why: string | null
  allowedActions: string[]
  approval: { id: string } | null
}
export const askedFields = 'decision actionId why:code allowedActions approval{id}'

/** A session with a runtime that has these tools, all of them when none are named. */
export async function givenGuarded(
  app: Pick<TestApp, 'owner'>,
  tools: object[] = [...analysisTools, ...otherTools],
) {
  const story = await given(app).project()
  await story.session()
  const { runtime } = await story.owner.do<{ runtime: { id: string } }>(
    'registerRuntime',
    { projectId: story.projectId, name: 'analyst', maxConcurrentRuns: 100, tools },
    'runtime{id}',
  )
  story.runtimeId = runtime.id
  return story
}

/** Starts a run under a protocol that is named, or by the routing. */
export async function underway(story: Story, text: string, protocol?: string): Promise<Story> {
  const { run, cursor } = await story.owner.do<{ run: { id: string }; cursor: number }>(
    'submitTurn',
    { sessionId: story.sessionId, text, ...(protocol && { protocol }) },
    'run{id} cursor',
  )
  story.runId = run.id
  story.cursor = cursor
  const { runToken } = await story.owner.do<{ runToken: string }>(
    'startRun',
    { runId: run.id, runtimeId: story.runtimeId },
    'runToken',
  )
  story.runToken = runToken
  return story
}

/** Asks for an action, as the runtime of the present run. */
export const asks = ({ owner, runId, runToken }: Story, tool: string, more: object = {}) =>
  owner.do<Asked>('requestAction', { runId, runToken, tool, ...more }, askedFields)

export interface Closed {
  action: { ok: boolean; closedAt: string }
  segment: {
    id: string
    revision: number
    phase: string
    facts: Record<string, boolean | number>
    state: string
  }
  allowedActions: string[]
}
export const closedFields = 'action{ok closedAt} segment{id revision phase facts state} allowedActions'

/** Says what came of an action. */
export const tells = ({ owner, runToken }: Story, actionId: string, result: object = { ok: true }) =>
  owner.do<Closed>('recordActionResult', { actionId, runToken, ...result }, closedFields)

/** Takes an action that is allowed, and succeeds with it. */
export async function does(
  story: Story,
  tool: string,
  facts: object = {},
): Promise<Closed & { actionId: string }> {
  const { actionId } = await asks(story, tool)
  return { ...(await tells(story, actionId, { ok: true, facts })), actionId }
}

export interface SegmentNow {
  id: string
  number: number
  protocol: string
  state: string
  revision: number
  phase: string
  closedBy: string | null
}
/** The segments of the present run, in order. */
export async function segmentsOf({ owner, runId }: Story): Promise<SegmentNow[]> {
  const { run } = await owner.query<{ run: { segments: SegmentNow[] } }>(
    'query($id:ID!){run(id:$id){segments{id number protocol state revision phase closedBy}}}',
    { id: runId },
  )
  return run.segments
}
/** The last of them. */
export async function segmentOf(story: Story): Promise<SegmentNow> {
  const last = (await segmentsOf(story)).at(-1)
  if (!last) throw new Error('the run has no segment')
  return last
}

/** The types of the session's events after a position. */
export const typesAfter = async (story: Story, sequence: number) =>
  (await story.journal()).filter((event) => event.sequence > sequence).map((event) => event.type)
