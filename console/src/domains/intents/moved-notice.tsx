import { Button } from '@mantine/core'
import type { Problem } from '../../data/outcome.ts'
import { ProblemNotice } from '../../kit/problem-notice.tsx'
import type { RevisionView } from './task-queries.ts'
import { taskText } from './text.ts'

type MovedProps = {
  problem: Problem | undefined
  /** The revision that the form was made for, and the one that the session is at by now. */
  base: RevisionView | null
  head: RevisionView | null
  onUse: () => void
}

/** A refusal; that somebody else was faster is said with what the task is now, and one step from going on from there. */
export function MovedNotice({ problem, base, head, onUse }: MovedProps) {
  const t = taskText.useText()
  if (problem?.code !== 'SESSION_INTENT_REVISION_CONFLICT') return <ProblemNotice problem={problem} />
  const known = head !== null && head.id !== base?.id ? head : null
  return (
    <div className="task-notice" role="alert">
      <p>
        <b>{known ? t('moved.title', { number: known.number }) : t('moved.titleGone')}</b>
      </p>
      {known && <p dir="auto">{t('moved.body', { name: known.author.name, text: known.text })}</p>}
      <p className="mute">{t('moved.kept')}</p>
      {known && (
        <Button size="compact-xs" variant="default" onClick={onUse}>
          {t('moved.use', { number: known.number })}
        </Button>
      )}
    </div>
  )
}
