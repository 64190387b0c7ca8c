import type { NodeType } from '@wheelhouse/server/platform/ids'
import { decodeId, encodeId } from '@wheelhouse/server/platform/ids'
import { succeededAction } from './actions.ts'
import type { TestApp } from './app.ts'
import type { Client } from './client.ts'
import { Story } from './story.ts'

const capabilitiesOf = (projectId: string) => [{ capabilities: ['project.own'], projectId }]

/** A principal with these grants, and a client with a token narrowed to the same. */
export async function principalWith(
  app: TestApp,
  name: string,
  grants: { capabilities: string[]; projectId?: string; sessionId?: string }[],
  token: { grants?: typeof grants; expiresAt?: string } = {},
): Promise<{ id: string; tokenId: string; client: Client }> {
  const { principal } = await app.owner.do<{ principal: { id: string } }>(
    'createPrincipal',
    { kind: 'SERVICE', name, grants },
    'principal{id}',
  )
  const made = await app.owner.do<{ token: { id: string }; secret: string }>(
    'createToken',
    { name, principalId: principal.id, grants, ...token },
    'token{id} secret',
  )
  return { id: principal.id, tokenId: made.token.id, client: app.owner.as(made.secret) }
}

/**
 * One project with one of everything in it, owned by a principal that owns nothing else. Every text in it carries the
 * side's name, so that a leak is seen wherever it comes out.
 */
export class Side {
  readonly app: TestApp
  readonly name: string
  readonly ids = {} as Record<NodeType, string>
  story!: Story
  owner!: Client
  slug = ''

  constructor(app: TestApp, name: string) {
    this.app = app
    this.name = name
  }

  async build(): Promise<this> {
    const { app, name } = this
    const { project } = await app.owner.do<{ project: { id: string; slug: string } }>(
      'createProject',
      { name: `${name} project`, slug: `${name}-project` },
      'project{id slug}',
    )
    await app.owner.do(
      'updateProjectLimits',
      { projectId: project.id, limits: { maxConcurrentRuns: 1000, maxOpenSessions: 10000 } },
      'project{id}',
    )
    this.slug = project.slug
    const owner = await principalWith(app, `${name} owner`, capabilitiesOf(project.id))
    this.owner = owner.client
    this.story = new Story(owner.client)
    this.story.projectId = project.id
    const { runtime } = await owner.client.do<{ runtime: { id: string } }>(
      'registerRuntime',
      { projectId: project.id, name: `${name} runtime`, maxConcurrentRuns: 10_000, tools },
      'runtime{id}',
    )
    this.story.runtimeId = runtime.id
    await this.run()
    const approval = await this.story.writes.ask({ kind: 'TOOL', title: `${name} ask`, payload: { name } })
    await this.story.writes.events({ type: 'INFO', payload: { text: name } })
    const { view } = await owner.client.do<{ view: { id: string } }>(
      'saveView',
      { projectId: project.id, screen: 'sessions', name: `${name} view`, state: {}, shared: true },
      'view{id}',
    )
    const { sessionId } = this.story
    const { intent } = await owner.client.do<{ intent: { id: string } }>(
      'correctIntent',
      { sessionId, text: `${name} task`, requirements: [`${name} requirement`], note: `${name} note` },
      'intent{id}',
    )
    const { checkpoint } = await owner.client.do<{ checkpoint: { id: string } }>(
      'createCheckpoint',
      { sessionId, label: `${name} place` },
      'checkpoint{id}',
    )
    const { actionId } = await allowedAction(this, this.story)
    const { db } = app
    const projectId = decodeId(project.id)?.id ?? ''
    const runId = decodeId(this.story.runId)?.id ?? ''
    const where = { projectId, runId }
    const [message, route, segment, signal, item, event, grant, audit] = await Promise.all([
      db.message.findFirstOrThrow({ where }),
      db.routeDecision.findFirstOrThrow({ where: { projectId } }),
      db.protocolSegment.findFirstOrThrow({ where }),
      db.runtimeSignal.findFirstOrThrow({ where }),
      db.inboxItem.findFirstOrThrow({ where }),
      db.projectEvent.findFirstOrThrow({ where: { projectId, runId } }),
      db.grant.findFirstOrThrow({ where: { principalId: decodeId(owner.id)?.id ?? '', tokenId: null } }),
      db.auditEntry.findFirstOrThrow({ where: { projectId } }),
    ])
    const here = (type: NodeType, id: string, position?: number) =>
      encodeId({ type, projectId, id, ...(position !== undefined && { position }) })
    Object.assign(this.ids, {
      Project: project.id,
      Session: this.story.sessionId,
      Run: this.story.runId,
      Runtime: runtime.id,
      Approval: approval.id,
      SavedView: view.id,
      Principal: owner.id,
      Token: owner.tokenId,
      Grant: encodeId({ type: 'Grant', id: grant.id }),
      AuditEntry: encodeId({ type: 'AuditEntry', id: audit.id }),
      Message: here('Message', message.id),
      RouteDecision: here('RouteDecision', route.id),
      RuntimeSignal: here('RuntimeSignal', signal.id),
      InboxItem: here('InboxItem', item.id),
      SessionEvent: here('SessionEvent', decodeId(this.story.sessionId)?.id ?? '', 1),
      ProjectEvent: here('ProjectEvent', projectId, Number(event.position)),
      IntentRevision: intent.id,
      Checkpoint: checkpoint.id,
      ProtocolSegment: here('ProtocolSegment', segment.id),
      Action: actionId,
      // No node by itself; whatever such an id says, it names nothing.
      Requirement: here('Requirement', runId),
    } satisfies Record<NodeType, string>)
    return this
  }

  /** A new session of this project with a run in progress. */
  async run(): Promise<Story> {
    await this.turn()
    const { story } = this
    const { runToken } = await this.owner.do<{ runToken: string }>(
      'startRun',
      { runId: story.runId, runtimeId: story.runtimeId },
      'runToken',
    )
    story.runToken = runToken
    return story
  }

  /** A new session with a turn that was offered to this side's own runtime. */
  async turn(): Promise<Story> {
    await this.story.session(`${this.name} session`)
    return this.say(`${this.name} turn`)
  }

  /** A run in progress that goes on with the task of a new session, which lists one requirement. */
  async work(): Promise<{ runId: string; runToken: string; intentId: string; requirementId: string }> {
    const { story, owner } = this
    await story.session(`${this.name} session`)
    const { intent } = await owner.do<{ intent: { id: string; requirements: { id: string }[] } }>(
      'correctIntent',
      {
        sessionId: story.sessionId,
        text: `${this.name} task`,
        requirements: [`${this.name} requirement`],
        note: `${this.name} note`,
      },
      'intent{id requirements{id}}',
    )
    await this.say('go on')
    const { runToken } = await owner.do<{ runToken: string }>(
      'startRun',
      { runId: story.runId, runtimeId: story.runtimeId },
      'runToken',
    )
    return {
      runId: story.runId,
      runToken,
      intentId: intent.id,
      requirementId: intent.requirements[0]?.id ?? '',
    }
  }

  private async say(text: string): Promise<Story> {
    const { story } = this
    const { run } = await this.owner.do<{ run: { id: string } }>(
      'submitTurn',
      { sessionId: story.sessionId, text, runtimeId: story.runtimeId },
      'run{id}',
    )
    story.runId = run.id
    return story
  }
}

const tools = [
  { name: 'run_sql', group: 'DATA', action: 'run_sql_readonly' },
  { name: 'read_file', group: 'FILE', action: 'read_file' },
]

type Inputs = Record<string, (side: Side) => object | Promise<object>>
const session = async (side: Side) => ({
  sessionId: (await side.story.session(`${side.name} session`)).sessionId,
})
const fenced = async (side: Side) => {
  const { runId, runToken } = await side.run()
  return { runId, runToken }
}
const grantee = (side: Side) =>
  principalWith(side.app, `${side.name} grantee`, [
    { capabilities: ['session.read'], projectId: side.ids.Project },
  ])
const grantInput = (side: Side) => ({
  capabilities: ['session.read'],
  projectId: side.ids.Project,
  sessionId: side.ids.Session,
})
/** An action that a run may do, and of which nothing is told yet. */
const allowedAction = (side: Side, { runId, runToken }: { runId: string; runToken: string }) =>
  side.owner.do<{ actionId: string }>('requestAction', { runId, runToken, tool: 'read_file' }, 'actionId')

let count = 0
const name = (side: Side) => {
  count += 1
  return `${side.name} ${count}`
}

/** A protocol of its own, whose text carries the side's name. */
const protocolText = (side: Side) => ({
  definition: JSON.stringify({
    id: name(side).replaceAll(' ', '-'),
    version: 1,
    title: name(side),
    initialPhase: 'only',
    phases: [{ name: 'only', allowedActions: ['ungoverned'], final: true }],
  }),
  format: 'JSON',
})

/**
 * A valid input for every mutation, in a project of its own, made anew each time. An operation that is missing here
 * fails the tests that go through all of them: that is how new operations get covered.
 */
export const validInputs: Inputs = {
  acknowledgeSignals: async (side) => {
    const { runId } = await side.run()
    const signal = await side.app.db.runtimeSignal.findFirstOrThrow({
      where: { runId: decodeId(runId)?.id ?? '' },
    })
    const signalIds = [encodeId({ type: 'RuntimeSignal', projectId: signal.projectId, id: signal.id })]
    return { runtimeId: side.ids.Runtime, signalIds }
  },
  cancelRun: async (side) => ({ runId: (await side.run()).runId, reason: `${side.name} reason` }),
  closeSession: session,
  commitRequirements: async (side) => {
    const { runId, runToken } = await side.work()
    return { runId, runToken, requirements: [name(side)] }
  },
  completeRun: async (side) => ({ ...(await fenced(side)), answer: side.name, usage: { inputTokens: 1 } }),
  correctIntent: async (side) => ({
    ...(await session(side)),
    text: `${side.name} task`,
    requirements: [`${side.name} requirement`],
    protocol: 'general-task',
    note: `${side.name} note`,
  }),
  createCheckpoint: async (side) => ({ ...(await session(side)), label: `${side.name} place` }),
  createPrincipal: (side) => ({ kind: 'SERVICE', name: name(side), grants: [grantInput(side)] }),
  createProject: (side) => ({ name: name(side) }),
  createSession: (side) => ({ projectId: side.ids.Project, title: name(side) }),
  createToken: (side) => ({
    name: name(side),
    principalId: side.ids.Principal,
    grants: [grantInput(side)],
  }),
  deleteSession: session,
  failRun: async (side) => ({ ...(await fenced(side)), code: 'TOOL_ERROR', message: side.name }),
  forkSession: async (side) => {
    const { sessionId } = await session(side)
    const { checkpoint } = await side.owner.do<{ checkpoint: { id: string } }>(
      'createCheckpoint',
      { sessionId },
      'checkpoint{id}',
    )
    return { sessionId, checkpointId: checkpoint.id, title: name(side) }
  },
  grantAccess: async (side) => ({ principalId: (await grantee(side)).id, grant: grantInput(side) }),
  handoffProtocol: async (side) => {
    const { intentId } = await side.work()
    await side.owner.do('cancelRun', { runId: side.story.runId, reason: side.name }, 'run{id}')
    return {
      sessionId: side.story.sessionId,
      expectedHeadId: intentId,
      to: 'data-analysis',
      reason: `${side.name} reason`,
    }
  },
  heartbeatRuntime: (side) => ({ runtimeId: side.ids.Runtime }),
  meetRequirement: async (side) => {
    const { runId, runToken, requirementId } = await side.work()
    return { runId, runToken, requirementId, actionId: await succeededAction(side.app, runId) }
  },
  openSession: session,
  proposeHandoff: async (side) => {
    const { runId, runToken } = await side.work()
    return { runId, runToken, to: 'data-analysis', reason: side.name, unresolvedGoals: [`${side.name} goal`] }
  },
  rebindRun: async (side) => {
    const { runId, intentId } = await side.work()
    return { runId, revisionId: intentId, note: `${side.name} note` }
  },
  rerouteRun: async (side) => {
    const { runId } = await side.work()
    return { runId, relation: 'SIDE_CHAT', reason: `${side.name} reason` }
  },
  recordActionResult: async (side) => {
    const run = await fenced(side)
    const { actionId } = await allowedAction(side, run)
    return { actionId, runToken: run.runToken, ok: true, resultDigest: side.name, facts: { rows: 3 } }
  },
  recordRunEvents: async (side) => ({
    ...(await fenced(side)),
    events: [{ type: 'INFO', payload: { text: side.name } }],
  }),
  recordUsage: async (side) => ({ ...(await fenced(side)), inputTokens: 1 }),
  registerProtocol: (side) => ({ projectId: side.ids.Project, ...protocolText(side) }),
  registerRuntime: (side) => ({
    projectId: side.ids.Project,
    name: name(side),
    kinds: ['general'],
    maxConcurrentRuns: 1,
    tools: [{ name: 'run_sql', group: 'DATA', action: 'run_sql_readonly' }],
  }),
  renameSession: async (side) => ({ ...(await session(side)), title: name(side) }),
  requestAction: async (side) => ({ ...(await fenced(side)), tool: 'read_file', argumentsDigest: side.name }),
  requestApproval: async (side) => ({
    ...(await fenced(side)),
    kind: 'QUESTION',
    title: side.name,
    payload: { name: side.name },
    options: ['yes', 'no'],
    defaultDecision: 'no',
  }),
  resolveApproval: async (side) => {
    await side.run()
    const approval = await side.story.writes.ask({ kind: 'TOOL', title: side.name, payload: {} })
    return { approvalId: approval.id, decision: 'allow' }
  },
  revertIntent: async (side) => {
    const { intentId } = await side.work()
    const { intent } = await side.owner.do<{ intent: { id: string } }>(
      'correctIntent',
      { sessionId: side.story.sessionId, expectedHeadId: intentId, text: name(side), note: side.name },
      'intent{id}',
    )
    return {
      sessionId: side.story.sessionId,
      expectedHeadId: intent.id,
      toRevisionId: intentId,
      note: `${side.name} note`,
    }
  },
  revokeGrant: async (side) => {
    const principal = await grantee(side)
    const grant = await side.app.db.grant.findFirstOrThrow({
      where: { principalId: decodeId(principal.id)?.id ?? '', tokenId: null },
    })
    return { grantId: encodeId({ type: 'Grant', id: grant.id }) }
  },
  revokeToken: async (side) => ({ tokenId: (await grantee(side)).tokenId }),
  saveView: (side) => ({ projectId: side.ids.Project, screen: 'sessions', name: name(side), state: {} }),
  startRun: async (side) => ({ runId: (await side.turn()).runId, runtimeId: side.ids.Runtime }),
  steerRun: async (side) => ({ runId: (await side.run()).runId, text: `${side.name} guidance` }),
  submitTurn: async (side) => ({
    ...(await session(side)),
    text: `${side.name} turn`,
    runtimeId: side.ids.Runtime,
  }),
  updateInboxItem: async (side) => {
    const { runId } = await side.run()
    await side.story.writes.fail()
    const item = await side.app.db.inboxItem.findFirstOrThrow({ where: { runId: decodeId(runId)?.id ?? '' } })
    const itemId = encodeId({ type: 'InboxItem', projectId: item.projectId, id: item.id })
    return { itemId, action: 'ASSIGN', assigneeId: side.ids.Principal }
  },
  updateProject: (side) => ({ projectId: side.ids.Project, name: name(side), defaultModel: 'some-model' }),
  updateProjectLimits: (side) => ({ projectId: side.ids.Project, limits: { runtimeGraceMs: 60_000 } }),
  updateSessionSettings: async (side) => ({ ...(await session(side)), model: name(side) }),
}

/** Operations that the owner of one project can't call; they are called by the owner of everything. */
export const beyondProjects = new Set(['createProject', 'health'])
