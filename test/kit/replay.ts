/** An event of a journal, as the API gives it. */
export interface Told {
  sequence: number
  type: string
  runId: string | null
  at: string
  payload: Record<string, unknown>
}

/** A revision of a task, under its public ids. */
export interface ToldRevision {
  id: string
  number: number
  previous: string | null
  taskId: string
  protocol: string
  text: string
  requirements: { id: string; text: string; messageId: string | null }[]
  changeKind: string
  runId: string | null
  messageId: string | null
  author: string
  note: string | null
  at: string
}
export interface ToldBinding {
  runId: string
  number: number
  base: string | null
  active: string | null
  relation: string
  reason: string
  by: string
  at: string
}
export interface ToldSegment {
  id: string
  runId: string
  number: number
  protocol: string
  state: string
  revision: number
  phase: string
  facts: Record<string, boolean | number>
  openedBy: string
  closedBy: string | null
  openedAt: string
  closedAt: string | null
}
/** All that must be known of a session’s work, in the order in which it came about. */
export interface Standing {
  head: string | null
  revisions: ToldRevision[]
  bindings: ToldBinding[]
  segments: ToldSegment[]
  /** Of each ended run: its state, and the task that the session was at then. */
  ended: { runId: string; state: string; head: string | null }[]
  /** What has become of requirements, by id; what nothing was said of is open. */
  requirements: Record<string, string>
}

const endOf: Record<string, string> = {
  RUN_COMPLETED: 'COMPLETED',
  RUN_FAILED: 'FAILED',
  RUN_CANCELLED: 'CANCELLED',
  RUN_TIMED_OUT: 'TIMED_OUT',
}

/**
 * Rebuilds a session from its journal alone, from its first event on. What had become of the requirements when a fork
 * began is told by its parent’s journal: `begun` is the parent at that place.
 */
export function replay(journal: readonly Told[], begun?: Pick<Standing, 'requirements'>): Standing {
  const now: Standing = {
    head: null,
    revisions: [],
    bindings: [],
    segments: [],
    ended: [],
    requirements: { ...begun?.requirements },
  }
  const said = new Map<string, string>()
  for (const { type, payload: p, runId, at } of journal) {
    const text = (name: string) => (p[name] ?? null) as string
    const number = (name: string) => p[name] as number
    const bind = (run: string, reason: string, by: string) =>
      now.bindings.push({
        runId: run,
        number: now.bindings.filter((each) => each.runId === run).length + 1,
        base: text('base'),
        active: text('active'),
        relation: text('relation'),
        reason,
        by,
        at,
      })
    const segment = () => {
      const found = now.segments.find((each) => each.id === text('segmentId'))
      if (!found) throw new Error(`the journal tells of a segment that it has not told the start of: ${type}`)
      return found
    }
    switch (type) {
      case 'SESSION_FORKED':
        now.head = text('revisionId')
        break
      case 'MESSAGE':
        if (runId !== null && !said.has(runId)) said.set(runId, text('author'))
        break
      case 'ROUTE_DECIDED':
        // The first decision of a run binds it; a later one is told with its own binding.
        if (runId !== null && !now.bindings.some((each) => each.runId === runId))
          bind(runId, 'TURN', said.get(runId) ?? '')
        break
      case 'INTENT_REVISED':
        now.head = text('revisionId')
        now.revisions.push({
          id: text('revisionId'),
          number: number('number'),
          previous: text('previousId'),
          taskId: text('taskId'),
          protocol: text('protocol'),
          text: text('text'),
          requirements: p.requirements as ToldRevision['requirements'],
          changeKind: text('changeKind'),
          runId: text('runId'),
          messageId: text('messageId'),
          author: text('author'),
          note: text('note'),
          at,
        })
        break
      case 'INTENT_REBOUND':
        bind(text('runId'), text('reason'), text('by'))
        break
      case 'REQUIREMENT_CHANGED':
        now.requirements[text('requirementId')] = text('state')
        break
      case 'SEGMENT_STARTED':
        now.segments.push({
          id: text('segmentId'),
          runId: runId ?? '',
          number: number('number'),
          protocol: text('protocol'),
          state: 'ACTIVE',
          revision: 1,
          phase: text('phase'),
          facts: {},
          openedBy: text('openedBy'),
          closedBy: null,
          openedAt: at,
          closedAt: null,
        })
        break
      case 'ACTION_COMPLETED':
        if (p.segment) Object.assign(segment(), p.segment)
        break
      case 'SEGMENT_ENDED':
        Object.assign(segment(), {
          state: text('state'),
          revision: number('revision'),
          phase: text('phase'),
          closedBy: text('closedBy'),
          closedAt: at,
        })
        break
      default:
        if (endOf[type]) now.ended.push({ runId: runId ?? '', state: endOf[type], head: now.head })
    }
  }
  return now
}
