import { Button } from '@mantine/core'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { useQuery } from 'urql'
import { problemOf } from '../../data/outcome.ts'
import { actionOf } from '../../kit/allowed.ts'
import { FailedState } from '../../kit/empty-state.tsx'
import { RevisionFlag } from '../../kit/revision-flag.tsx'
import { Timestamp } from '../../kit/timestamp.tsx'
import type { TaskDialog, TaskSession } from './task-dialog.ts'
import './task-panel.css'
import { type HistoryRow, type RequirementEvent, type RevisionView, TaskHistory } from './task-queries.ts'
import { taskText } from './text.ts'

const RevisionDiff = lazy(() =>
  import('./revision-diff.tsx').then(({ RevisionDiff }) => ({ default: RevisionDiff })),
)
const PAGE = 20
const MOST = 100

type TaskPanelProps = {
  session: TaskSession
  onDialog: (dialog: TaskDialog) => void
  /** Opens the event with this sequence. */
  onEvent: (sequence: number) => void
  part: (title: string, right: ReactNode, children: ReactNode) => ReactNode
}

/** What the session is about: the task, what it requires and what became of that, and who changed it when and why. */
export function TaskPanel({ session, onDialog, onEvent, part }: TaskPanelProps) {
  const t = taskText.useText()
  const [first, setFirst] = useState(PAGE)
  const [{ data, error, fetching }, reread] = useQuery({
    query: TaskHistory,
    variables: { id: session.id, first },
    requestPolicy: 'cache-and-network',
  })
  const { intent } = session
  // The session is read again when something happens to the task; then its history is another one too.
  const stamp = `${intent?.id} ${intent?.requirements.map(({ id, state }) => id + state)}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: reads again when the task has moved
  useEffect(() => reread({ requestPolicy: 'network-only' }), [stamp])
  const history = data?.session?.intentHistory
  const evidence = new Map(
    data?.session?.requirementEvents.events.flatMap((event) =>
      event.detail?.__typename === 'RequirementDetail' ? [[event.detail.requirementId, event] as const] : [],
    ),
  )
  const mayRevert = actionOf(session.allowedActions, 'revertIntent').allowed
  return (
    <>
      {part(
        t('title'),
        intent && <RevisionFlag number={intent.number} />,
        <>
          {intent ? (
            <p className="task-text" dir="auto">
              {intent.text}
            </p>
          ) : (
            <p className="mute">{t('none')}</p>
          )}
          <RunNotice session={session} onDialog={onDialog} />
          {intent && intent.requirements.length > 0 && (
            <ul className="task-requirements" aria-label={t('requirements')}>
              {intent.requirements.map((requirement) => (
                <RequirementItem
                  key={requirement.id}
                  requirement={requirement}
                  met={evidence.get(requirement.id)}
                  onEvent={onEvent}
                />
              ))}
            </ul>
          )}
        </>,
      )}
      {(intent || (history && history.nodes.length > 0)) &&
        part(
          t('history'),
          undefined,
          <>
            {error && <FailedState problem={problemOf(error)} onRetry={() => reread()} />}
            <ol className="task-history">
              {history?.nodes.map((row) => (
                <HistoryItem
                  key={row.id}
                  row={row}
                  onRevert={
                    mayRevert && row.id !== intent?.id
                      ? () => onDialog({ kind: 'revert', to: row })
                      : undefined
                  }
                />
              ))}
            </ol>
            {history?.pageInfo.hasNextPage && first < MOST && (
              <Button size="compact-xs" variant="default" loading={fetching} onClick={() => setFirst(MOST)}>
                {t('older')}
              </Button>
            )}
          </>,
        )}
    </>
  )
}

/** A live run that acts for something else than the task is at. */
function RunNotice({ session, onDialog }: Pick<TaskPanelProps, 'session' | 'onDialog'>) {
  const t = taskText.useText()
  const { intent, activeRun } = session
  if (!intent || !activeRun) return null
  const acted = activeRun.binding.active
  if (acted?.id === intent.id) return null
  const mayRebind = actionOf(activeRun.allowedActions, 'rebindRun').allowed
  const { id, number } = activeRun
  return (
    <div className="task-notice" role="status">
      <p>
        {acted
          ? t('actsUnder', { run: number, acted: acted.number, head: intent.number })
          : t('boundToNothing', { run: number })}
      </p>
      {mayRebind && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => onDialog({ kind: 'rebind', run: { id, number } })}
        >
          {t('action.rebind', { number, head: intent.number })}
        </Button>
      )}
    </div>
  )
}

type Requirement = RevisionView['requirements'][number]
type RequirementItemProps = {
  requirement: Requirement
  met: RequirementEvent | undefined
  onEvent: (sequence: number) => void
}

function RequirementItem({ requirement, met, onEvent }: RequirementItemProps) {
  const t = taskText.useText()
  const { text, state, message } = requirement
  const detail = met?.detail?.__typename === 'RequirementDetail' ? met.detail : undefined
  return (
    <li data-state={state}>
      <i aria-hidden="true" />
      <div>
        <span className="task-requirement" dir="auto">
          {text}
        </span>
        <small className="mute">
          {t(`state.${state}`)}
          {' · '}
          {state === 'MET' && met && detail?.evidence ? (
            <button type="button" className="link-button" onClick={() => onEvent(met.sequence)}>
              {t('evidence', { tool: detail.evidence.tool, run: detail.evidence.run.number })}
            </button>
          ) : message ? (
            <button type="button" className="link-button" onClick={() => onEvent(message.sequence)}>
              {t('fromMessage', { sequence: message.sequence })}
            </button>
          ) : (
            t('byHand')
          )}
        </small>
      </div>
    </li>
  )
}

type HistoryItemProps = { row: HistoryRow; onRevert: (() => void) | undefined }

function HistoryItem({ row, onRevert }: HistoryItemProps) {
  const t = taskText.useText()
  const { number, changeKind, author, at, note, run, previous } = row
  return (
    <li>
      <RevisionFlag number={number} />
      <div>
        <p>
          {t('who', { name: author.name, change: t(`change.${changeKind}`) })}
          {run && <span className="mute"> · {t('inRun', { number: run.number })}</span>}{' '}
          <span className="mute">
            <Timestamp at={at} />
          </span>
        </p>
        {note && (
          <p className="mute" dir="auto">
            “{note}”
          </p>
        )}
        {previous && (
          <Suspense fallback={null}>
            <RevisionDiff before={previous} after={row} />
          </Suspense>
        )}
        {onRevert && (
          <button type="button" className="link-button task-revert" onClick={onRevert}>
            {t('action.revert', { number })}
          </button>
        )}
      </div>
    </li>
  )
}
