import { Button, SegmentedControl } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { lazy, Suspense, useCallback, useState } from 'react'
import { EmptyState, FailedState } from '../../../kit/empty-state.tsx'
import { AppPending } from '../../../shell/pending.tsx'
import { BranchList } from './branch-list.tsx'
import { ForkDialog, type ForkFrom } from './fork-dialog.tsx'
import { forksText } from './text.ts'
import { useFamily } from './use-family.ts'
import './forks.css'

const BranchCanvas = lazy(() =>
  import('./branch-canvas.tsx').then(({ BranchCanvas }) => ({ default: BranchCanvas })),
)

type BranchGraphProps = {
  projectId: string
  sessionId: string
  /** The fork was made: opens it. */
  onForked: (sessionId: string) => void
  /** Which of the two; without it, what the width of the page calls for. Keep the choice in the address. */
  view?: 'graph' | 'list' | undefined
  onView?: ((view: 'graph' | 'list') => void) | undefined
}

/**
 * The session with all that it was forked from and all that was forked from it, followed live: as lanes, or as a list.
 * A click on a session opens it, a click on a place forks from there.
 */
export function BranchGraph({ projectId, sessionId, onForked, view, onView }: BranchGraphProps) {
  const t = forksText.useText()
  const { family, problem, reread } = useFamily(projectId, sessionId)
  const narrow = useMediaQuery('(max-width: 700px)', undefined, { getInitialValueInEffect: false })
  const [chosen, setChosen] = useState(view)
  const [from, setFrom] = useState<{ sessionId: string; from?: ForkFrom | undefined }>()
  const onFork = useCallback((place: ForkFrom, of: string) => setFrom({ sessionId: of, from: place }), [])
  const shown = view ?? chosen ?? (narrow ? 'list' : 'graph')
  if (!family)
    return problem ? <FailedState problem={problem} onRetry={() => void reread()} /> : <AppPending />
  const current = family.sessions.find(({ id }) => id === sessionId)
  const top = family.sessions[0]
  return (
    <div className="branches">
      <div className="branches-bar">
        <SegmentedControl
          size="xs"
          aria-label={t('view')}
          value={shown}
          onChange={(value) => {
            const next = value === 'list' ? 'list' : 'graph'
            if (onView) onView(next)
            else setChosen(next)
          }}
          data={[
            { value: 'graph', label: t('graph') },
            { value: 'list', label: t('list') },
          ]}
        />
        <span className="grow" />
        <Button size="compact-sm" onClick={() => setFrom({ sessionId })}>
          {t('forkThis')}
        </Button>
      </div>
      {top?.origin && top.parentId === null && <p className="branches-note mute">{t('hidden')}</p>}
      {shown === 'list' ? (
        <BranchList sessions={family.sessions} currentId={sessionId} />
      ) : (
        <Suspense fallback={<AppPending />}>
          <BranchCanvas sessions={family.sessions} currentId={sessionId} onFork={onFork} />
        </Suspense>
      )}
      {family.sessions.length === 1 && (
        <EmptyState title={t('alone')}>
          {t('aloneHint')} {current?.places.length === 0 && t('noPlaces')}
        </EmptyState>
      )}
      {family.cut && <p className="branches-note mute">{t('cut')}</p>}
      {family.sessions.some(({ hasOlderPlaces }) => hasOlderPlaces) && (
        <p className="branches-note mute">{t('older')}</p>
      )}
      {from && (
        <ForkDialog
          sessionId={from.sessionId}
          from={from.from}
          onClose={() => setFrom(undefined)}
          onForked={(id) => {
            setFrom(undefined)
            onForked(id)
          }}
        />
      )}
    </div>
  )
}
