import type { Client } from './client.ts'
import type { Story } from './story.ts'

/** A session as a test of forks looks at it. */
export interface Seen {
  id: string
  title: string
  state: string
  generation: number
  model: string | null
  messageCount: number
  runCount: number
  eventCount: number
  intent: {
    id: string
    text: string
    protocol: string
    rendering: string
    session: { id: string } | null
    message: { text: string } | null
    requirements: { text: string; state: string }[]
    previous: { id: string; requirements: { text: string; state: string }[] } | null
  } | null
  parent: { id: string } | null
  forkedFrom: {
    checkpoint: { id: string } | null
    run: { id: string } | null
    revision: { id: string } | null
  } | null
  forks: { nodes: { id: string }[] }
  checkpoints: { nodes: Checkpoint[] }
  messages: {
    nodes: {
      id: string
      sequence: number
      text: string
      at: string
      authority: string
      author: { id: string }
      run: { id: string } | null
      answers: { text: string; session: { id: string } } | null
    }[]
  }
}
export interface Checkpoint {
  id: string
  number: number
  label: string | null
  sequence: number
  messageSequence: number
  run: { id: string } | null
  intent: { id: string } | null
}
const place = 'id number label sequence messageSequence run{id} intent{id}'

export async function look(client: Client, id: string): Promise<Seen> {
  const { session } = await client.query<{ session: Seen }>(
    `query($id:ID!){session(id:$id){id title state generation model messageCount runCount eventCount
      intent{id text protocol rendering session{id} message{text} requirements{text state} previous{id requirements{text state}}}
      parent{id} forkedFrom{checkpoint{id} run{id} revision{id}} forks(first:100){nodes{id}} checkpoints(first:100){nodes{${place}}}
      messages(first:100){nodes{id sequence text at authority author{id} run{id} answers{text session{id}}}}}}`,
    { id },
  )
  return session
}

/** The latest checkpoint of a session. */
export async function latestCheckpoint(client: Client, sessionId: string): Promise<Checkpoint> {
  const [latest] = (await look(client, sessionId)).checkpoints.nodes
  if (!latest) throw new Error('the session has no checkpoint')
  return latest
}

/** The same story, in another of its project's sessions. */
export const inside = (story: Story, sessionId: string): Story =>
  Object.assign(Object.create(Object.getPrototypeOf(story) as object) as Story, story, { sessionId })

/** What a fork must have of its parent's messages: everything but their ids and places. */
export const copied = (messages: Seen['messages']['nodes']) =>
  messages.map(({ text, at, authority, author }) => ({ text, at, authority, author }))

/** What an owner says that the task of the story's session is; another task unless `requirements` say more of it. */
export async function correct(story: Story, text: string, more: object = { newTask: true }): Promise<string> {
  const { session } = await story.owner.query<{ session: { intent: { id: string } | null } }>(
    'query($id:ID!){session(id:$id){intent{id}}}',
    { id: story.sessionId },
  )
  const { intent } = await story.owner.do<{ intent: { id: string } }>(
    'correctIntent',
    {
      sessionId: story.sessionId,
      ...(session.intent && { expectedHeadId: session.intent.id }),
      text,
      note: 'As it is.',
      ...more,
    },
    'intent{id}',
  )
  return intent.id
}

export async function mark(story: Story, label?: string): Promise<Checkpoint> {
  const { checkpoint } = await story.owner.do<{ checkpoint: Checkpoint }>(
    'createCheckpoint',
    { sessionId: story.sessionId, ...(label !== undefined && { label }) },
    `checkpoint{${place}}`,
  )
  return checkpoint
}

/** Forks the story's session; gives the fork's id. */
export async function fork(
  story: Story,
  from: { checkpointId?: string; runId?: string; title?: string; idempotencyKey?: string },
): Promise<string> {
  const { session } = await story.owner.do<{ session: { id: string } }>(
    'forkSession',
    { sessionId: story.sessionId, ...from },
    'session{id}',
  )
  return session.id
}

/** A turn that is a task of its own, and its run to the end. */
export async function newTask(story: Story, text: string, answer = 'Done.'): Promise<string> {
  const { run } = await story.owner.do<{ run: { id: string } }>(
    'submitTurn',
    { sessionId: story.sessionId, text, protocol: 'general-task' },
    'run{id}',
  )
  story.runId = run.id
  const { runToken } = await story.owner.do<{ runToken: string }>(
    'startRun',
    { runId: run.id, runtimeId: story.runtimeId },
    'runToken',
  )
  story.runToken = runToken
  await story.writes.complete({ answer })
  return run.id
}
