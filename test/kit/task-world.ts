import type { Client } from './client.ts'
import { analysisTools, otherTools } from './guarded.ts'
import { given } from './story.ts'

/** A run, as its runtime knows it. */
export interface Running {
  id: string
  sessionId: string
  runToken: string | null
  /** Whether somebody was told that it has ended. */
  ended: boolean
  allowed: string[]
  /** Allowed, without a result so far. */
  open: string[]
  succeeded: string[]
}
export interface Place {
  parentId: string
  checkpointId?: string
  runId?: string
}

/** A project in which everything goes on, and all that anybody has seen of it. */
export interface Tasks {
  projectId: string
  runtimeId: string
  sessions: string[]
  /** From where each fork was made. */
  forks: Map<string, Place>
  runs: Running[]
  checkpoints: { sessionId: string; id: string }[]
  revisions: { sessionId: string; id: string }[]
  approvals: string[]
  /** How many versions of the protocol `review` are registered. */
  reviews: number
  /** Ids that a success has named: their rows must be there for ever. */
  acknowledged: Set<string>
  /** How often each verb ended how. */
  outcomes: Map<string, number>
}

const reviewTools = ['review.read', 'review.pay'].map((name) => ({ name, group: 'TASK', action: name }))
export const toolNames = [...analysisTools, ...otherTools, ...reviewTools].map(({ name }) => name)
/** A strict protocol with an approval in it, under which nobody acts on a task that has moved. */
export const review = (version: number) =>
  JSON.stringify({
    id: 'review',
    version,
    title: `Review ${version}`,
    initialPhase: 'look',
    phases: [
      {
        name: 'look',
        allowedActions: ['review.read', 'ungoverned'],
        transitions: [{ to: 'decide', on: { action: 'review.read' } }],
      },
      {
        name: 'decide',
        allowedActions: ['review.*', 'ungoverned'],
        needsApproval: ['review.pay'],
        final: true,
      },
    ],
    governs: ['review.*'],
    completion: { requiredFacts: { decided: true }, strict: true },
    staleIntent: 'BLOCK',
  })

/** A project with a session in it and a runtime that has every tool; whether its owners confirm corrections of a route. */
export async function givenTasks(owner: Client, confirms: boolean): Promise<Tasks> {
  const story = await given({ owner }).project({
    maxConcurrentRuns: 1_000,
    maxLiveRunsPerSession: 3,
    runtimeGraceMs: 3_600_000,
    offerTimeoutMs: 3_600_000,
  })
  const { projectId } = story
  const routeCorrection = confirms ? 'OWNER_CONFIRMS' : 'AGENT'
  await owner.do('updateProject', { projectId, routeCorrection }, 'project{id}')
  const { runtime } = await owner.do<{ runtime: { id: string } }>(
    'registerRuntime',
    {
      projectId,
      name: 'worker',
      maxConcurrentRuns: 1_000,
      tools: [...analysisTools, ...otherTools, ...reviewTools],
    },
    'runtime{id}',
  )
  const { sessionId } = await story.session()
  return {
    projectId,
    runtimeId: runtime.id,
    sessions: [sessionId],
    forks: new Map(),
    runs: [],
    checkpoints: [],
    revisions: [],
    approvals: [],
    reviews: 0,
    acknowledged: new Set([sessionId]),
    outcomes: new Map(),
  }
}

/** What a model answers: a message of these says by itself how it relates to the task. */
export function modelAnswer(question: string): string {
  const [, relation = 'SIDE_CHAT', protocol = 'general-task', version = '1'] =
    /"(CONTINUE|REFINE|REPLACE|SIDE_CHAT) under ([a-z-]+)@(\d+)/.exec(question) ?? []
  const sure = { target: 0.9, protocol: 0.9, relation: 0.9 }
  return JSON.stringify({
    target: 'AGENT',
    protocol,
    version: Number(version),
    relation,
    confidence: sure,
    reasons: [],
  })
}

/**
 * A mutation, and how it ended: its success, or null when it was refused or cut off by a kill, in which case it may have
 * been done or not. The outcome is counted for the verb.
 */
export async function tell<T>(
  tasks: Tasks,
  owner: Client,
  verb: string,
  [name, input, selection]: readonly [name: string, input: object, selection: string],
): Promise<T | null> {
  const count = (outcome: string) => {
    const key = `${verb}: ${outcome}`
    tasks.outcomes.set(key, (tasks.outcomes.get(key) ?? 0) + 1)
  }
  try {
    const member = await owner.mutate<T & { code?: string }>(name, input, selection)
    const done = member.__typename.endsWith('Success')
    count(done ? 'done' : (member.code ?? 'refused'))
    return done ? member : null
  } catch (error) {
    if (!isCutOff(error)) throw error
    count('cut off')
    return null
  }
}

/** What fetch says of a connection that breaks; anything else is a failure of the product. */
const isCutOff = (error: unknown) => error instanceof TypeError || error instanceof SyntaxError

/** What a session is at, as somebody looks at it before acting; null when that was cut off. */
export async function look(owner: Client, id: string) {
  interface Now {
    intent: { id: string } | null
    segment: { revision: number } | null
  }
  try {
    const { session } = await owner.query<{ session: Now }>(
      'query($id:ID!){session(id:$id){intent{id} segment{revision}}}',
      { id },
    )
    return session
  } catch (error) {
    if (isCutOff(error)) return null
    throw error
  }
}
