import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Problem } from '../data/outcome.ts'
import { useProblemText } from './problem-notice.tsx'
import { kitText } from './text.ts'
import './empty-state.css'

type EmptyStateProps = {
  /** The cause, in words: nothing yet, a filter hides it, no access, failed. */
  title: string
  children?: ReactNode
  /** The way on. */
  action?: ReactNode
}

export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className="empty-state" role="status">
      <p className="empty-state-title">{title}</p>
      {children && <p className="mute">{children}</p>}
      {action && <div className="empty-state-action">{action}</div>}
    </div>
  )
}

/** A filter hides everything: says how much, when it is known, and removes it. */
export function FilteredEmpty({ hidden, onClear }: { hidden?: number | undefined; onClear: () => void }) {
  const t = kitText.useText()
  return (
    <EmptyState
      title={hidden ? t('empty.filtered', { count: hidden }) : t('empty.filteredSome')}
      action={
        <Button variant="default" size="xs" onClick={onClear}>
          {t('clearFilters')}
        </Button>
      }
    />
  )
}

/** The query failed: no access, not there, or no answer. */
export function FailedState({ problem, onRetry }: { problem: Problem; onRetry?: (() => void) | undefined }) {
  const t = kitText.useText()
  const { title } = useProblemText(problem)
  const hidden = problem.code === 'PERMISSION_DENIED'
  return (
    <EmptyState
      title={hidden ? t('empty.noAccess') : t('empty.failed')}
      action={
        onRetry && (
          <Button variant="default" size="xs" onClick={onRetry}>
            {t('retry')}
          </Button>
        )
      }
    >
      {hidden ? t('empty.noAccessHint') : title}
    </EmptyState>
  )
}
