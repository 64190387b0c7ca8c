import { SegmentedControl } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { problemOf } from '../../data/outcome.ts'
import { EmptyState, FailedState } from '../../kit/empty-state.tsx'
import { useCrumb } from '../../shell/crumbs.tsx'
import { AppPending } from '../../shell/pending.tsx'
import { useProject } from '../../shell/viewer.ts'
import type { TaskDialog } from '../intents/task-dialog.ts'
import { TaskDialogs } from '../intents/task-dialogs.tsx'
import { typesOf } from './event-groups.ts'
import { EventPanel } from './event-panel.tsx'
import type { SessionSearch } from './search.ts'
import { SessionAside } from './session-aside.tsx'
import { type DialogName, SessionDialogs } from './session-dialogs.tsx'
import { SessionHead } from './session-head.tsx'
import { createSessionJournal, type SessionJournal } from './session-journal.ts'
import './session-page.css'
import { changesRecord, type SessionView, throttled, useReopened, useSession } from './session-query.ts'
import { sessionText } from './text.ts'
import { TimelineColumn } from './timeline-column.tsx'
import { TranscriptColumn } from './transcript-column.tsx'

const from = '/app/p/$slug/sessions/$sessionId'

export function SessionPage() {
  const { sessionId } = useParams({ from })
  // Another session is another page: nothing of the one before may stay.
  return <OneSession key={sessionId} id={sessionId} />
}

function OneSession({ id }: { id: string }) {
  const t = sessionText.useText()
  const project = useProject()
  const search = useSearch({ from })
  const navigate = useNavigate({ from: '/p/$slug/sessions/$sessionId' })
  const { session, error, fetching, reread } = useSession(id)
  const journal = useJournal(id, search)
  useReread(journal, reread)
  useCrumb(session?.title)
  const onSearch = useCallback(
    (change: Partial<SessionSearch>, replace = false) =>
      void navigate({ search: (old) => ({ ...old, ...change }), replace }),
    [navigate],
  )
  useFollowAgain(journal, session?.state)
  useReopened(session, project.id, reread)
  const onChanged = useCallback(() => reread.current(), [reread])
  const onDeleted = useCallback(() => void navigate({ to: '/p/$slug/sessions', search: {} }), [navigate])
  const onForked = useCallback(
    (sessionId: string) =>
      void navigate({
        to: '/p/$slug/sessions/$sessionId',
        params: { slug: project.slug, sessionId },
        search: {},
      }),
    [navigate, project.slug],
  )
  if (session === undefined) {
    if (fetching) return <AppPending />
    const problem = error && problemOf(error)
    if (problem && problem.code !== 'NOT_FOUND')
      return <FailedState problem={problem} onRetry={() => reread.current()} />
    return <EmptyState title={t('tail.deleted')} />
  }
  return (
    <Loaded
      session={session}
      journal={journal}
      search={search}
      onSearch={onSearch}
      onChanged={onChanged}
      onDeleted={onDeleted}
      onForked={onForked}
    />
  )
}

function useJournal(id: string, search: SessionSearch): SessionJournal {
  const journal = useMemo(() => createSessionJournal(id), [id])
  const opening = useRef(search.event)
  const mode = search.view ?? 'compact'
  const { types, run } = search
  useEffect(() => {
    journal.show(mode, { types: typesOf(types), runIds: run === undefined ? [] : [run] })
  }, [journal, mode, types, run])
  useEffect(() => {
    journal.start(opening.current)
    return () => journal.stop()
  }, [journal])
  return journal
}

/** The record behind header and details is read again when an event says that it changed. */
function useReread(journal: SessionJournal, reread: { current: () => void }): void {
  useEffect(() => {
    const again = throttled(() => reread.current(), 400)
    const forget = journal.onEvents((events) => {
      if (changesRecord(events)) again.call()
    })
    return () => {
      forget()
      again.cancel()
    }
  }, [journal, reread])
}

function useFollowAgain(journal: SessionJournal, state: SessionView['state'] | undefined): void {
  useEffect(() => {
    if (state === 'OPEN') journal.followAgain()
  }, [journal, state])
}

type LoadedProps = {
  session: SessionView
  journal: SessionJournal
  search: SessionSearch
  onSearch: (change: Partial<SessionSearch>, replace?: boolean) => void
  onChanged: () => void
  onDeleted: () => void
  onForked: (sessionId: string) => void
}

function Loaded({ session, journal, search, onSearch, onChanged, onDeleted, onForked }: LoadedProps) {
  const t = sessionText.useText()
  const [dialog, setDialog] = useState<DialogName>()
  const [task, setTask] = useState<TaskDialog>()
  const project = useProject()
  const tab = search.event === undefined ? (search.tab ?? 'transcript') : 'details'
  return (
    <div className="page session-page" data-tab={tab}>
      <div>
        <SessionHead
          session={session}
          journal={journal}
          onDialog={setDialog}
          onTask={setTask}
          onChanged={onChanged}
        />
        <SegmentedControl
          className="session-tabs"
          fullWidth
          size="xs"
          value={tab}
          onChange={(value) =>
            onSearch({
              event: undefined,
              tab: value === 'timeline' || value === 'details' ? value : undefined,
            })
          }
          data={[
            { value: 'transcript', label: t('transcript.title') },
            { value: 'timeline', label: t('timeline.title') },
            { value: 'details', label: t('aside.label') },
          ]}
        />
      </div>
      <div className="session-columns">
        <TranscriptColumn journal={journal} session={session} onTask={setTask} onChanged={onChanged} />
        <TimelineColumn journal={journal} search={search} onSearch={onSearch} />
        {search.event === undefined ? (
          <SessionAside
            session={session}
            onChanged={onChanged}
            onTask={setTask}
            onEvent={(event) => onSearch({ event })}
          />
        ) : (
          <EventPanel
            sessionId={session.id}
            sequence={search.event}
            journal={journal}
            onClose={() => onSearch({ event: undefined })}
            onMove={(event) => onSearch({ event }, true)}
            onOnlyRun={(run) => onSearch({ run })}
          />
        )}
      </div>
      {task && (
        <TaskDialogs
          session={session}
          projectId={project.id}
          dialog={task}
          onClose={() => setTask(undefined)}
          onChanged={onChanged}
        />
      )}
      {dialog && (
        <SessionDialogs
          session={session}
          dialog={dialog}
          onClose={() => setDialog(undefined)}
          onChanged={onChanged}
          onDeleted={onDeleted}
          onForked={onForked}
        />
      )}
    </div>
  )
}
