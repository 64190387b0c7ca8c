import { decideAction, nameOf, type Protocol } from '../../../protocols/rules.ts'
import { toolGroups } from '../../rules.ts'
import { governorOf, type Tool } from '../rules.ts'

/*
 * The tools of a run as they stand. It informs; only `requestAction` authorises. In this order:
 *
 *   1. what the runtime declared, by family;
 *   2. of the skills: those that the project denies go, then, where it names any, all that it does not name; tools by which
 *      an agent finds skills always stay;
 *   3. the tools of MCP, each server by a list of its own;
 *   4. the handoff and the requirements, which are always there;
 *   then what the phase of the moment says of each.
 */

export interface PlanSettings {
  /** Names, or `prefix*`. */
  skillDeny: readonly string[]
  /** The same; empty: all. */
  skillAllow: readonly string[]
  /** Of a server that is named, only these tools. */
  mcpAllow: readonly { server: string; tools: readonly string[] }[]
}
export interface PlanEntry extends Tool {
  group: (typeof toolGroups)[number]
  source: string
  exposed: boolean
  status: 'AVAILABLE' | 'PROTOCOL_DISABLED'
  reasons: string[]
  /** The protocol to which a handoff would enable it. */
  handoffTo: string | null
}

const server = 'wheelhouse'
const always = [
  { name: 'protocol_handoff', group: 'TASK', action: 'protocol.handoff.propose' },
  { name: 'analysis_requirements_commit', group: 'TASK', action: 'analysis.requirements.commit' },
] as const
/** By these an agent finds out what skills there are: they stay whatever is denied. */
const skillMeta = new Set(['skill.list', 'skill.search', 'skill.describe'])

const isNamed = (patterns: readonly string[], name: string) =>
  patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name,
  )

/** Whether the project shows a tool, and why. */
export function exposureOf(tool: Tool, settings: PlanSettings): { exposed: boolean; reason: string | null } {
  const { name } = tool
  if (tool.group === 'SKILL') {
    if (skillMeta.has(tool.action)) return { exposed: true, reason: 'finds skills: always shown' }
    if (isNamed(settings.skillDeny, name)) return { exposed: false, reason: 'denied by the project’s skills' }
    if (settings.skillAllow.length === 0) return { exposed: true, reason: null }
    return isNamed(settings.skillAllow, name)
      ? { exposed: true, reason: 'allowed by the project’s skills' }
      : { exposed: false, reason: 'not among the project’s allowed skills' }
  }
  if (tool.group === 'MCP') {
    const list = settings.mcpAllow.find((each) => each.server === tool.server)
    if (!list) return { exposed: true, reason: null }
    return isNamed(list.tools, name)
      ? { exposed: true, reason: `allowed for the server ${list.server}` }
      : { exposed: false, reason: `not allowed for the server ${list.server}` }
  }
  return { exposed: true, reason: null }
}

export interface PlanAt {
  protocol: Protocol
  phase: string
  protocols: readonly Protocol[]
  /** The ids that the project allows; null: all. */
  allowed: readonly string[] | null
  isGoverned: (action: string) => boolean
}

const phasesFor = (protocol: Protocol, action: string, isGoverned: PlanAt['isGoverned']) =>
  protocol.phases
    .map(({ name }) => name)
    .filter((phase) => decideAction(protocol, phase, action, isGoverned) !== 'DENIED')

/** Where a handoff would enable an action: the protocol that governs it, or else the first that has a phase for it. */
function wayTo(action: string, at: PlanAt): string | null {
  const { protocol: from } = at
  const reachable = at.protocols.filter(
    (protocol) =>
      protocol.id !== from.id &&
      (!at.allowed || protocol.id === 'general-task' || at.allowed.includes(protocol.id)) &&
      (!from.handoffTo ||
        from.handoffTo.includes(protocol.id) ||
        from.handoffTo.includes(nameOf(protocol))) &&
      !at.protocols.some((other) => other.id === protocol.id && other.version > protocol.version) &&
      phasesFor(protocol, action, at.isGoverned).length > 0,
  )
  const governor = governorOf(action, from, at.protocols)
  const [best] = reachable.sort((a, b) => Number(nameOf(b) === governor) - Number(nameOf(a) === governor))
  return best ? nameOf(best) : null
}

function availabilityOf(
  action: string,
  at: PlanAt,
): Pick<PlanEntry, 'status' | 'handoffTo'> & { reason: string } {
  const here = `${nameOf(at.protocol)}, ${at.phase}`
  const verdict = decideAction(at.protocol, at.phase, action, at.isGoverned)
  if (verdict !== 'DENIED') {
    const reason = verdict === 'ALLOWED' ? `allowed in ${here}` : `allowed in ${here} once an owner allows it`
    return { status: 'AVAILABLE', handoffTo: null, reason }
  }
  const later = phasesFor(at.protocol, action, at.isGoverned)
  const handoffTo = later.length > 0 ? null : wayTo(action, at)
  const way =
    later.length > 0
      ? `; in ${later.join(', ')} it is`
      : handoffTo
        ? `; a handoff to ${handoffTo} has it`
        : ''
  return { status: 'PROTOCOL_DISABLED', handoffTo, reason: `not allowed in ${here}${way}` }
}

/** The plan of a run, as things are now. */
export function planOf(
  runtime: { name: string; tools: readonly Tool[] },
  settings: PlanSettings,
  at: PlanAt,
): PlanEntry[] {
  const family = ({ group }: Tool) => toolGroups.indexOf(group as PlanEntry['group'])
  const declared = [...runtime.tools].sort((a, b) => family(a) - family(b) || (a.name < b.name ? -1 : 1))
  const own = always.filter(({ name }) => !declared.some((tool) => tool.name === name))
  const entry = (tool: Tool, source: string, first: string): PlanEntry => {
    const { exposed, reason } = exposureOf(tool, settings)
    const available = availabilityOf(tool.action, at)
    return {
      ...tool,
      group: tool.group as PlanEntry['group'],
      source,
      exposed,
      status: available.status,
      handoffTo: available.handoffTo,
      reasons: [first, ...(reason ? [reason] : []), available.reason],
    }
  }
  return [
    ...declared.map((tool) => entry(tool, runtime.name, 'declared by the runtime')),
    ...own.map((tool) => entry(tool, server, 'always there')),
  ]
}
