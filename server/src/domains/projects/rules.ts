import { invalid, type Refusal } from '../../platform/refusal.ts'

/*
 * A project is the isolation boundary. It has a name, a slug (its address in URLs), defaults for new sessions, limits,
 * and a version that every change raises: who passes the version that it saw changes nothing it has not seen.
 */

export const routeCorrections = ['AGENT', 'OWNER_CONFIRMS', 'OFF'] as const
/** Who may undo the route of a run: its agent, its agent once an owner confirms, or nobody. */
export type RouteCorrection = (typeof routeCorrections)[number]

/** Of an MCP server, the tools that are shown. */
export interface McpAllow {
  server: string
  tools: string[]
}
/** What of a runtime's tools is shown in a project. */
export interface ToolSettings {
  skillDeny: string[]
  skillAllow: string[]
  mcpAllow: McpAllow[]
}

export const thinkingLevels = ['OFF', 'LOW', 'MEDIUM', 'HIGH'] as const
export type ThinkingLevel = (typeof thinkingLevels)[number]

interface Limit {
  default: number
  min: number
  max: number
  /** In the words of the schema and of the console. */
  description: string
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** The one table of limits: their defaults and ranges. The database checks the same ranges (a test compares them). */
export const limits = {
  maxConcurrentRuns: { default: 4, min: 1, max: 10_000, description: 'Runs alive at once in the project.' },
  maxLiveRunsPerSession: {
    default: 1,
    min: 1,
    max: 8,
    description: 'Runs alive at once in one session; more than one where parallel agents are wanted.',
  },
  maxOpenSessions: { default: 1_000, min: 1, max: 1_000_000, description: 'Open sessions at once.' },
  eventRetentionDays: {
    default: 90,
    min: 1,
    max: 3_650,
    description: 'Days for which the journal of events is kept.',
  },
  maxEventBytes: {
    default: 262_144,
    min: 1_024,
    max: 1_048_576,
    description: 'Bytes of one event’s payload, as canonical UTF-8 JSON.',
  },
  runTimeoutMs: {
    default: hour,
    min: second,
    max: 7 * day,
    description: 'Milliseconds that a run may take; the time in which it waits for an answer does not count.',
  },
  offerTimeoutMs: {
    default: 30 * second,
    min: second,
    max: hour,
    description: 'Milliseconds in which a runtime must start a run that it was offered.',
  },
  runtimeGraceMs: {
    default: minute,
    min: 30 * second,
    max: hour,
    description: 'Milliseconds of silence after which a runtime’s running runs are lost.',
  },
  approvalTtlMs: {
    default: day,
    min: second,
    max: 24 * day,
    description: 'Milliseconds in which an ask is answered before its default applies.',
  },
} as const satisfies Record<string, Limit>

export type LimitName = keyof typeof limits
export type Limits = Record<LimitName, number>
export const limitNames = Object.keys(limits) as LimitName[]

export const defaultLimits = Object.fromEntries(
  limitNames.map((name) => [name, limits[name].default]),
) as Limits

/** What changing limits comes to: those that differ, as before and after; or a refusal that names each bad one. */
export function changeLimits(
  current: Limits,
  wanted: Partial<Record<LimitName, number | undefined>>,
): { limits: Limits; changed: Partial<Record<LimitName, { from: number; to: number }>> } | Refusal {
  const next: Limits = { ...current }
  const changed: Partial<Record<LimitName, { from: number; to: number }>> = {}
  for (const name of limitNames) {
    const to = wanted[name]
    if (to === undefined) continue
    const { min, max } = limits[name]
    if (!Number.isInteger(to) || to < min || to > max)
      return invalid(['limits', name], `must be a whole number from ${min} to ${max}`)
    if (to === current[name]) continue
    changed[name] = { from: current[name], to }
    next[name] = to
  }
  return { limits: next, changed }
}

export const maxNameLength = 120
export const maxSlugLength = 64
export const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** The slug that a name suggests: its Latin letters and digits in lower case. Empty when it has none. */
export function slugOf(name: string): string {
  return trimSlug(
    name
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-'),
    maxSlugLength,
  )
}

const trimSlug = (text: string, length: number) => text.replace(/^-+/, '').slice(0, length).replace(/-+$/, '')

/**
 * The slugs to try for a name, best first: what the name suggests, then numbered, and last with `short` (8 letters or
 * digits of the project's own id), which nobody else has. A name without Latin letters or digits gets `project-<short>`.
 */
export function slugCandidates(name: string, short: string): string[] {
  const base = slugOf(name)
  if (base === '') return [`project-${short}`]
  const suffixed = (suffix: string) => `${trimSlug(base, maxSlugLength - suffix.length - 1)}-${suffix}`
  return [base, ...['2', '3', '4', '5', '6', '7', '8', '9'].map(suffixed), suffixed(short)]
}

/** The part of a project's id that tells it from others: the last 8 hexadecimal digits, which are random. */
export const shortOf = (projectId: string) => projectId.slice(-8)

export const savedViewLimits = { screen: 64, name: 80, stateBytes: 16_384, perPerson: 200 }

/** Protocols that a project allows, as they are kept: each once, in order, the general one among them; none: all. */
export const allowedList = (ids: readonly string[]): string[] =>
  ids.length === 0 ? [] : [...new Set(['general-task', ...ids])].sort()
