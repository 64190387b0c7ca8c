interface Placed {
  intent: { number: number; protocol: string } | null
  activeRun: { route: { protocol: string }; segment: { protocol: string; phase: string } | null } | null
  lastRun: { route: { protocol: string } } | null
}

/**
 * Under which protocol a session is, and in which phase while a run lives: the segment in force, else that of its task,
 * else what its last run was routed to.
 */
export function placeOf({
  intent,
  activeRun,
  lastRun,
}: Placed): { protocol: string; phase: string | null } | null {
  if (activeRun?.segment) return { protocol: activeRun.segment.protocol, phase: activeRun.segment.phase }
  const protocol = activeRun?.route.protocol ?? intent?.protocol ?? lastRun?.route.protocol
  return protocol === undefined ? null : { protocol, phase: null }
}

/** The same in one line. */
export function placeWords(place: { protocol: string; phase: string | null } | null): string | null {
  return place && [place.protocol, place.phase].filter(Boolean).join(' · ')
}

interface Bound {
  binding: { active: { number: number } | null }
  headAtEnd: { number: number } | null
  endedAt: string | null
}

/** The revision that a run acted under and the task's, where they are not the same: of a live run now, of an ended one then. */
export function behindHead(
  run: Bound,
  head: { number: number } | null,
): { acted: number; head: number } | null {
  const acted = run.binding.active?.number
  const task = (run.endedAt === null ? head : run.headAtEnd)?.number
  return acted === undefined || task === undefined || acted === task ? null : { acted, head: task }
}
