import { Button, Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { Link } from '@tanstack/react-router'
import { useMemo, useState, useSyncExternalStore } from 'react'
import { useClient } from 'urql'
import { graphql } from '../../data/graphql.ts'
import { useCommand } from '../../data/outcome.ts'
import { type PaletteCommand, useCommands } from '../../kit/commands.ts'
import { CopyId } from '../../kit/copy-id.tsx'
import { RevisionFlag } from '../../kit/revision-flag.tsx'
import { StateMark } from '../../kit/state-marks.tsx'
import { useProject } from '../../shell/viewer.ts'
import type { TaskDialog } from '../intents/task-dialog.ts'
import { taskText } from '../intents/text.ts'
import { type Permission, permission } from '../runs/allowed.ts'
import { isLive, sessionSummary, summaryMark } from '../runs/run-state.ts'
import { runText } from '../runs/text.ts'
import { OpenSession } from './commands.ts'
import { forksText } from './forks/text.ts'
import { compactNumber, totalTokens } from './numbers.ts'
import type { DialogName } from './session-dialogs.tsx'
import type { SessionJournal } from './session-journal.ts'
import { behindHead, placeOf, placeWords } from './session-place.ts'
import type { SessionView } from './session-query.ts'
import { sessionText } from './text.ts'

const ExportPath = graphql(`
  query ExportPath($id: ID!, $format: ExportFormat!) {
    session(id: $id) { id exportPath(format: $format) }
  }
`)

/** The query behind this page, short enough to be read and run elsewhere. */
const shareable = `query Session($id: ID!) {
  session(id: $id) {
    title state eventCount
    activeRun { number state }
    messages(last: 20) { nodes { authority text at } }
    eventsBefore(last: 100) { latest events { sequence type at payload } }
  }
}`

type SessionHeadProps = {
  session: SessionView
  journal: SessionJournal
  onDialog: (dialog: DialogName) => void
  onTask: (dialog: TaskDialog) => void
  onChanged: () => void
}

export function SessionHead({ session, journal, onDialog, onTask, onChanged }: SessionHeadProps) {
  const t = sessionText.useText()
  const run = runText.useText()
  const summary = sessionSummary(session)
  const current = session.activeRun ?? session.lastRun
  const live = session.activeRun && isLive(session.activeRun.state) ? session.activeRun : null
  const tokens = totalTokens(session.usage)
  const mayCancel = permission(live?.allowedActions, 'cancelRun')
  return (
    <header className="page-head session-head">
      <div className="session-title">
        <h1 className="truncate" title={session.title}>
          {session.title}
        </h1>
        <div className="session-facts">
          <StateMark kind={summaryMark(summary)}>{run(`state.${summary}`)}</StateMark>
          {session.state === 'CLOSED' && summary !== 'CLOSED' && <span>{t('head.closed')}</span>}
          <SessionPlace session={session} />
          <span className="num">
            {current && `${run('run', { number: current.number })} · `}
            <EventCount journal={journal} known={session.eventCount} />
            {` · ${tokens === null ? t('head.noTokens') : t('head.tokens', { tokens: compactNumber(tokens) })}`}
          </span>
          <CopyId id={session.id} />
        </div>
      </div>
      <span className="grow" />
      <TaskButtons session={session} onDialog={onDialog} onTask={onTask} />
      <MoreMenu session={session} onDialog={onDialog} onTask={onTask} onChanged={onChanged} />
      {live && mayCancel.is !== 'hidden' && (
        <Button
          variant="default"
          className="session-cancel"
          disabled={mayCancel.is === 'refused'}
          title={mayCancel.is === 'refused' ? mayCancel.reason : undefined}
          onClick={() => onDialog('cancel')}
        >
          {t('head.cancelRun')}
        </Button>
      )}
    </header>
  )
}

/** What it is about and under which protocol; and that a run acts for another revision than the task is at. */
function SessionPlace({ session }: { session: SessionView }) {
  const t = sessionText.useText()
  const place = placeWords(placeOf(session))
  const behind = session.activeRun && behindHead(session.activeRun, session.intent)
  return (
    <>
      {(session.intent || place) && (
        <span className="session-place">
          {session.intent && <RevisionFlag number={session.intent.number} />} {place}
        </span>
      )}
      {behind && <span className="session-behind">{t('head.actsUnder', behind)}</span>}
    </>
  )
}

/** Counts with the tail, which is fresher than the record. */
function EventCount({ journal, known }: { journal: SessionJournal; known: number }) {
  const t = sessionText.useText()
  const latest = useSyncExternalStore(journal.subscribe, () => journal.snapshot().window?.latest ?? 0)
  return t('head.counts', { count: Math.max(latest, known) })
}

/** What an owner does most with a task; where there is no room, the menu has it. */
function TaskButtons({ session, onDialog, onTask }: Omit<SessionHeadProps, 'journal' | 'onChanged'>) {
  const t = taskText.useText()
  const forks = forksText.useText()
  const offered = [
    { action: 'correctIntent', label: t('action.correct'), run: () => onTask({ kind: 'correct' }) },
    { action: 'handoffProtocol', label: t('action.handoff'), run: () => onTask({ kind: 'handoff' }) },
    { action: 'forkSession', label: forks('fork'), run: () => onDialog('fork') },
  ]
  return offered.map(({ action, label, run }) =>
    permission(session.allowedActions, action).is === 'allowed' ? (
      <Button key={action} variant="default" className="session-task-button" onClick={run}>
        {label}
      </Button>
    ) : null,
  )
}

function MoreMenu({ session, onDialog, onTask, onChanged }: Omit<SessionHeadProps, 'journal'>) {
  const t = sessionText.useText()
  const client = useClient()
  const task = taskText.useText()
  const forks = forksText.useText()
  const open = useCommand(OpenSession)
  const [exporting, setExporting] = useState(false)
  const may = (action: string) => permission(session.allowedActions, action)
  const copied = async (text: string) => {
    await navigator.clipboard.writeText(text)
    notifications.show({ message: t('head.copied') })
  }
  const exportAs = async (format: 'MARKDOWN' | 'JSON' | 'JSONL') => {
    setExporting(true)
    const answer = await client.query(ExportPath, { id: session.id, format }).toPromise()
    setExporting(false)
    const path = answer.data?.session?.exportPath
    if (path) location.assign(path)
    else if (answer.error) notifications.show({ message: answer.error.message, color: 'red' })
  }
  const reopen = async () => {
    const outcome = await open.run({
      input: { sessionId: session.id, expectedGeneration: session.generation },
    })
    if (outcome.ok) onChanged()
    else notifications.show({ message: outcome.problem.message, color: 'red' })
  }
  const project = useProject()
  const newest = session.activeRun ?? session.lastRun
  const { id } = session
  const commands = useMemo<PaletteCommand[]>(() => {
    const all: PaletteCommand[] = [
      { id: 'session.rename', label: t('head.rename'), run: () => onDialog('rename') },
      { id: 'session.close', label: t('head.close'), run: () => onDialog('close') },
      { id: 'run.cancel', label: t('head.cancelRun'), run: () => onDialog('cancel') },
      { id: 'task.correct', label: task('action.correct'), run: () => onTask({ kind: 'correct' }) },
      { id: 'task.handoff', label: task('action.handoff'), run: () => onTask({ kind: 'handoff' }) },
      { id: 'session.fork', label: forks('forkThis'), run: () => onDialog('fork') },
    ]
    const actions = {
      'session.rename': 'renameSession',
      'session.close': 'closeSession',
      'session.fork': 'forkSession',
      'task.correct': 'correctIntent',
      'task.handoff': 'handoffProtocol',
    } as const
    return all.filter((command) =>
      command.id === 'run.cancel'
        ? permission(session.activeRun?.allowedActions, 'cancelRun').is === 'allowed'
        : permission(session.allowedActions, actions[command.id as keyof typeof actions]).is === 'allowed',
    )
  }, [t, task, forks, onDialog, onTask, session])
  useCommands(commands)
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button variant="default" loading={exporting || open.busy}>
          {t('head.actions')} ▾
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Item
          may={may('correctIntent')}
          onClick={() => onTask({ kind: 'correct' })}
          label={task('action.correct')}
        />
        <Item
          may={may('handoffProtocol')}
          onClick={() => onTask({ kind: 'handoff' })}
          label={task('action.handoff')}
        />
        <Item may={may('forkSession')} onClick={() => onDialog('fork')} label={forks('forkThis')} />
        <Menu.Item
          renderRoot={(props) => (
            <Link
              {...props}
              to="/p/$slug/sessions/$sessionId/branches"
              params={{ slug: project.slug, sessionId: id }}
            />
          )}
        >
          {forks('title')}
        </Menu.Item>
        {newest && (
          <Item
            may={permission(newest.allowedActions, 'rerouteRun')}
            onClick={() => onTask({ kind: 'reroute', run: newest })}
            label={task('reroute.title', { number: newest.number })}
          />
        )}
        <Menu.Divider />
        <Item may={may('renameSession')} onClick={() => onDialog('rename')} label={t('head.rename')} />
        {session.state === 'OPEN' ? (
          <Item may={may('closeSession')} onClick={() => onDialog('close')} label={t('head.close')} />
        ) : (
          <Item may={may('openSession')} onClick={() => void reopen()} label={t('head.open')} />
        )}
        <Menu.Divider />
        <Menu.Label>{t('head.export')}</Menu.Label>
        {(['MARKDOWN', 'JSON', 'JSONL'] as const).map((format) => (
          <Item
            key={format}
            may={may('exportSession')}
            onClick={() => void exportAs(format)}
            label={t(`head.exportAs.${format}`)}
          />
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void copied(location.href)}>{t('head.copyLink')}</Menu.Item>
        <Menu.Item onClick={() => void copied(asGraphql(id))}>{t('head.copyGraphql')}</Menu.Item>
        <Menu.Item onClick={() => void copied(asCurl(id))}>{t('head.copyCurl')}</Menu.Item>
        <Menu.Divider />
        <Item may={may('deleteSession')} onClick={() => onDialog('delete')} label={t('head.remove')} danger />
      </Menu.Dropdown>
    </Menu>
  )
}

type ItemProps = { may: Permission; label: string; danger?: boolean; onClick: () => void }

/** Hidden for whom it is not meant; there, but with the server's reason, when it is only not now. */
function Item({ may, label, danger = false, onClick }: ItemProps) {
  const t = sessionText.useText()
  if (may.is === 'hidden') return null
  return (
    <Menu.Item disabled={may.is === 'refused'} c={danger ? 'var(--bad)' : ''} onClick={onClick}>
      {label}
      {may.is === 'refused' && (
        <small className="menu-reason">{t('head.refusedNow', { reason: may.reason })}</small>
      )}
    </Menu.Item>
  )
}

function asGraphql(id: string): string {
  return `${shareable}\n\n# variables\n${JSON.stringify({ id }, null, 2)}\n`
}

function asCurl(id: string): string {
  const body = JSON.stringify({ query: shareable, variables: { id } }).replaceAll("'", "'\\''")
  return [
    `curl -s ${new URL('/graphql', location.href).href}`,
    `-H 'content-type: application/json'`,
    `-H "authorization: Bearer $WHEELHOUSE_TOKEN"`,
    `-d '${body}'`,
  ].join(' \\\n  ')
}
