import type { TestApp } from './app.ts'
import type { Client } from './client.ts'

let count = 0
const fresh = (word: string) => {
  count += 1
  return `${word} ${process.pid}-${count}`
}

/** A project with what a test needs in it, made through the API, step by step. */
export class Story {
  readonly owner: Client
  projectId = ''
  slug = ''
  sessionId = ''
  runtimeId = ''
  runId = ''
  runToken = ''
  /** The cursor of the last receipt. */
  cursor = 0

  constructor(owner: Client) {
    this.owner = owner
  }

  async project(limits: Record<string, number> = {}): Promise<this> {
    const { project } = await this.owner.do<{ project: { id: string; slug: string } }>(
      'createProject',
      { name: fresh('Project') },
      'project{id slug}',
    )
    this.projectId = project.id
    this.slug = project.slug
    if (Object.keys(limits).length > 0) {
      await this.owner.do('updateProjectLimits', { projectId: project.id, limits }, 'project{id}')
    }
    return this
  }

  async session(title?: string): Promise<this> {
    const { session } = await this.owner.do<{ session: { id: string } }>(
      'createSession',
      { projectId: this.projectId, ...(title && { title }) },
      'session{id}',
    )
    this.sessionId = session.id
    return this
  }

  async runtime(maxConcurrentRuns = 4, client: Client = this.owner): Promise<this> {
    const { runtime } = await client.do<{ runtime: { id: string } }>(
      'registerRuntime',
      {
        projectId: this.projectId,
        name: fresh('runtime'),
        maxConcurrentRuns,
        tools: [{ name: 'run_sql', group: 'DATA', action: 'run_sql_readonly' }],
      },
      'runtime{id}',
    )
    this.runtimeId = runtime.id
    return this
  }

  /** A turn that was offered. */
  async turn(text = 'What sold best in May?'): Promise<this> {
    const { run, cursor } = await this.owner.do<{ run: { id: string }; cursor: number }>(
      'submitTurn',
      { sessionId: this.sessionId, text },
      'run{id} cursor',
    )
    this.runId = run.id
    this.cursor = cursor
    return this
  }

  /** A turn that was offered and started. */
  async run(text?: string, client: Client = this.owner): Promise<this> {
    await this.turn(text)
    const { runToken } = await client.do<{ runToken: string }>(
      'startRun',
      { runId: this.runId, runtimeId: this.runtimeId },
      'runToken',
    )
    this.runToken = runToken
    return this
  }

  /** What the runtime of the present run writes. */
  get writes() {
    const { owner, runId, runToken } = this
    return {
      events: (...events: { type: string; payload: object }[]) =>
        owner.do<{ cursor: number }>('recordRunEvents', { runId, runToken, events }, 'cursor'),
      ask: async (ask: object = { kind: 'TOOL', title: 'Scan 14 GB?', payload: {} }) => {
        const { approval } = await owner.do<{ approval: { id: string; expiresAt: string } }>(
          'requestApproval',
          { runId, runToken, ...ask },
          'approval{id expiresAt}',
        )
        return approval
      },
      complete: (input: object = { answer: 'Outdoor, by far.' }) =>
        owner.do<{ run: { state: string; completion: string; effects: string } }>(
          'completeRun',
          { runId, runToken, ...input },
          'run{state completion effects}',
        ),
      fail: (code = 'TOOL_ERROR') =>
        owner.do<{ run: { state: string } }>(
          'failRun',
          { runId, runToken, code, message: 'It broke.' },
          'run{state}',
        ),
    }
  }

  /** A run as it is now. */
  async runNow(runId = this.runId) {
    const { run } = await this.owner.query<{
      run: {
        state: string
        failureCode: string | null
        effects: string
        completion: string | null
        deadlineAt: string | null
      }
    }>('query($id:ID!){run(id:$id){state failureCode effects completion deadlineAt}}', { id: runId })
    return run
  }

  /** The sequence of the session's latest event. */
  async latest(): Promise<number> {
    const { session } = await this.owner.query<{ session: { eventCount: number } }>(
      'query($id:ID!){session(id:$id){eventCount}}',
      { id: this.sessionId },
    )
    return session.eventCount
  }

  /** The whole journal of the session, read in pages. */
  async journal(sessionId = this.sessionId) {
    const events: {
      sequence: number
      runSequence: number | null
      type: string
      payload: Record<string, unknown>
    }[] = []
    for (let after = 0; ; ) {
      const { session } = await this.owner.query<{
        session: { events: { events: typeof events; cursor: number; hasMore: boolean } }
      }>(
        'query($id:ID!,$after:Int){session(id:$id){events(after:$after,first:500){events{sequence runSequence type payload} cursor hasMore}}}',
        { id: sessionId, after },
      )
      events.push(...session.events.events)
      after = session.events.cursor
      if (!session.events.hasMore) return events
    }
  }
}

/** Begins a story with the owner of everything: `await given(app).project()`, then a session, a runtime, a run. */
export const given = (app: Pick<TestApp, 'owner'>) => new Story(app.owner)

/** A project, a session in it, a connected runtime. */
export async function givenSession(
  app: Pick<TestApp, 'owner'>,
  limits?: Record<string, number>,
): Promise<Story> {
  const story = await given(app).project(limits)
  await story.session()
  return story.runtime()
}
