import type { Client } from './client.ts'
import {
  look as lookAt,
  type Place,
  type Running,
  review,
  type Tasks,
  tell as tellOf,
  toolNames,
} from './task-world.ts'

/*
 * What may happen to the tasks of a project, each as one thing that somebody does, with whatever was seen last: so that
 * many of them at once, to several servers of which some are killed meanwhile, meet each other as they do in life.
 */

export const verbs = [
  'tryAgain',
  'tryAgainUnder',
  'newTask',
  'related',
  'sideChat',
  'analyse',
  'start',
  'act',
  'open',
  'tell',
  'require',
  'meet',
  'correct',
  'correctBlindly',
  'revert',
  'rebind',
  'propose',
  'proposeCorrection',
  'handOff',
  'complete',
  'fail',
  'cancel',
  'answer',
  'mark',
  'fork',
  'rewrite',
  'register',
] as const
export type Verb = (typeof verbs)[number]
/** `session`, `run` and `choice` pick among what is there, counted round. */
export interface Deed {
  verb: Verb
  session: number
  run: number
  choice: number
}

const at = <T>(all: readonly T[], index: number): T | undefined => all[index % Math.max(1, all.length)]

/** Does one thing, by way of one server. What is refused is refused; what is cut off by a kill may have been done or not. */
export async function does(tasks: Tasks, owner: Client, deed: Deed): Promise<void> {
  const { choice } = deed
  const sessionId = at(tasks.sessions, deed.session) as string
  // Mostly what is alive; now and then what has ended, as somebody who comes too late.
  const recent = tasks.runs.filter(({ ended }) => !ended || choice % 8 === 0).slice(-6)
  const run = at(recent, deed.run)
  const protocols = ['general-task', 'data-analysis', ...(tasks.reviews > 0 ? ['review'] : [])]
  const protocol = at(protocols, choice) as string

  const tell = <T>(...mutation: [name: string, input: object, selection: string]) =>
    tellOf<T>(tasks, owner, deed.verb, mutation)
  const seen = (id: string) => {
    tasks.acknowledged.add(id)
    return id
  }
  const note = (session: string, id: string) => {
    if (!tasks.revisions.some((each) => each.id === id)) tasks.revisions.push({ sessionId: session, id })
    return seen(id)
  }
  const say = async (text: string, more: object = {}) => {
    const taken = await tell<{ run: { id: string; binding: { active: { id: string } | null } } }>(
      'submitTurn',
      { sessionId, text, ...more },
      'run{id binding{active{id}}}',
    )
    if (!taken) return
    const { id, binding } = taken.run
    const next: Running = {
      id: seen(id),
      sessionId,
      runToken: null,
      ended: false,
      allowed: [],
      open: [],
      succeeded: [],
    }
    tasks.runs.push(next)
    if (binding.active) note(sessionId, binding.active.id)
    if (choice % 4 > 0) await start(next)
    return next
  }
  const start = async (which: Running | undefined) => {
    if (!which) return
    const { runtimeId } = tasks
    const started = await tell<{ runToken: string }>('startRun', { runId: which.id, runtimeId }, 'runToken')
    if (started) which.runToken = started.runToken
  }
  const own = (which: Running | undefined) =>
    which?.runToken ? { which, input: { runId: which.id, runToken: which.runToken } } : undefined
  /** A running run, of which there may be none, and what it may write with. */
  const mine = (has: (run: Running) => boolean = () => true) =>
    own(
      at(
        recent.filter((each) => each.runToken !== null && has(each)),
        deed.run,
      ),
    )
  const ask = async (which: Running) => {
    const input = { runId: which.id, runToken: which.runToken }
    const tool = at(choice % 5 > 0 && which.allowed.length > 0 ? which.allowed : toolNames, choice) as string
    const asked = await tell<{
      decision: string
      actionId: string
      allowedActions: string[]
      approval: { id: string } | null
    }>(
      'requestAction',
      { ...input, tool: toolNames.includes(tool) ? tool : 'write_file' },
      'decision actionId allowedActions approval{id}',
    )
    if (!asked) return null
    which.allowed = asked.allowedActions
    if (asked.approval) tasks.approvals.push(asked.approval.id)
    seen(asked.actionId)
    return asked.decision === 'ALLOWED' ? asked.actionId : null
  }
  const result = async (which: Running, actionId: string, ok: boolean) => {
    const facts = choice % 7 === 0 ? { decided: true } : { rows: choice }
    const closed = await tell<{ allowedActions: string[] }>(
      'recordActionResult',
      { actionId, runToken: which.runToken, ok, ...(choice % 3 > 0 && { facts }) },
      'allowedActions',
    )
    if (!closed) return
    which.allowed = closed.allowedActions
    which.open = which.open.filter((each) => each !== actionId)
    if (ok) which.succeeded.push(actionId)
  }
  const look = (id = sessionId) => lookAt(owner, id)
  const correcting = async (expectedHeadId: string | null) => {
    const corrected = await tell<{ intent: { id: string } }>(
      'correctIntent',
      {
        sessionId,
        expectedHeadId,
        note: 'As it is.',
        text: `Said anew, ${choice}`,
        ...(choice % 3 === 0 && { requirements: [`Only ${choice % 4}`, 'Every region'] }),
        ...(choice % 4 === 0 && { protocol }),
        newTask: choice % 5 === 0,
        applyTo: choice % 2 === 0 ? 'LIVE_RUN' : 'NEXT_TURN',
      },
      'intent{id}',
    )
    if (corrected) note(sessionId, corrected.intent.id)
  }
  const forking = async (parentId: string, place: Omit<Place, 'parentId'>) => {
    const forked = await tell<{ session: { id: string } }>(
      'forkSession',
      { sessionId: parentId, ...place },
      'session{id}',
    )
    if (!forked) return
    tasks.sessions.push(seen(forked.session.id))
    tasks.forks.set(forked.session.id, { parentId, ...place })
  }
  const propose = async (by: ReturnType<typeof own>, more: object) => {
    if (!by) return
    const proposed = await tell<{
      accepted: boolean
      segment: { id: string }
      approval: { id: string } | null
    }>(
      'proposeHandoff',
      { ...by.input, reason: 'It fits better.', ...more },
      'accepted segment{id} approval{id}',
    )
    if (!proposed) return
    if (proposed.accepted) {
      seen(proposed.segment.id)
      by.which.allowed = []
    }
    if (proposed.approval) tasks.approvals.push(proposed.approval.id)
  }

  switch (deed.verb) {
    case 'tryAgain':
      return void (await say(at(['try again', '继续', 'do it', 'go on please'], choice) as string))
    case 'tryAgainUnder':
      return void (await say('try again', { protocol }))
    case 'newTask':
      return void (await say(`A task of its own, number ${choice}`, { protocol }))
    case 'related': {
      const relation = at(['REFINE', 'REPLACE', 'REFINE', 'CONTINUE', 'SIDE_CHAT'], choice) as string
      const version = protocol === 'review' ? tasks.reviews : 1
      return void (await say(`${relation} under ${protocol}@${version}, point ${choice}`))
    }
    case 'sideChat':
      return void (await say('thanks'))
    case 'analyse':
      return void (await say('Please compare the sales by region between May and June'))
    case 'start':
      return start(run)
    case 'act': {
      const by = mine()
      const actionId = by && (await ask(by.which))
      if (by && actionId) await result(by.which, actionId, choice % 6 > 0)
      return
    }
    case 'open': {
      const by = mine()
      const actionId = by && (await ask(by.which))
      if (by && actionId) by.which.open.push(actionId)
      return
    }
    case 'tell': {
      const by = mine(({ open }) => open.length > 0)
      const actionId = by && at(by.which.open, choice)
      if (by && actionId) await result(by.which, actionId, choice % 2 === 0)
      return
    }
    case 'require': {
      const by = mine()
      if (!by) return
      const requirements = [`Only ${choice % 4}`, `By quarter ${choice % 6}`].slice(choice % 2)
      const listed = await tell<{ intent: { id: string } }>(
        'commitRequirements',
        { ...by.input, requirements },
        'intent{id}',
      )
      if (listed) note(by.which.sessionId, listed.intent.id)
      return
    }
    case 'meet': {
      const by = mine()
      if (!by) return
      const listed = await tell<{ intent: { id: string }; requirements: { id: string }[] }>(
        'commitRequirements',
        { ...by.input, requirements: [`Only ${choice % 4}`] },
        'intent{id} requirements{id}',
      )
      if (!listed) return
      note(by.which.sessionId, listed.intent.id)
      const fresh = by.which.succeeded.length === 0 ? await ask(by.which) : null
      if (fresh) await result(by.which, fresh, true)
      const actionId = at(by.which.succeeded, choice)
      const requirementId = listed.requirements[0]?.id
      if (actionId)
        await tell('meetRequirement', { ...by.input, requirementId, actionId }, 'requirement{state}')
      return
    }
    case 'correct': {
      const now = await look()
      return now ? correcting(now.intent?.id ?? null) : undefined
    }
    case 'correctBlindly': {
      const known = tasks.revisions.filter((each) => each.sessionId === sessionId)
      return correcting(at(known, choice)?.id ?? null)
    }
    case 'revert': {
      const now = await look()
      const to = at(
        tasks.revisions.filter((each) => each.sessionId === sessionId),
        choice,
      )
      if (!now || !to) return
      const reverted = await tell<{ intent: { id: string } }>(
        'revertIntent',
        {
          sessionId,
          expectedHeadId: now.intent?.id ?? null,
          toRevisionId: to.id,
          note: 'Back.',
          applyTo: choice % 2 === 0 ? 'LIVE_RUN' : 'NEXT_TURN',
        },
        'intent{id}',
      )
      if (reverted) note(sessionId, reverted.intent.id)
      return
    }
    case 'rebind': {
      const to = at(tasks.revisions, choice)
      if (run && to)
        await tell('rebindRun', { runId: run.id, revisionId: to.id, note: 'That one.' }, 'run{id}')
      return
    }
    case 'propose': {
      const revision = choice % 3 === 0 ? { expectedSegmentRevision: 1 + (choice % 2) } : {}
      return propose(mine(), { to: protocol, unresolvedGoals: ['none'], ...revision })
    }
    case 'proposeCorrection': {
      // What a model has taken for an analysis, and the agent finds to be none.
      const wrong = choice % 4 > 0 ? await say(`REPLACE under data-analysis@1, point ${choice}`) : undefined
      return propose(own(wrong) ?? mine(), { to: 'general-task', correction: true })
    }
    case 'handOff': {
      const now = await look()
      if (!now) return
      const seenThere = now.segment
        ? { expectedSegmentRevision: now.segment.revision }
        : { expectedHeadId: now.intent?.id ?? null }
      await tell(
        'handoffProtocol',
        {
          sessionId,
          to: protocol,
          reason: 'It belongs there.',
          overrideStrict: choice % 2 === 0,
          ...seenThere,
        },
        'session{id}',
      )
      return
    }
    case 'complete': {
      const by = mine()
      const input = { ...by?.input, answer: 'Done.', partial: choice % 2 === 0 }
      if (by && (await tell('completeRun', input, 'run{state}'))) by.which.ended = true
      return
    }
    case 'fail': {
      const by = mine()
      const input = { ...by?.input, code: 'BROKEN', message: 'It broke.' }
      if (by && (await tell('failRun', input, 'run{state}'))) by.which.ended = true
      return
    }
    case 'cancel':
      if (run && (await tell('cancelRun', { runId: run.id, reason: 'Not needed.' }, 'run{state}')))
        run.ended = true
      return
    case 'answer': {
      const approvalId = tasks.approvals.pop()
      const decision = choice % 3 > 0 ? 'allow' : 'deny'
      if (approvalId) await tell('resolveApproval', { approvalId, decision }, 'run{state}')
      return
    }
    case 'mark': {
      const marked = await tell<{ checkpoint: { id: string } }>(
        'createCheckpoint',
        { sessionId },
        'checkpoint{id}',
      )
      if (marked) tasks.checkpoints.push({ sessionId, id: seen(marked.checkpoint.id) })
      return
    }
    case 'fork': {
      const from = at(tasks.checkpoints, choice)
      return from && forking(from.sessionId, { checkpointId: from.id })
    }
    case 'rewrite': {
      const from = at(tasks.runs, choice)
      return from && forking(from.sessionId, { runId: from.id })
    }
    case 'register': {
      const { projectId } = tasks
      const version = tasks.reviews + 1
      const registered = await tell(
        'registerProtocol',
        { projectId, definition: review(version), format: 'JSON' },
        'protocol{name}',
      )
      if (registered) tasks.reviews = Math.max(tasks.reviews, version)
      return
    }
    default:
      return deed.verb satisfies never
  }
}
