import { invalid, notFound, Refusal } from '../../platform/refusal.ts'

/*
 * Who may do what.
 *
 *   principal ──has──▶ grant (capabilities on: everything | a project | a session)
 *       └──has──▶ token ──narrowed by──▶ grant
 *
 * A call is allowed when a grant of the principal covers it and, for a token, a grant of the token covers it too.
 * `project.own` on a scope implies every capability there. Everything else is denied.
 */

export const principalKinds = ['PERSON', 'SERVICE', 'RUNTIME', 'WORKER', 'VERIFIER', 'CHANNEL'] as const
export type PrincipalKind = (typeof principalKinds)[number]

export type GrantScope = 'ALL' | 'PROJECT' | 'SESSION'
const everywhere: GrantScope[] = ['ALL', 'PROJECT', 'SESSION']
const projectUp: GrantScope[] = ['ALL', 'PROJECT']
const allOnly: GrantScope[] = ['ALL']

export interface CapabilityFacts {
  description: string
  writes: boolean
  scopes: GrantScope[]
}
const reads = (description: string, scopes = everywhere): CapabilityFacts => ({
  description,
  writes: false,
  scopes,
})
const writes = (description: string, scopes = everywhere): CapabilityFacts => ({
  description,
  writes: true,
  scopes,
})

/** The complete table. Reading never implies writing, and each family of writes has a capability of its own. */
export const capabilities = {
  'access.manage': writes('Create principals and tokens, grant and revoke', projectUp),
  'apps.list': reads('List the programs of the host', allOnly),
  'approval.resolve': writes('Answer what agents ask'),
  'artifact.read': reads('Read the files of a session’s workspace'),
  'attachment.read': reads('Read attachments'),
  'attachment.write': writes('Upload attachments'),
  'audit.read': reads('Read the audit log', projectUp),
  'automation.manage': writes('Define, pause and run automations', projectUp),
  'delivery.manage': writes('Bind channels and webhooks, redeliver', projectUp),
  'emergency.stop': writes('Stop everything, and lift the stop', projectUp),
  'evaluation.feedback': writes('Judge results', projectUp),
  'evaluation.read': reads('Read evaluations', projectUp),
  'event.read': reads('Read and watch the journal'),
  'fs.list': reads('List directories of the host', allOnly),
  'intake.record': writes('Record what came in from a channel', projectUp),
  'intent.correct': writes('Correct and revert the task of a session'),
  'memory.read': reads('Recall memories', projectUp),
  'memory.write': writes('Remember and forget', projectUp),
  'ops.read': reads('Read health and metrics', allOnly),
  'policy.read': reads('Read policy sets and budgets', projectUp),
  'policy.write': writes('Draft and activate policy', projectUp),
  'project.create': writes('Create projects', allOnly),
  'project.own': writes('Own the project: implies every capability in it', projectUp),
  'project.read': reads('See a project, its limits and its runtimes', projectUp),
  'project.register': writes('Register a workspace directory as a project', allOnly),
  'project.settings': writes('Change a project’s name, defaults and limits', projectUp),
  'protocol.handoff': writes('Hand a session over to another protocol'),
  'protocol.read': reads('Read protocol definitions', projectUp),
  'protocol.register': writes('Register protocols', projectUp),
  'routing.configure': writes('Configure the router', projectUp),
  'routing.label': writes('Label route decisions', projectUp),
  'run.execute': writes('Take runs and write to them, as an agent runtime', projectUp),
  'runtime.register': writes('Register an agent runtime', projectUp),
  'session.close': writes('Close sessions'),
  'session.create': writes('Create sessions', projectUp),
  'session.delete': writes('Delete sessions with their history'),
  'session.export': reads('Export transcript and journal'),
  'session.fork': writes('Fork sessions and make checkpoints'),
  'session.goal': writes('Set and change the goal of a session'),
  'session.import': writes('Import sessions', projectUp),
  'session.open': writes('Open closed sessions'),
  'session.read': reads('See sessions, runs, messages and approvals'),
  'session.rename': writes('Rename sessions'),
  'session.settings': writes('Change a session’s model settings'),
  'source.manage': writes('Manage signal sources', projectUp),
  'turn.cancel': writes('Cancel runs'),
  'turn.steer': writes('Steer runs in progress'),
  'turn.submit': writes('Submit turns'),
  'verifier.receipt': writes('Record acceptance receipts', projectUp),
  'work.admit': writes('Admit work items', projectUp),
  'work.claim': writes('Claim work items and report on them', projectUp),
  'work.manage': writes('Reopen, extend, prioritise, reassign work items', projectUp),
  'work.override': writes('Override admission gates', projectUp),
  'work.read': reads('See work items', projectUp),
  'work.withdraw': writes('Withdraw work items', projectUp),
  'workspace.open': writes('Open workspace files in programs of the host'),
} satisfies Record<string, CapabilityFacts>

export type Capability = keyof typeof capabilities
export const isCapability = (name: string): name is Capability => Object.hasOwn(capabilities, name)

/** Where a capability is asked for: everything, a project, or a session of it. */
export interface Scope {
  projectId?: string | undefined
  sessionId?: string | undefined
}

export interface GrantFacts extends Scope {
  capabilities: readonly string[]
}

export type Channel = 'CONSOLE' | 'API' | 'AGENT' | 'SYSTEM'

/** A caller as the rules see it. `tokenGrants` is null for a signed-in person, whose grants nothing narrows. */
export interface Viewer {
  principalId: string
  principalKind: PrincipalKind
  tokenId: string | null
  /** Which sign-in of a person it is, so that signing out ends what was opened with it; null for a token. */
  signInId: string | null
  /** When the credential (token or signed-in session) ends. */
  expiresAt: Date | null
  channel: Channel
  grants: readonly GrantFacts[]
  tokenGrants: readonly GrantFacts[] | null
}

const covers = (grant: GrantFacts, scope: Scope) =>
  grant.projectId === undefined ||
  (grant.projectId === scope.projectId &&
    (grant.sessionId === undefined || grant.sessionId === scope.sessionId))

const holds = (grants: readonly GrantFacts[], capability: Capability, scope: Scope) =>
  grants.some(
    (grant) =>
      covers(grant, scope) &&
      (grant.capabilities.includes(capability) || grant.capabilities.includes('project.own')),
  )

/** Whether the caller may do this there. */
export function allows(viewer: Viewer, capability: Capability, scope: Scope): boolean {
  return (
    holds(viewer.grants, capability, scope) &&
    (viewer.tokenGrants === null || holds(viewer.tokenGrants, capability, scope))
  )
}

/** The capability that makes a thing of this kind visible at all. */
export type Sight =
  | 'project.read'
  | 'session.read'
  | 'access.manage'
  | 'audit.read'
  | 'ops.read'
  | 'event.read'

/** Whether a project exists for the caller: it may do anything at all there or in one of its sessions. */
export function seesProject(viewer: Viewer, projectId: string): boolean {
  return visibleProjects(viewer) === 'all' || (visibleProjects(viewer) as string[]).includes(projectId)
}

/** The projects that exist for the caller: every one, or these. Lists filter by it before they page. */
export function visibleProjects(viewer: Viewer): 'all' | string[] {
  const of = (grants: readonly GrantFacts[]) =>
    grants.some((grant) => grant.projectId === undefined)
      ? ('all' as const)
      : [...new Set(grants.map((grant) => grant.projectId as string))]
  const own = of(viewer.grants)
  if (viewer.tokenGrants === null) return own
  const narrowed = of(viewer.tokenGrants)
  if (own === 'all') return narrowed
  return narrowed === 'all' ? own : own.filter((id) => narrowed.includes(id))
}

/**
 * The sessions of a project in which the caller holds a capability: every one, or these. Lists filter by it.
 */
export function sessionsWith(viewer: Viewer, capability: Capability, projectId: string): 'all' | string[] {
  if (allows(viewer, capability, { projectId })) return 'all'
  const named = [...viewer.grants, ...(viewer.tokenGrants ?? [])]
    .filter((grant) => grant.projectId === projectId && grant.sessionId !== undefined)
    .map((grant) => grant.sessionId as string)
  return [...new Set(named)].filter((sessionId) => allows(viewer, capability, { projectId, sessionId }))
}

/**
 * Allows, or refuses in the way that leaks nothing: NOT_FOUND for what the caller can't see, PERMISSION_DENIED for
 * what it can see but not do.
 */
export function authorize(
  viewer: Viewer,
  capability: Capability,
  scope: Scope,
  sight?: Capability,
): Refusal | null {
  if (allows(viewer, capability, scope)) return null
  const visible = sight
    ? allows(viewer, sight, scope)
    : scope.projectId === undefined || seesProject(viewer, scope.projectId)
  return visible
    ? new Refusal('PERMISSION_DENIED', `This needs the capability ${capability}.`, { capability })
    : notFound()
}

/** Checks a grant that someone wants to give: known capabilities, a scope that each of them can have. */
export function checkGrant(grant: GrantFacts, path: string[]): Refusal | null {
  if (grant.capabilities.length === 0) return invalid([...path, 'capabilities'], 'names no capability')
  const scope: GrantScope = grant.sessionId ? 'SESSION' : grant.projectId ? 'PROJECT' : 'ALL'
  for (const [index, name] of grant.capabilities.entries()) {
    const at = [...path, 'capabilities', String(index)]
    if (!isCapability(name)) return invalid(at, 'is not a capability')
    if (!capabilities[name].scopes.includes(scope)) return invalid(at, `can't be given on the scope ${scope}`)
  }
  return null
}

/** A grant can't give what its giver does not hold on the same scope. */
export function exceeds(giver: Viewer, grant: GrantFacts): Capability | null {
  for (const name of grant.capabilities) {
    if (isCapability(name) && !allows(giver, name, grant)) return name
  }
  return null
}

/** An operation on a thing and whether it would be let through now. */
export interface AllowedAction {
  action: string
  allowed: boolean
  reason: string | null
}

/** `action` is the mutation's name; `refusal` what its rules say. */
export const allowedAction = (action: string, refusal: Refusal | null): AllowedAction => ({
  action,
  allowed: refusal === null,
  reason: refusal?.message ?? null,
})
