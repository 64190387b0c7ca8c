import { Link, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { StateMark } from '../../../kit/state-marks.tsx'
import { Timestamp } from '../../../kit/timestamp.tsx'
import { sessionSummary, summaryMark } from '../../runs/run-state.ts'
import { runText } from '../../runs/text.ts'
import { useOriginWords } from './branch-words.ts'
import type { FamilySession } from './family.ts'
import { layLanes } from './lanes.ts'
import { forksText } from './text.ts'

/** The same family as a nested list, in the order of the lanes: for a phone, and to be read out. */
export function BranchList({
  sessions,
  currentId,
}: {
  sessions: readonly FamilySession[]
  currentId: string
}) {
  const t = forksText.useText()
  const childrenOf = useMemo(() => {
    const found = new Map<string | null, FamilySession[]>()
    const ids = new Set(sessions.map(({ id }) => id))
    for (const { session } of layLanes(sessions).lanes) {
      const parent = session.parentId && ids.has(session.parentId) ? session.parentId : null
      found.set(parent, [...(found.get(parent) ?? []), session])
    }
    return found
  }, [sessions])
  return (
    <section className="branch-list" aria-label={t('sessions')}>
      <Level parent={null} childrenOf={childrenOf} currentId={currentId} />
    </section>
  )
}

type LevelProps = {
  parent: string | null
  childrenOf: ReadonlyMap<string | null, readonly FamilySession[]>
  currentId: string
}

function Level({ parent, childrenOf, currentId }: LevelProps) {
  const t = forksText.useText()
  const runs = runText.useText()
  const origin = useOriginWords()
  const { slug = '' } = useParams({ strict: false })
  const sessions = childrenOf.get(parent) ?? []
  if (sessions.length === 0) return null
  return (
    <ul>
      {sessions.map((session) => {
        const summary = sessionSummary(session)
        return (
          <li key={session.id}>
            <div className="branch-row" data-current={session.id === currentId || undefined}>
              <Link
                className="truncate"
                to="/p/$slug/sessions/$sessionId"
                params={{ slug, sessionId: session.id }}
                aria-current={session.id === currentId ? 'true' : undefined}
              >
                {session.title}
              </Link>
              {session.id === currentId && <span className="branch-current">{t('current')}</span>}
              <StateMark kind={summaryMark(summary)}>{runs(`state.${summary}`)}</StateMark>
              <span className="branch-origin mute">
                {session.origin && session.parentId === null ? t('hidden') : origin(session.origin)}{' '}
                <Timestamp at={session.createdAt} />
              </span>
            </div>
            <Level parent={session.id} childrenOf={childrenOf} currentId={currentId} />
          </li>
        )
      })}
    </ul>
  )
}
