import type { TestApp } from './app.ts'
import { eventually as eventuallyWithin } from './eventually.ts'
import { given, type Story } from './story.ts'

/** The agent in the box speaks at a pace that people can follow: on a busy machine a story of it takes its time. */
export const eventually = <T>(look: () => T | Promise<T>) => eventuallyWithin(look, 45_000)

/** The agent sets its figures in groups with spaces that don't break. */
export const plain = (text: string) => text.replaceAll('\u00a0', ' ')

export const runtimesOf = async ({ owner, projectId }: Story) =>
  (
    await owner.query<{
      project: { runtimes: { id: string; name: string; kinds: string[]; state: string }[] }
    }>('query($id:ID!){project(id:$id){runtimes{id name kinds state}}}', { id: projectId })
  ).project.runtimes

/** A new project in which the sample agent has arrived, and a session. */
export async function arrived(app: TestApp): Promise<Story> {
  const story = await given(app).project()
  await story.session()
  await eventually(async () =>
    (await runtimesOf(story)).some(({ name, state }) => name === 'sample agent' && state === 'CONNECTED'),
  )
  return story
}

/** Sessions of their own in a project that the tests of a file share: the agent takes a moment to come to a new one. */
export function sharedProject(app: () => TestApp): () => Promise<Story> {
  let shared: Promise<Story> | undefined
  return async () => {
    shared ??= arrived(app())
    const story = given(app())
    story.projectId = (await shared).projectId
    return story.session()
  }
}

export const asksOf = async ({ owner, sessionId }: Story) =>
  (
    await owner.query<{
      session: { approvals: { id: string; title: string; defaultDecision: string; state: string }[] }
    }>('query($id:ID!){session(id:$id){approvals{id title defaultDecision state}}}', { id: sessionId })
  ).session.approvals

export const openAsk = (story: Story) =>
  eventually(async () => {
    const ask = (await asksOf(story)).find(({ state }) => state === 'OPEN')
    if (!ask) throw new Error('nothing is asked')
    return ask
  })

export const answer = ({ owner }: Story, id: string, decision: string) =>
  owner.do('resolveApproval', { approvalId: id, decision }, 'approval{id}')

export const steer = ({ owner, runId }: Story, text: string) =>
  owner.do('steerRun', { runId, text }, 'cursor')

export const finished = (story: Story) =>
  eventually(async () => {
    const { run } = await story.owner.query<{
      run: {
        state: string
        completion: string | null
        failureCode: string | null
        effects: string
        answer: { text: string } | null
        usage: Record<string, number | null> | null
      }
    }>(
      'query($id:ID!){run(id:$id){state completion failureCode effects answer{text} usage{modelCalls toolCalls milliseconds inputTokens}}}',
      { id: story.runId },
    )
    if (['RUNNING', 'OFFERED', 'WAITING_APPROVAL'].includes(run.state)) throw new Error(`still ${run.state}`)
    return { ...run, text: plain(run.answer?.text ?? '') }
  })

export const streamed = async (story: Story) =>
  plain(
    (await story.journal())
      .filter(({ type }) => type === 'ANSWER_DELTA')
      .map(({ payload }) => String(payload.text))
      .join(''),
  )
